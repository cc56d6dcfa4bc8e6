// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#include "CTestSupport.h"

#if defined(__linux__)

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t ctestsupport_fork(void) { return fork(); }

int ctestsupport_wait(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
