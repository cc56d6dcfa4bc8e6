// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#include "CTestSupport.h"

#if defined(__linux__)

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t ctestsupport_fork(void) {
  pid_t child = fork();
  if (child == 0) {
    // libdispatch's threads block signals: alarm(2) would not end the child.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
  }
  return child;
}

int ctestsupport_wait(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
