// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Refuses netlink and other things in the way of a container's seccomp profile. A filter sees the arguments of a system
// call, not what they point to. So it can refuse groups joined by setsockopt(), but not groups joined by bind().

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

// The low half of an argument: all compared here are ints.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#else
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n) + 4)
#endif
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
// Continues if equal, otherwise skips `otherwise` instructions.
#define REQUIRE(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (otherwise))

int lab_deny(int denial, int error) {
  if (denial == LAB_DENY_NOTHING) return 0;
#if !defined(NATIVE_ARCH)
  return -ENOSYS;
#else
  const uint32_t refusal = SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA);
  struct sock_filter sockets[] = {
      LOAD(offsetof(struct seccomp_data, arch)), REQUIRE(NATIVE_ARCH, 5),
      LOAD(offsetof(struct seccomp_data, nr)),   REQUIRE(__NR_socket, 3),
      LOAD(ARGUMENT(0)),                         REQUIRE(AF_NETLINK, 1),
      RETURN(refusal),                           RETURN(SECCOMP_RET_ALLOW),
  };
  struct sock_filter multicast[] = {
      LOAD(offsetof(struct seccomp_data, arch)), REQUIRE(NATIVE_ARCH, 7),
      LOAD(offsetof(struct seccomp_data, nr)),   REQUIRE(__NR_setsockopt, 5),
      LOAD(ARGUMENT(1)),                         REQUIRE(SOL_NETLINK, 3),
      LOAD(ARGUMENT(2)),                         REQUIRE(NETLINK_ADD_MEMBERSHIP, 1),
      RETURN(refusal),                           RETURN(SECCOMP_RET_ALLOW),
  };
  struct sock_filter inotify[] = {
      LOAD(offsetof(struct seccomp_data, arch)), REQUIRE(NATIVE_ARCH, 3),
      LOAD(offsetof(struct seccomp_data, nr)),   REQUIRE(__NR_inotify_init1, 1),
      RETURN(refusal),                           RETURN(SECCOMP_RET_ALLOW),
  };
  // clone3() has its flags in memory, which a filter does not see. libc falls back to clone() if there is no clone3().
  struct sock_filter threads[] = {
      LOAD(offsetof(struct seccomp_data, arch)), REQUIRE(NATIVE_ARCH, 7),
      LOAD(offsetof(struct seccomp_data, nr)),   REQUIRE(435 /* clone3 */, 1),
      RETURN(SECCOMP_RET_ERRNO | ENOSYS),        REQUIRE(__NR_clone, 3),
      LOAD(ARGUMENT(0)),                         BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      RETURN(refusal),                           RETURN(SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof sockets / sizeof *sockets, .filter = sockets};
  if (denial == LAB_DENY_MULTICAST)
    program = (struct sock_fprog){.len = sizeof multicast / sizeof *multicast, .filter = multicast};
  if (denial == LAB_DENY_INOTIFY)
    program = (struct sock_fprog){.len = sizeof inotify / sizeof *inotify, .filter = inotify};
  if (denial == LAB_DENY_THREADS)
    program = (struct sock_fprog){.len = sizeof threads / sizeof *threads, .filter = threads};
  // Raw system calls, because this also runs between vfork and exec.
  if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0 ? -errno : 0;
#endif
}

#endif
