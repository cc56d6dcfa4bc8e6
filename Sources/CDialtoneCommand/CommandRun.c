// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// A program that is run for a change, and the guard that ends it.
//
// The guard is a process between this one and the program. It is there so that nothing that the program has started
// outlives this process, however it ends: the kernel closes the guard's channel, and the guard ends the program's
// process group. It is a copy of this process that executes no other program, so what it calls is safe in a signal
// handler (signal-safety(7)): other threads may have held locks when it was copied.

#define _GNU_SOURCE
#include "CDialtoneCommand.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// Closes all descriptors from this one on. The system call is of Linux 5.9; before it, as many as a process has without
// asking for more.
static void close_from(int first, int last) {
#if defined(SYS_close_range)
  if (last < first || syscall(SYS_close_range, (unsigned int)first, (unsigned int)last, 0U) == 0) return;
#endif
  for (int file = first; file <= last && file < 65536; file++) close(file);
}

// A copy of this process without the handlers of fork(3): they would take locks of libraries.
static pid_t copy_process(void) { return (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L); }

static void tell(int channel, int kind, int value) {
  struct command_event event = {.kind = kind, .value = value};
  // Nobody may read any more; and nobody is waited for.
  (void)send(channel, &event, sizeof event, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The program's process, up to the program.
static void become(const struct command_program *program, char **environment, int channel, pid_t guard) {
  // The last resort, if the guard is killed: at least the program itself ends with it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if ((pid_t)syscall(SYS_getppid) != guard) _exit(127);
  setpgid(0, 0);
  // Ignored signals stay ignored, as by nohup(1); SIGPIPE is ignored by libraries of this process.
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction now;
    if (sigaction(signal, NULL, &now) == 0 && (now.sa_handler != SIG_IGN || signal == SIGPIPE))
      sigaction(signal, &usual, NULL);
  }
  // It may write there even if the terminal stops what is not in front (termios(3), TOSTOP).
  if (isatty(2)) signal(SIGTTOU, SIG_IGN);
  int input = program->input;
  // Away from the numbers that it gets now.
  if ((input < 3 && (input = fcntl(input, F_DUPFD, 3)) < 0) || (channel = fcntl(channel, F_DUPFD, 3)) < 0) goto failed;
  if (dup2(input, 0) < 0 || dup2(2, 1) < 0 || dup2(channel, 3) < 0) goto failed;
  channel = 3;
  if (fcntl(channel, F_SETFD, FD_CLOEXEC) != 0) goto failed;
  close_from(4, 0x7FFFFFFF);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  environ = environment;
  execvp(program->arguments[0], (char **)program->arguments);
failed:
  tell(channel, COMMAND_NOT_STARTED, errno);
  _exit(127);
}

static long long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// What the guard knows.
struct guard {
  pid_t leader;
  // Whether the leader has ended. From then on the guard is in its group, so that no other group gets its number.
  int has_ended, is_alone;
  // What has stopped one of the group that reads the terminal, or sets it; 0 if nothing has.
  int stop;
  int channel;
};

// Takes the endings of children. An orphan of the program becomes a child of the guard (PR_SET_CHILD_SUBREAPER).
static void reap(struct guard *guard) {
  siginfo_t child;
  for (;;) {
    child.si_pid = 0;
    if (waitid(P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 || child.si_pid == 0) break;
    if (child.si_code == CLD_STOPPED) {
      int is_terminal = child.si_status == SIGTTIN || child.si_status == SIGTTOU;
      if (is_terminal && getpgid(child.si_pid) == guard->leader) guard->stop = child.si_status;
      waitid(P_PID, (id_t)child.si_pid, &child, WSTOPPED | WNOHANG);
      continue;
    }
    if (child.si_pid == guard->leader) {
      guard->has_ended = 1;
      tell(guard->channel, child.si_code == CLD_EXITED ? COMMAND_EXITED : COMMAND_SIGNALLED, child.si_status);
      // While the leader is not reaped, its number is its own.
      guard->is_alone = setpgid(0, guard->leader) != 0;
    }
    waitpid(child.si_pid, NULL, 0);
  }
  if (!guard->has_ended || guard->is_alone) return;
  child.si_pid = 0;
  guard->is_alone = waitid(P_PGID, (id_t)guard->leader, &child, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

static void watch_over(const struct command_program *program, char **environment, int channel) {
  prctl(PR_SET_NAME, "dialtone-exec");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Out of the terminal's way: Control-C is for the command, and its end is what counts.
  setpgid(0, 0);
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  // Ignored, it would have the kernel reap the children (wait(2)).
  sigaction(SIGCHLD, &usual, NULL);
  struct guard guard = {.channel = channel};
  pid_t self = (pid_t)syscall(SYS_getpid);
  guard.leader = copy_process();
  if (guard.leader == 0) become(program, environment, channel, self);
  if (guard.leader < 0) {
    tell(channel, COMMAND_NOT_STARTED, errno);
    _exit(1);
  }
  setpgid(guard.leader, guard.leader);
  // What it holds would stay open after this process: the pipes of others, too.
  close_from(0, channel - 1);
  close_from(channel + 1, 0x7FFFFFFF);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  struct pollfd events[] = {
    {.fd = channel}, {.fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN}};
  long long end = milliseconds() + program->timeout;
  int step = 0;
  for (;;) {
    reap(&guard);
    if (guard.has_ended && guard.is_alone) _exit(0);
    if (guard.stop != 0 && step == 0) end = 0;
    long long rest = end - milliseconds();
    // Without a signalfd, it looks again and again.
    int pause = events[1].fd < 0 ? 100 : 1 << 30;
    if (rest > 0) poll(events, 2, rest < pause ? (int)rest : pause);
    struct signalfd_siginfo information;
    while (events[1].fd >= 0 && read(events[1].fd, &information, sizeof information) > 0) {}
    int is_left = step == 0 && (events[0].revents & (POLLHUP | POLLERR)) != 0;
    if (!is_left && milliseconds() < end) continue;
    if (step == 0) {
      if (!is_left) tell(channel, COMMAND_CUT, guard.stop);
      kill(-guard.leader, SIGTERM);
      // What is stopped takes the signal once it goes on.
      kill(-guard.leader, SIGCONT);
      end = milliseconds() + program->grace;
      // A channel that is closed would be reported at once, again and again.
      if (is_left) events[0].fd = -1;
    } else if (step == 1) {
      // Not itself: it reaps what this ends.
      setpgid(0, 0);
      kill(-guard.leader, SIGKILL);
      end = milliseconds() + 1000;
    } else {
      _exit(0);
    }
    step++;
  }
}

// The variables of this process, with these in place of those of the same names; NULL without memory.
static char **variables(char *const *settings) {
  size_t count = 1;
  for (char *const *one = environ; *one != NULL; one++) count++;
  for (char *const *one = settings; *one != NULL; one++) count++;
  char **all = malloc(count * sizeof *all), **next = all;
  if (all == NULL) return NULL;
  for (char *const *one = environ; *one != NULL; one++) {
    size_t name = strcspn(*one, "=") + 1;
    char *const *other = settings;
    while (*other != NULL && strncmp(*one, *other, name) != 0) other++;
    if (*other == NULL) *next++ = *one;
  }
  for (char *const *one = settings; *one != NULL; one++) *next++ = *one;
  *next = NULL;
  return all;
}

int command_start_program(const struct command_program *program, struct command_run *run) {
  int ends[2];
  char **environment = variables(program->environment);
  if (environment == NULL) return -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    free(environment);
    return -1;
  }
  // No handler of this process is to run in the others.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  pid_t guard = copy_process();
  if (guard == 0) {
    close(ends[0]);
    watch_over(program, environment, ends[1]);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  close(ends[1]);
  free(environment);
  if (guard < 0) {
    close(ends[0]);
    errno = error;
    return -1;
  }
  run->channel = ends[0];
  run->guard = guard;
  return 0;
}

int command_next_event(const struct command_run *run, struct command_event *event) {
  ssize_t count;
  do count = recv(run->channel, event, sizeof *event, 0);
  while (count < 0 && errno == EINTR);
  return count == sizeof *event;
}

void command_end_run(const struct command_run *run) {
  close(run->channel);
  while (waitpid(run->guard, NULL, 0) < 0 && errno == EINTR) {}
}
#endif
