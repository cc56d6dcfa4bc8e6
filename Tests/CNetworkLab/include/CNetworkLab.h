// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What the network lab of the tests needs from the kernel and Swift cannot or should not do: what runs before main,
// what runs between fork and exec, and what needs the kernel's own structures. Every function returns a negated errno
// on failure.

#ifndef C_NETWORK_LAB_H
#define C_NETWORK_LAB_H

#if defined(__linux__)

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

// privilege.c

/// What the constructor found. `error`, an errno, is 0 if the process can make network namespaces as far as is known.
struct lab_privilege {
  int error;
  /// Whether this process moved into a user namespace of its own, in which it is uid 0 and no other uid exists.
  bool own_user_namespace;
  /// What failed, or why nothing was tried (ECANCELED); NULL if all is well. Static text.
  const char *what;
};

struct lab_privilege lab_privilege(void);

// namespace.c

/// Moves the calling thread into a network namespace of its own. With `mounts`, also into a mount namespace whose /sys
/// shows that network.
int lab_enter(bool mounts);
/// A descriptor of the calling thread's network namespace.
int lab_open_namespace(void);
/// Mounts `source` over `target`, in the calling thread's mount namespace.
int lab_bind_mount(const char *source, const char *target);
/// Writes a whole small file.
int lab_write_file(const char *path, const char *text, size_t length);
/// Reads a small file. Returns the number of bytes read.
int lab_read_file(const char *path, char *text, size_t capacity);
/// The number of entries of a directory, without the descriptor that this call itself opens.
int lab_count_entries(const char *path);
/// Opens a tun (or tap) device, in the network namespace of the calling thread.
int lab_open_tun(const char *name, bool tap, bool persistent);

// netlink.c

/// A NETLINK_ROUTE socket in the network namespace of the calling thread. It stays there, whichever thread uses it.
int lab_netlink_open(void);
/// Sends one request with NLM_F_ACK and waits for its answer. `text` gets the kernel's own words, if it has any.
int lab_netlink_request(int fd, const uint8_t *message, size_t length, char *text, size_t capacity);
/// Sends `length` bytes of messages, of which only the last asks for an acknowledgement. Returns the first error of
/// any.
int lab_netlink_batch(int fd, const uint8_t *messages, size_t length);
/// Adds (RTM_NEWROUTE) or deletes (RTM_DELROUTE) `count` IPv4 routes of one prefix length, consecutive from `first`
/// (host byte order), out of the interface `index`.
int lab_netlink_routes(int fd, uint16_t type, uint32_t first, uint8_t prefix, uint32_t count, int index,
                       uint32_t table);
/// Sends a datagram from the socket to the socket with that port id, which is not the kernel's.
int lab_netlink_send_to(int fd, uint32_t port, const uint8_t *bytes, size_t length);
/// The index of an interface in the namespace of the socket.
int lab_interface_index(int fd, const char *name);

/// Waits until the kernel says that the interface, which is in the namespace of this thread, is running: the kernel
/// looks at the carrier of a link that comes up a moment later (netdevice(7), IFF_RUNNING).
int lab_wait_until_running(const char *name);

// connect.c

/// How to connect: like a program that binds its socket, marks it and connects it.
struct lab_connect {
  bool v6, udp;
  /// Only for TCP: all of connect(2) except the first segment, which waits for data (TCP_FASTOPEN_CONNECT, tcp(7)).
  bool silent;
  /// 4 or 16 bytes, in network order.
  uint8_t destination[16], source[16];
  /// Whether to bind to `source`.
  bool has_source;
  uint16_t port;
  /// 0 if the kernel chooses.
  uint16_t source_port;
  /// The index in the zone of a link-local address; else 0.
  uint32_t scope;
  /// SO_BINDTODEVICE, or NULL.
  const char *interface;
  /// SO_MARK, or 0.
  uint32_t mark;
  /// IP_TOS or IPV6_TCLASS, or 0.
  int tos;
};

/// The result.
struct lab_connected {
  /// The errno of bind(2) or connect(2), or what SO_ERROR says at once after it, as a firewall on this machine causes.
  /// 0 if packets are on their way (also for EINPROGRESS).
  int error;
  /// What getsockname(2) returns, if there is no error.
  uint8_t local[16];
  uint16_t local_port;
};

/// Connects a non-blocking socket in the network namespace of the calling thread, and closes it. Fails only if the
/// socket could not be made as wanted.
int lab_connect(const struct lab_connect *how, struct lab_connected *found);

// packet.c

/// Sends a frame as it is by the interface with that index, in the network namespace of the calling thread (packet(7)).
int lab_send_frame(int index, const uint8_t *frame, size_t length);

// spawn.c

/// How to start a process. Descriptors that are -1 become /dev/null.
struct lab_spawn {
  const char *path;
  /// `argument_count` strings, each ended by a NUL. The first is argv[0].
  const char *arguments;
  size_t argument_count;
  /// `environment_count` strings: "NAME=value" is added to the environment of this process, and "NAME" alone is removed
  /// from it.
  const char *environment;
  size_t environment_count;
  int input, output, error;
  /// Becomes the controlling terminal and all three standard descriptors, unless it is -1.
  int terminal;
  /// The uid and gid of the process, or -1.
  int64_t user;
  /// What to refuse, and with which errno; see `lab_deny`.
  int denial, denial_errno;
};

/// Starts a process from the calling thread, and so in its namespaces. It is killed when that thread ends. Returns the
/// pid.
int lab_spawn(const struct lab_spawn *how);
int lab_pidfd(pid_t pid);
int lab_signal(pid_t pid, int signal);
/// Returns 1 and the status if the process has ended (and reaps it), 0 if it has not.
int lab_reap(pid_t pid, int *code, bool *signalled);
/// Waits until the descriptor can be read (for a pidfd: until the process has ended). Returns 1 if so, 0 if not in
/// time.
int lab_wait_readable(int fd, int milliseconds);
/// Makes a new terminal of that size, and returns the controlling side.
int lab_open_terminal(unsigned short rows, unsigned short columns, int *terminal);
int lab_resize_terminal(int fd, unsigned short rows, unsigned short columns);
/// Makes a pipe. Both ends close on exec, and reading does not block.
int lab_pipe(int ends[2]);
/// Returns a descriptor from which these bytes can be read, then end of file.
int lab_open_bytes(const uint8_t *bytes, size_t length);
/// Returns the number of bytes read, 0 at the end (also at a terminal's), -EAGAIN if there is nothing now.
ssize_t lab_read(int fd, uint8_t *bytes, size_t capacity);
ssize_t lab_write(int fd, const uint8_t *bytes, size_t length);
int lab_close(int fd);

// deny.c

#define LAB_DENY_NOTHING 0
/// socket(AF_NETLINK, …) fails.
#define LAB_DENY_NETLINK 1
/// setsockopt(…, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, …) fails.
#define LAB_DENY_MULTICAST 2
/// inotify_init1(…) fails.
#define LAB_DENY_INOTIFY 3
/// No thread can be started; processes can.
#define LAB_DENY_THREADS 4

/// Installs a system call filter for the calling thread and for what it starts from then on. It cannot be removed.
int lab_deny(int denial, int error);

// text.c

/// The text of an errno, like strerror, but safe in any thread.
void lab_describe_errno(int error, char *text, size_t capacity);

#endif
#endif
