// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What the benchmarks do to the network, and the peers of Dialtone that are written in C. For Linux alone. A function
// that changes something returns 0, or the negative errno(3).
#ifndef CBENCHMARK_H
#define CBENCHMARK_H

#include <stdint.h>
#include <sys/types.h>

// Nanoseconds of CLOCK_MONOTONIC, and of processor time of this process or another.
int64_t bench_now(void);
int64_t bench_cpu(void);
int64_t bench_cpu_of(pid_t process);
// KiB of resident memory of another process (proc_pid_statm(5)), or the negative errno(3).
long bench_memory_of(pid_t process);
// How often the threads of another process have gone to sleep so far (proc_pid_status(5)), or the negative errno(3).
int64_t bench_sleeps_of(pid_t process);

// A socket of rtnetlink(7) for the functions below.
int bench_open(void);

// A route to PREFIX/LENGTH (host order) over a gateway and an interface, in a table.
struct bench_route {
  uint32_t prefix, length, gateway, interface, table, metric;
};
int bench_set_route(int socket, int is_added, const struct bench_route *_Nonnull route);
// Adds or deletes `count` routes to consecutive prefixes, in few system calls. The kernel acknowledges the last one.
int bench_set_routes(int socket, int is_added, const struct bench_route *_Nonnull first, uint32_t count);

// Adds or deletes an IPv4 address (host order) of an interface.
int bench_set_address(int socket, int is_added, uint32_t interface, uint32_t address, uint32_t length);
// Adds a link that leads nowhere (`dummy`, or `ifb` if the kernel has none of these), or deletes a link.
int bench_add_link(int socket, const char *_Nonnull name);
int bench_delete_link(int socket, uint32_t interface);
int bench_set_up(int socket, uint32_t interface, int is_up);
// Changes the length of a link's queue, which is announced and touches no packet's way.
int bench_set_queue_length(int socket, uint32_t interface, uint32_t length);
// The index of an interface, or 0.
uint32_t bench_interface(const char *_Nonnull name);

// One RTM_GETROUTE for 127.0.0.1, sent and received with nothing between.
int bench_ask(int socket);
// What one state of one address takes: RTM_GETROUTE as configured and as chosen, in one send.
int bench_ask_twice(int socket);

// A gate: one thread waits for as many openings as it has not waited for yet. By futex(2), so that it costs little.
struct bench_gate {
  uint32_t openings, waited;
};
void bench_open_gate(struct bench_gate *_Nonnull gate);
// Returns 0, or -1 if 60 s have passed.
int bench_wait_at_gate(struct bench_gate *_Nonnull gate);

// Serves HTTP on 127.0.0.1: each connection gets one answer, and is closed. Calls `ready` with the port, and returns
// only if it fails.
int bench_serve(void (*_Nonnull ready)(uint16_t port));

// The same on a thread of this process. Returns the port.
int bench_serve_on_thread(void);

// Forks a child that ends at once. Returns 0 if it ends well, or if there is no room for it.
int bench_fork(void);

// Whether a UDP socket finds a way to an IPv4 address (host order) over `v0`, which has a carrier. Nothing is sent.
int bench_can_connect(uint32_t address);

// What this process holds: descriptors, threads, and KiB of resident memory.
struct bench_census {
  int descriptors, threads, memory;
};
int bench_take_census(struct bench_census *_Nonnull census);

// Watches the default route of IPv4 on a thread of its own, and calls `told` with each state: 1 reachable, 0 not. The
// first reads the route's messages and nothing else. The second does what Dialtone does for one route event: it waits
// in epoll(7), reads until there is nothing more, sends a barrier and two queries, reads their answers, reads again
// whether something has changed meanwhile, and tells a state if it differs.
int bench_watch_bare(void (*_Nonnull told)(int is_reachable));
int bench_watch_alike(void (*_Nonnull told)(int is_reachable));

// Starts a program with its output in a pipe. Returns the process, and the pipe in `output`.
pid_t bench_start(char *_Nullable const *_Nonnull arguments, int *_Nonnull output);
// Ends and awaits it. Returns its peak of resident memory in KiB.
long bench_stop(pid_t process);
// Awaits its end. Returns its exit status, and its peak of resident memory and its processor time.
int bench_await(pid_t process, long *_Nonnull peak, int64_t *_Nonnull cpu);
// Reads whole integers that a program writes. Returns 0, or -1 if it ended or 60 s have passed.
int bench_read(int output, int64_t *_Nonnull value);

#endif
