// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

int lab_enter(bool mounts) {
  if (unshare(CLONE_NEWNET | (mounts ? CLONE_NEWNS : 0)) != 0) return -errno;
  if (!mounts) return 0;
  // Made private first: otherwise these mounts would be visible outside.
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -errno;
  // sysfs shows the network namespace of the process that mounted it.
  return mount("lab", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0 ? -errno : 0;
}

int lab_open_namespace(void) {
  // thread-self: /proc/self is the main thread, which is in another namespace.
  int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int lab_bind_mount(const char *source, const char *target) {
  return mount(source, target, NULL, MS_BIND, NULL) != 0 ? -errno : 0;
}

int lab_write_file(const char *path, const char *text, size_t length) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t written = write(fd, text, length);
  int result = written < 0 ? -errno : (size_t)written == length ? 0 : -EIO;
  close(fd);
  return result;
}

int lab_read_file(const char *path, char *text, size_t capacity) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  size_t length = 0;
  ssize_t count;
  while (length < capacity && (count = read(fd, text + length, capacity - length)) > 0) length += (size_t)count;
  int result = length < capacity && count < 0 ? -errno : (int)length;
  close(fd);
  return result;
}

int lab_count_entries(const char *path) {
  DIR *directory = opendir(path);
  if (!directory) return -errno;
  int own = dirfd(directory), count = 0;
  bool descriptors = strcmp(path, "/proc/self/fd") == 0;
  for (struct dirent *entry; (entry = readdir(directory));)
    if (entry->d_name[0] != '.' && !(descriptors && atoi(entry->d_name) == own)) count++;
  closedir(directory);
  return count;
}

int lab_open_tun(const char *name, bool tap, bool persistent) {
  int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -errno;
  struct ifreq request = {0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  request.ifr_flags = (short)((tap ? IFF_TAP : IFF_TUN) | IFF_NO_PI);
  if (ioctl(fd, TUNSETIFF, &request) == 0 && (!persistent || ioctl(fd, TUNSETPERSIST, 1) == 0)) return fd;
  int error = errno;
  close(fd);
  return -error;
}

#endif
