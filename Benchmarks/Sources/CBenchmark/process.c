// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CBenchmark.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { patience = 60 };

static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return -1;
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int64_t bench_now(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t bench_cpu(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

int64_t bench_cpu_of(pid_t process) {
  clockid_t clock;
  return clock_getcpuclockid(process, &clock) == 0 ? nanoseconds(clock) : -1;
}

void bench_open_gate(struct bench_gate *gate) {
  __atomic_fetch_add(&gate->openings, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &gate->openings, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int bench_wait_at_gate(struct bench_gate *gate) {
  const struct timespec limit = {.tv_sec = patience};
  for (;;) {
    uint32_t openings = __atomic_load_n(&gate->openings, __ATOMIC_ACQUIRE);
    if (openings != gate->waited) {
      gate->waited++;
      return 0;
    }
    if (syscall(SYS_futex, &gate->openings, FUTEX_WAIT_PRIVATE, openings, &limit, NULL, 0) != 0 && errno == ETIMEDOUT)
      return -1;
  }
}

int bench_serve(void (*ready)(uint16_t port)) {
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0)
    return -errno;
  ready(ntohs(address.sin_port));
  for (;;) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) return -errno;
    // A request without a body comes in one piece on loopback.
    char request[4096];
    if (recv(client, request, sizeof request, 0) > 0) (void)!send(client, answer, sizeof answer - 1, MSG_NOSIGNAL);
    close(client);
  }
}

extern char **environ;

pid_t bench_start(char *const *arguments, int *output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  posix_spawn_file_actions_t actions;
  pid_t process = -1;
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (error == 0) error = posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  *output = ends[0];
  if (error == 0) return process;
  close(ends[0]);
  return -error;
}

long bench_stop(pid_t process) {
  kill(process, SIGKILL);
  long peak = 0;
  int64_t cpu;
  bench_await(process, &peak, &cpu);
  return peak;
}

int bench_await(pid_t process, long *peak, int64_t *cpu) {
  int status = 0;
  struct rusage usage;
  while (wait4(process, &status, 0, &usage) < 0)
    if (errno != EINTR) return -errno;
  *peak = usage.ru_maxrss;
  *cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int bench_read(int output, int64_t *value) {
  char *bytes = (char *)value;
  size_t have = 0;
  while (have < sizeof *value) {
    struct pollfd ready = {.fd = output, .events = POLLIN};
    if (poll(&ready, 1, patience * 1000) <= 0) return -1;
    ssize_t count = read(output, bytes + have, sizeof *value - have);
    if (count <= 0) return -1;
    have += (size_t)count;
  }
  return 0;
}

long bench_memory_of(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/statm", process);
  FILE *file = fopen(path, "re");
  if (file == NULL) return -errno;
  long size, resident;
  int count = fscanf(file, "%ld %ld", &size, &resident);
  fclose(file);
  return count == 2 ? resident * (sysconf(_SC_PAGESIZE) / 1024) : -EIO;
}

int64_t bench_sleeps_of(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *folder = opendir(path);
  if (folder == NULL) return -errno;
  int64_t sum = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", process, entry->d_name);
    FILE *file = fopen(path, "re");
    // The thread has just ended.
    if (file == NULL) continue;
    char line[256];
    long long count;
    while (fgets(line, sizeof line, file) != NULL)
      if (sscanf(line, "voluntary_ctxt_switches: %lld", &count) == 1) sum += count;
    fclose(file);
  }
  closedir(folder);
  return sum;
}

static pthread_mutex_t serving = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t served = PTHREAD_COND_INITIALIZER;
static int served_port;

static void serve_at(uint16_t port) {
  pthread_mutex_lock(&serving);
  served_port = port;
  pthread_cond_signal(&served);
  pthread_mutex_unlock(&serving);
}

static void *serve(void *nothing) {
  int error = bench_serve(serve_at);
  pthread_mutex_lock(&serving);
  served_port = error;
  pthread_cond_signal(&served);
  pthread_mutex_unlock(&serving);
  return nothing;
}

int bench_serve_on_thread(void) {
  pthread_t thread;
  int error = pthread_create(&thread, NULL, serve, NULL);
  if (error != 0) return -error;
  pthread_detach(thread);
  pthread_mutex_lock(&serving);
  while (served_port == 0) pthread_cond_wait(&served, &serving);
  int port = served_port;
  pthread_mutex_unlock(&serving);
  return port;
}

int bench_fork(void) {
  pid_t child = fork();
  if (child < 0) return errno == EAGAIN || errno == ENOMEM ? 0 : -errno;
  if (child == 0) _exit(0);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -errno;
  return status;
}

// Whether a link is up and has a carrier (netdevice(7)).
static int carries(const char *name) {
  struct ifreq request = {0};
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int result = ioctl(fd, SIOCGIFFLAGS, &request);
  close(fd);
  return result == 0 && (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}

int bench_can_connect(uint32_t address) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(address)};
  int result = connect(fd, (struct sockaddr *)&target, sizeof target);
  close(fd);
  // A route over a link without a carrier is found, but carries nothing.
  return result == 0 && carries("v0");
}

int bench_take_census(struct bench_census *census) {
  memset(census, 0, sizeof *census);
  DIR *folder = opendir("/proc/self/fd");
  if (folder == NULL) return -errno;
  // Without the two entries that every folder has, and without its own descriptor.
  census->descriptors = -3;
  while (readdir(folder) != NULL) census->descriptors++;
  closedir(folder);
  FILE *file = fopen("/proc/self/status", "re");
  if (file == NULL) return -errno;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Threads: %d", &census->threads) == 1) continue;
    (void)sscanf(line, "VmRSS: %d", &census->memory);
  }
  fclose(file);
  return census->threads > 0 && census->memory > 0 ? 0 : -EIO;
}
