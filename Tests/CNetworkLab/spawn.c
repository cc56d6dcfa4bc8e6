// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Starts processes with what posix_spawn cannot do: another user, a terminal, a system call filter. The child shares
// the memory of this multithreaded process until exec (vfork): it calls nothing that takes a lock or allocates, and
// changes identity with raw system calls, since glibc's wrappers would change all threads of the parent.

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool same_name(const char *left, const char *right) {
  size_t length = strcspn(left, "=");
  return strncmp(left, right, length) == 0 && (right[length] == '=' || right[length] == 0);
}

static char **list(const char *strings, size_t count, char *const *inherited) {
  size_t most = count + 1;
  for (char *const *entry = inherited; entry && *entry; entry++) most++;
  char **result = calloc(most, sizeof *result);
  if (!result) return NULL;
  size_t used = 0;
  const char *end = strings;
  for (size_t i = 0; i < count; i++, end += strlen(end) + 1)
    if (!inherited || strchr(end, '=')) result[used++] = (char *)end;
  for (char *const *entry = inherited; entry && *entry; entry++) {
    bool replaced = false;
    const char *string = strings;
    for (size_t i = 0; i < count; i++, string += strlen(string) + 1) replaced |= same_name(string, *entry);
    if (!replaced) result[used++] = *entry;
  }
  return result;
}

// Runs in the child. Leaves by exec, or writes an errno to `report`.
static void become(const struct lab_spawn *how, char *const *arguments, char *const *environment, int report,
                   pid_t parent) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &usual, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);

  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  int wanted[3] = {how->input, how->output, how->error};
  if (how->terminal >= 0) {
    if (setsid() < 0 || ioctl(how->terminal, TIOCSCTTY, 0) != 0) goto failed;
    wanted[0] = wanted[1] = wanted[2] = how->terminal;
  }
  // First moves our pipes out of the way of 0, 1 and 2: a parent without standard descriptors may have got these
  // numbers.
  for (int i = 0; i < 3; i++)
    if ((wanted[i] = fcntl(wanted[i] >= 0 ? wanted[i] : null, F_DUPFD_CLOEXEC, 3)) < 0) goto failed;
  for (int i = 0; i < 3; i++)
    if (dup2(wanted[i], i) < 0) goto failed;
#if defined(SYS_close_range)
  // The child must not inherit what other tests hold open (4: CLOSE_RANGE_CLOEXEC, close_range(2)).
  syscall(SYS_close_range, 3, ~0u, 4);
#endif
  if (how->user >= 0) {
    // Without CAP_SETGID there are no foreign groups to drop, and the next calls fail.
    syscall(SYS_setgroups, 0, NULL);
    if (syscall(SYS_setresgid, how->user, how->user, how->user) != 0) goto failed;
    if (syscall(SYS_setresuid, how->user, how->user, how->user) != 0) goto failed;
  }
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) goto failed;
  if (getppid() != parent) _exit(127);
  int denied = lab_deny(how->denial, how->denial_errno);
  if (denied < 0) {
    errno = -denied;
    goto failed;
  }
  execve(how->path, arguments, environment);
failed:;
  int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

int lab_spawn(const struct lab_spawn *how) {
  int report[2];
  char **arguments = list(how->arguments, how->argument_count, NULL);
  char **environment = list(how->environment, how->environment_count, environ);
  if (!arguments || !environment || pipe2(report, O_CLOEXEC) != 0) {
    int error = errno;
    free(arguments), free(environment);
    return -error;
  }
  // Above the standard descriptors, because the child replaces those.
  int writer = fcntl(report[1], F_DUPFD_CLOEXEC, 3);
  close(report[1]);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  pid_t pid = vfork();
  int result = pid < 0 ? -errno : pid;
  if (pid == 0) become(how, arguments, environment, writer, parent);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(writer);
  free(arguments), free(environment);
  int error = 0;
  if (pid > 0 && read(report[0], &error, sizeof error) == sizeof error) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    result = -error;
  }
  close(report[0]);
  return result;
}

int lab_pidfd(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  return fd < 0 ? -errno : fd;
}

int lab_signal(pid_t pid, int signal) { return kill(pid, signal) != 0 ? -errno : 0; }

int lab_reap(pid_t pid, int *code, bool *signalled) {
  int status;
  pid_t found;
  do found = waitpid(pid, &status, WNOHANG);
  while (found < 0 && errno == EINTR);
  if (found <= 0) return found < 0 ? -errno : 0;
  *signalled = WIFSIGNALED(status);
  *code = *signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  return 1;
}

int lab_wait_readable(int fd, int milliseconds) {
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  int count = poll(&entry, 1, milliseconds);
  return count < 0 ? (errno == EINTR ? 0 : -errno) : count;
}

int lab_open_terminal(unsigned short rows, unsigned short columns, int *terminal) {
  int control = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (control < 0) return -errno;
  int locked = 0;
  // TIOCGPTPEER opens the other side without a path (ioctl_tty(2)).
  if (ioctl(control, TIOCSPTLCK, &locked) == 0 && lab_resize_terminal(control, rows, columns) == 0 &&
      (*terminal = ioctl(control, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0)
    return control;
  int error = errno;
  close(control);
  return -error;
}

int lab_resize_terminal(int fd, unsigned short rows, unsigned short columns) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  return ioctl(fd, TIOCSWINSZ, &size) != 0 ? -errno : 0;
}

int lab_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  // Only the reading end: a child does not expect its output to refuse.
  return fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? -errno : 0;
}

int lab_open_bytes(const uint8_t *bytes, size_t length) {
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return -errno;
  size_t done = 0;
  ssize_t count = 0;
  while (done < length && (count = write(fd, bytes + done, length - done)) > 0) done += (size_t)count;
  if (done == length && lseek(fd, 0, SEEK_SET) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}

ssize_t lab_read(int fd, uint8_t *bytes, size_t capacity) {
  ssize_t count;
  do count = read(fd, bytes, capacity);
  while (count < 0 && errno == EINTR);
  // A terminal whose other side is closed returns EIO, not end of file.
  return count < 0 ? (errno == EIO ? 0 : -errno) : count;
}

ssize_t lab_write(int fd, const uint8_t *bytes, size_t length) {
  ssize_t count = write(fd, bytes, length);
  return count < 0 ? -errno : count;
}

int lab_close(int fd) { return close(fd) != 0 ? -errno : 0; }

#endif
