// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Gives an unprivileged test process the right to make network namespaces: a user namespace of its own, in which it is
// uid 0. The kernel allows that to a process with one thread only (user_namespaces(7), unshare(2)), so it is done here,
// before main. It happens only where all of this holds:
// - the program is a test runner by its name, or DIALTONE_NAMESPACES is set (this object is linked into tests alone);
// - DIALTONE_NO_NAMESPACES is not set;
// - the process lacks CAP_SYS_ADMIN or CAP_NET_ADMIN: root needs nothing of this;
// - it worked in a forked child first. If it is half allowed, this process stays as it was. (AppArmor's restriction of
//   user namespaces lets unshare pass and refuses what follows.)
// The process becomes uid 0, not the caller's own: otherwise every exec would drop the capabilities, and `ip` could do
// nothing.

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lab_privilege state;

struct lab_privilege lab_privilege(void) { return state; }

static bool may_make_namespaces(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  const uint32_t needed = (1u << CAP_SYS_ADMIN) | (1u << CAP_NET_ADMIN);
  return (data[0].effective & needed) == needed;
}

static bool is_test_runner(void) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  return strstr(name, ".xctest") || strstr(name, "PackageTests") || strstr(name, "test-runner");
}

static int put(const char *path, const char *text) { return lab_write_file(path, text, strlen(text)); }

static int enter_user_namespace(const char **what) {
  char uid_map[64], gid_map[64];
  snprintf(uid_map, sizeof uid_map, "0 %u 1\n", (unsigned)geteuid());
  snprintf(gid_map, sizeof gid_map, "0 %u 1\n", (unsigned)getegid());
  *what = "unshare(CLONE_NEWUSER)";
  if (unshare(CLONE_NEWUSER) != 0) return -errno;
  *what = "writing /proc/self/setgroups";
  int result = put("/proc/self/setgroups", "deny");
  if (result < 0 && result != -ENOENT) return result;
  *what = "writing /proc/self/uid_map";
  if ((result = put("/proc/self/uid_map", uid_map)) < 0) return result;
  *what = "writing /proc/self/gid_map";
  return put("/proc/self/gid_map", gid_map);
}

// Returns 0, or the negated errno with which a process like this one fails.
static int rehearse(const char **what) {
  *what = "fork";
  // Not fork(): under the thread sanitizer it starts a thread in the child, and there may be only one.
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child < 0) return -errno;
  if (child == 0) {
    int result = enter_user_namespace(what);
    if (result < 0) _exit(-result);
    _exit(unshare(CLONE_NEWNET) != 0 ? errno : 0);
  }
  *what = "unshare(CLONE_NEWUSER), its maps, then unshare(CLONE_NEWNET)";
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -errno;
  return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

static void fail(int error, const char *what) {
  state.error = error;
  state.what = what;
}

__attribute__((constructor)) static void take_privilege(void) {
  if (getenv("DIALTONE_NO_NAMESPACES")) return fail(ECANCELED, "DIALTONE_NO_NAMESPACES is set");
  if (may_make_namespaces()) return;
  if (!is_test_runner() && !getenv("DIALTONE_NAMESPACES")) return fail(ECANCELED, "not a test runner");
  if (lab_count_entries("/proc/self/task") != 1) return fail(EINVAL, "the process already has several threads");
  const char *what = NULL;
  int result = rehearse(&what);
  if (result == 0) result = enter_user_namespace(&what);
  if (result < 0) return fail(-result, what);
  state.own_user_namespace = true;
}

#endif
