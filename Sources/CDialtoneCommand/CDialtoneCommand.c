// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CDialtoneCommand.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#include <nss.h>
#endif

// linux/memfd.h, which some libcs are without.
#define COMMAND_MFD_CLOEXEC 1U

int command_memory_file(const void *bytes, size_t count) {
  int file = (int)syscall(SYS_memfd_create, "dialtone", COMMAND_MFD_CLOEXEC);
  if (file < 0) return -1;
  // pwrite(2) leaves the position where it is.
  for (size_t done = 0; done < count;) {
    ssize_t written = pwrite(file, (const char *)bytes + done, count - done, (off_t)done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      int error = errno;
      close(file);
      errno = error;
      return -1;
    }
    done += (size_t)written;
  }
  return file;
}

int command_has_address_space(size_t count) {
  void *room = mmap(NULL, count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, count) == 0;
}

int command_open_to_append(const char *path) {
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0644);
}

int command_lock(int file, int is_shared) { return flock(file, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB); }

int command_send_local(const char *name, const void *bytes, size_t count) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  if (length == 0 || length >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, name, length);
  if (name[0] == '@') address.sun_path[0] = 0;
  int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  ssize_t sent = sendto(file, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  int error = errno;
  close(file);
  errno = error;
  return sent < 0 ? -1 : 0;
}

int command_connect_datagram(const void *address, size_t length) {
  int family = ((const struct sockaddr *)address)->sa_family;
  int file = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0 || connect(file, address, (socklen_t)length) == 0) return file;
  int error = errno;
  close(file);
  errno = error;
  return -1;
}

int command_can_write(int file) {
  struct pollfd event = {.fd = file, .events = POLLOUT};
  return poll(&event, 1, 0) == 1 && (event.revents & POLLOUT) != 0;
}

// linux/ethtool.h and linux/sockios.h, which some libcs are without.
#define COMMAND_SIOCETHTOOL 0x8946
#define COMMAND_ETHTOOL_GSET 1U
#define COMMAND_ETHTOOL_GDRVINFO 3U
#define COMMAND_SPEED_UNKNOWN 0xFFFFFFFFU
struct ethtool_settings {
  uint32_t command, supported, advertising;
  uint16_t speed;
  uint8_t duplex, port, address, transceiver, autonegotiation, mdio;
  uint32_t packets[2];
  uint16_t speed_high;
  uint8_t rest[14];
};
struct ethtool_driver {
  uint32_t command;
  char driver[32], rest[160];
};
_Static_assert(sizeof(struct ethtool_settings) == 44 && sizeof(struct ethtool_driver) == 196, "as the kernel has them");

static int ask_link(int file, const char *name, void *question) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
  request.ifr_data = question;
  return ioctl(file, COMMAND_SIOCETHTOOL, &request);
}

unsigned int command_link_speed(const char *name) {
  int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return 0;
  struct ethtool_settings settings = {.command = COMMAND_ETHTOOL_GSET};
  int status = ask_link(file, name, &settings);
  close(file);
  unsigned int speed = settings.speed | (unsigned int)settings.speed_high << 16;
  return status != 0 || speed == COMMAND_SPEED_UNKNOWN || speed == 0xFFFF ? 0 : speed;
}

int command_is_bridge(const char *name) {
  int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return 0;
  struct ethtool_driver driver = {.command = COMMAND_ETHTOOL_GDRVINFO};
  int status = ask_link(file, name, &driver);
  close(file);
  return status == 0 && strncmp(driver.driver, "bridge", sizeof driver.driver) == 0;
}

// Whether it is the path of a thread's status: /proc/NUMBER/stat.
static int is_thread_status(const char *path) {
  static const char folder[] = "/proc/";
  if (strncmp(path, folder, sizeof folder - 1) != 0) return 0;
  const char *number = path + sizeof folder - 1;
  size_t digits = strspn(number, "0123456789");
  return digits > 0 && strcmp(number + digits, "/stat") == 0;
}

// What `open` leads to in the executables of Scripts/package (ld(1), --wrap); the name is the linker's.
//
// If there is more to do than Dispatch's threads take on, it looks once a second whether they run, in /proc/THREAD/stat
// (proc(5)), and ends the process if there is no such file. Here it opens an empty file instead. Then it takes its
// threads for ones that wait, and starts another.
int __wrap_open(const char *path, int flags, ...) {
  unsigned int mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, unsigned int);
    va_end(arguments);
  }
  int file = openat(AT_FDCWD, path, flags, (mode_t)mode);
  if (file >= 0 || errno != ENOENT || !is_thread_status(path)) return file;
  return command_memory_file(NULL, 0);
}

// What `setpriority` leads to in them.
//
// Dispatch gives the thread of its timers a nice value of -4. The kernel refuses that to a process without privileges,
// and Dispatch writes so to the system's log at each start. It goes on all the same, and here without a word.
int __wrap_setpriority(int which, unsigned int who, int value) {
  if (syscall(SYS_setpriority, which, who, value) == 0) return 0;
  if (errno != EACCES) return -1;
  errno = 0;
  return 0;
}

static int has_set_root;

// Before the constructors of Swift's runtime, which have no priority.
__attribute__((constructor(101))) static void prepare_runtime(void) {
#if defined(__GLIBC__)
  // Where the address space has a limit, an arena for each thread would leave too little for their stacks (mallopt(3)).
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
  if (getenv("SWIFT_ROOT") != NULL || access("/proc/self/exe", F_OK) == 0) return;
  has_set_root = setenv("SWIFT_ROOT", "/", 1) == 0;
}

void command_prepare(void) {
  if (has_set_root) unsetenv("SWIFT_ROOT");
}

void command_choose_name_sources(const char *hosts) {
#if defined(__GLIBC__)
  __nss_configure_lookup("hosts", hosts);
  static const char *const others[] = {"group", "networks", "passwd", "protocols", "services"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) __nss_configure_lookup(others[i], "files");
#else
  (void)hosts;
#endif
}
#endif

void command_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}
