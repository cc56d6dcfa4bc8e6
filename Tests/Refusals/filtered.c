// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// `filtered NAME COMMAND…`: runs a command under a filter of seccomp(2), as sandboxes have them. For Scripts/refusals.
//   netlink   no socket of AF_NETLINK: EPERM
//   family    no socket of AF_NETLINK: EAFNOSUPPORT, as a kernel without it
//   epoll     no epoll_pwait and epoll_pwait2: ENOSYS, as an old kernel
//   inotify   no inotify: ENOSYS
//   timers    no timerfd_create: EPERM
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define FIRST BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int install(struct sock_filter *program, unsigned short length) {
  struct sock_fprog description = {.len = length, .filter = program};
  // Without privileges a filter needs this (seccomp(2)).
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &description);
}

#define INSTALL(...)                                     \
  {                                                      \
    struct sock_filter program[] = {__VA_ARGS__, ALLOW}; \
    return install(program, sizeof program / sizeof *program); \
  }

static int filter(const char *name) {
  if (strcmp(name, "netlink") == 0)
    INSTALL(NUMBER, IF(__NR_socket, 0, 3), FIRST, IF(AF_NETLINK, 0, 1), REFUSE(EPERM))
  if (strcmp(name, "family") == 0)
    INSTALL(NUMBER, IF(__NR_socket, 0, 3), FIRST, IF(AF_NETLINK, 0, 1), REFUSE(EAFNOSUPPORT))
  if (strcmp(name, "epoll") == 0)
    INSTALL(NUMBER, IF(__NR_epoll_pwait, 1, 0), IF(__NR_epoll_pwait2, 0, 1), REFUSE(ENOSYS))
  if (strcmp(name, "inotify") == 0)
    INSTALL(NUMBER, IF(__NR_inotify_init1, 1, 0), IF(__NR_inotify_add_watch, 0, 1), REFUSE(ENOSYS))
  if (strcmp(name, "timers") == 0) INSTALL(NUMBER, IF(__NR_timerfd_create, 0, 1), REFUSE(EPERM))
  errno = EINVAL;
  return -1;
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: filtered NAME COMMAND…\n");
    return 64;
  }
  if (filter(arguments[1]) != 0) {
    perror(arguments[1]);
    return 70;
  }
  execvp(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 71;
}
