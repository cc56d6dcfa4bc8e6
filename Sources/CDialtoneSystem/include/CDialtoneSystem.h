// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// The C that Dialtone uses, in one place: libc everywhere (so that no Swift file needs a chain of `canImport(Glibc)`),
// and the kernel's headers on Linux. It has wrappers for what Swift cannot import, and no logic. Sources: netlink(7),
// rtnetlink(7), linux/netlink.h, linux/rtnetlink.h and their companions.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// errno is a macro that Swift cannot import.
static inline int csystem_errno(void) { return errno; }

// open(2) takes a variable number of arguments, which Swift cannot pass.
static inline int csystem_open(const char *_Nonnull path, int flags) { return open(path, flags); }

// fcntl(2), too. Has a descriptor closed in programs that this process starts.
static inline int csystem_close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

#if defined(__linux__)
#ifndef F_SETSIG  // hidden unless everybody asks for GNU's names; the numbers are the kernel's (asm-generic/fcntl.h)
#define F_SETSIG 10
#define F_GETSIG 11
#endif
// Marks the open file of a descriptor, so that another one under the same number can be told from it. The mark is the
// signal for input (F_SETSIG, fcntl(2)), which is sent only for files that ask for signals (O_ASYNC). A new file has 0.
static inline int csystem_mark(int descriptor, int mark) { return fcntl(descriptor, F_SETSIG, mark); }
// Another mark than the last thirty, so that files opened one after the other have different ones.
int csystem_new_mark(void);
// The mark; negative if the descriptor is closed.
static inline int csystem_mark_of(int descriptor) { return fcntl(descriptor, F_GETSIG); }
#else
static inline int csystem_mark(int descriptor, int mark) { (void)descriptor; (void)mark; return 0; }
static inline int csystem_new_mark(void) { return 0; }
static inline int csystem_mark_of(int descriptor) { (void)descriptor; return 0; }
#endif

// Whether the executable was linked statically: no interpreter has loaded it (getauxval(3)). So it
// looks if ld.so was run as the program, too.
#if defined(__linux__)
#include <sys/auxv.h>
static inline bool csystem_is_static(void) { return getauxval(AT_BASE) == 0; }
#else
static inline bool csystem_is_static(void) { return false; }
#endif

// The number of forks (fork(2) without exec(3)) between this process and its first ancestor that used Dialtone. A child
// has one more than its parent, by a handler of pthread_atfork(3); a bare clone(2) is not seen. Costs one plain load.
extern unsigned int csystem_forks;
static inline unsigned int csystem_fork_count(void) { return __atomic_load_n(&csystem_forks, __ATOMIC_RELAXED); }

// The calling thread works from the first call to the second. fork(2) waits until no thread works, for a second at
// most, and none begins to work before it is done. The second call returns whether the thread worked.
void csystem_begin_work(void);
bool csystem_end_work(void);

// The arguments of the process, as the C runtime gave them to main. Only glibc hands them to constructors; with another
// libc they are `NULL` and 0.
char *_Nullable *_Nullable csystem_arguments(int *_Nonnull count);

// SOCK_STREAM is an enumeration in one libc and an integer in another.
enum { csystem_SOCK_STREAM = SOCK_STREAM };

// GNU extensions of netdb.h that need _GNU_SOURCE, which cannot be defined for an imported module; 0 if libc lacks one.
#if defined(__GLIBC__)
enum { csystem_EAI_NODATA = -5, csystem_EAI_ADDRFAMILY = -9 };
#elif defined(__linux__)
enum { csystem_EAI_NODATA = -5, csystem_EAI_ADDRFAMILY = 0 };
#elif defined(EAI_NODATA) && defined(EAI_ADDRFAMILY)
enum { csystem_EAI_NODATA = EAI_NODATA, csystem_EAI_ADDRFAMILY = EAI_ADDRFAMILY };
#else
enum { csystem_EAI_NODATA = 0, csystem_EAI_ADDRFAMILY = 0 };
#endif

// pthread_t is a number in one libc and a pointer in another: pthread_self(3), and pthread_create(3) with
// pthread_detach(3), which returns 0 or an error number.
static inline unsigned long csystem_thread(void) { return (unsigned long)pthread_self(); }
static inline int csystem_start_thread(const pthread_attr_t *_Nullable attributes,
                                       void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument) {
  pthread_t thread;
  int status = pthread_create(&thread, attributes, body, argument);
  if (status == 0) pthread_detach(thread);
  return status;
}

// sigaction(2)'s handler is a member of a union that has another name in each libc, and SIG_IGN a pointer that Swift
// cannot import. Returns whether the process ignores the signal.
static inline int csystem_ignores_signal(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// A datagram socket that does not block and is closed in programs that this process starts.
#if defined(__linux__)
// SOCK_DGRAM and its flags are an enumeration in one libc and integers in another.
static inline int csystem_datagram_socket(int family) {
  return socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
#else
static inline int csystem_datagram_socket(int family) {
  int descriptor = socket(family, SOCK_DGRAM, 0);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
  return descriptor;
}
#endif

// Sets the length with which a socket address begins, on systems where it does (sys/socket.h).
static inline void csystem_set_address_length(void *_Nonnull address, unsigned char length) {
#if defined(__APPLE__)
  ((struct sockaddr *)address)->sa_len = length;
#else
  (void)address;
  (void)length;
#endif
}

// Keeps a socket to the interface with this index: SO_BINDTOIFINDEX (socket(7)), or IP_BOUND_IF and IPV6_BOUND_IF
// (netinet/in.h, netinet6/in6.h). Returns 0, or -1 with errno: ENOTSUP where a system has neither.
static inline int csystem_bind_to_interface(int socket, int family, unsigned int index) {
#if defined(__linux__)
  int value = (int)index;
  (void)family;
  return setsockopt(socket, SOL_SOCKET, SO_BINDTOIFINDEX, &value, sizeof value);
#elif !defined(__APPLE__)
  (void)socket;
  (void)family;
  (void)index;
  errno = ENOTSUP;
  return -1;
#else
  return family == AF_INET ? setsockopt(socket, IPPROTO_IP, IP_BOUND_IF, &index, sizeof index)
                           : setsockopt(socket, IPPROTO_IPV6, IPV6_BOUND_IF, &index, sizeof index);
#endif
}

#if defined(__APPLE__)
#include <os/os_sync_wait_on_address.h>

static inline void csystem_name_thread(const char *_Nonnull name) { pthread_setname_np(name); }

// What futex(2) is on Linux (below): macOS 14.4 and iOS 17.4 have it.
static inline void csystem_futex_wait(const void *_Nonnull word, unsigned int value) {
  os_sync_wait_on_address((void *)word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_NONE);
}
static inline void csystem_futex_wake(const void *_Nonnull word) {
  os_sync_wake_by_address_any((void *)word, sizeof(unsigned int), OS_SYNC_WAKE_BY_ADDRESS_NONE);
}
#endif

#if defined(__FreeBSD__)
#include <pthread_np.h>
#include <sys/umtx.h>

static inline void csystem_name_thread(const char *_Nonnull name) { pthread_set_name_np(pthread_self(), name); }

// What futex(2) is on Linux (below): _umtx_op(2).
static inline void csystem_futex_wait(const void *_Nonnull word, unsigned int value) {
  _umtx_op((void *)word, UMTX_OP_WAIT_UINT_PRIVATE, value, NULL, NULL);
}
static inline void csystem_futex_wake(const void *_Nonnull word) {
  _umtx_op((void *)word, UMTX_OP_WAKE_PRIVATE, 1, NULL, NULL);
}
#endif

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <poll.h>

// The kernel's headers, or the few definitions that the library needs, if they are not installed. The tests use more of
// the headers. CSYSTEM_OWN_KERNEL_DEFINITIONS takes ours in any case, to try them.
#if defined(CSYSTEM_OWN_KERNEL_DEFINITIONS) || !__has_include(<linux/rtnetlink.h>) || \
    !__has_include(<linux/ethtool.h>) || !__has_include(<linux/nl80211.h>)
#undef CSYSTEM_OWN_KERNEL_DEFINITIONS
#define CSYSTEM_OWN_KERNEL_DEFINITIONS 1
#include "../KernelDefinitions.h"
#else
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#endif

// TIOCGWINSZ of ioctl(2), which takes a variable number of arguments. Returns how many columns a terminal has, or 0 if
// it does not tell.
static inline int csystem_terminal_columns(int descriptor) {
  struct winsize size;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// prctl(2) takes a variable number of arguments.
static inline void csystem_name_thread(const char *_Nonnull name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// gettid(2) and tgkill(2), which libcs have had for a few years only. The second returns whether a thread of this
// process still counts against RLIMIT_NPROC. The kernel forgets its number after it has taken it off the count
// (kernel/exit.c, release_task).
pid_t csystem_thread_number(void);
int csystem_thread_exists(pid_t number);

// futex(2), which no libc has. The first sleeps while the word is `value`; the second wakes one sleeping thread.
void csystem_futex_wait(const void *_Nonnull word, unsigned int value);
void csystem_futex_wake(const void *_Nonnull word);

// SOCK_RAW and its flags are an enumeration in one libc and integers in another.
static inline int csystem_socket(int protocol) {
  return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

// Enumerations in one libc, macros in another.
enum { CSYSTEM_EPOLLIN = EPOLLIN };

static inline int csystem_stream_socket(int family) {
  return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// TCP_FASTOPEN_NO_COOKIE of linux/tcp.h, which libcs lack, and which cannot be included beside netinet/tcp.h.
enum { CSYSTEM_TCP_FASTOPEN_NO_COOKIE = 34 };

// One datagram of a call of recvmmsg(2).
struct csystem_datagram {
  unsigned int length;
  // The sender's nl_pid; 0 is the kernel.
  unsigned int sender;
  // MSG_TRUNC if the datagram did not fit.
  int flags;
};

// recvmmsg(2), which libcs declare only under _GNU_SOURCE, and Swift imports without it. Reads up to `count` (at most
// CSYSTEM_MAX_DATAGRAMS) datagrams, each into `size` bytes of `buffer`. Returns their number, or -1 with errno.
#define CSYSTEM_MAX_DATAGRAMS 16
int csystem_receive(int socket, void *_Nonnull buffer, size_t size, struct csystem_datagram *_Nonnull datagrams,
                     unsigned int count);

// SIOCINQ of tcp(7): how many bytes a connection has got that nobody has read yet; 0 if it does not say.
static inline int csystem_unread_bytes(int socket) {
  int count = 0;
  return ioctl(socket, FIONREAD, &count) == 0 ? count : 0;
}

// ETHTOOL_GDRVINFO of ioctl(2), whose request has a pointer in a union (linux/ethtool.h, netdevice(7)). Asks, in the
// namespace of `socket`, for the driver of an interface and the version of its firmware. Both are strings of at most 31
// bytes. Returns 0, or -1 with errno.
#define CSYSTEM_DRIVER_TEXT_SIZE 32
int csystem_driver(int socket, const char *_Nonnull name, char *_Nonnull driver, char *_Nonnull firmware);

// ETHTOOL_GSET of ioctl(2): the speed of an interface in megabits a second, 0 if it is not known, and 1 for full
// duplex, 0 for half, -1 if that is not known. Returns 0, or -1 with errno.
int csystem_link_speed(int socket, const char *_Nonnull name, unsigned int *_Nonnull speed, int *_Nonnull is_full);

// IP_RECVERR and IPV6_RECVERR (ip(7), ipv6(7)): says whether a socket of that family queues refusals of its packets.
int csystem_queue_errors(int socket, int family, int is_wanted);

// fcntl(2)'s F_DUPFD_CLOEXEC: another descriptor of the same socket. Returns it, or -1 with errno.
int csystem_duplicate(int descriptor);

// An ICMP message that refused a packet, from a socket's error queue (struct sock_extended_err, linux/errqueue.h).
struct csystem_refusal {
  // The sender.
  struct sockaddr_storage offender;
  unsigned char type, code;
};

// Finds such a message in the control messages of a datagram of the error queue (cmsg(3)). Returns 1, or 0 if there is
// none. `control` is aligned as a `struct cmsghdr`.
int csystem_read_refusal(const void *_Nonnull control, size_t length, struct csystem_refusal *_Nonnull refusal);

// Takes the oldest such message from the queue. Returns 1, or 0 if there is none.
int csystem_take_refusal(int socket, struct csystem_refusal *_Nonnull refusal);

// Returns whether this machine has the address, so that a socket can be bound to it.
int csystem_is_own_address(const struct sockaddr_storage *_Nonnull address);

// Sockets of probes. Addresses are 4 or 16 bytes in network order; `scope` is the interface of a link-local one. Each
// function returns 0, or the errno.

// A stream or datagram socket that does not block, queues refusals (ip(7), IP_RECVERR) and tells the hop limits of
// datagrams (IP_RECVTTL), or -1 with errno.
int csystem_probe_socket(int family, int is_stream);

// Returns whether a connection has been made (getpeername(2)).
int csystem_is_connected(int socket);

// recv(2) without waiting. `hops` is how many routers a datagram could still have passed, 0 if that is not known.
long csystem_receive_probe(int socket, void *_Nonnull buffer, size_t size, int *_Nonnull hops);
// connect(2); EINPROGRESS if it goes on.
int csystem_connect(int socket, int family, const unsigned char *_Nonnull address, unsigned short port,
                    unsigned int scope);
// getsockname(2): the local address, 4 or 16 bytes in network order, and the port. Returns how many bytes, or 0.
int csystem_local_endpoint(int socket, unsigned char *_Nonnull address, unsigned short *_Nonnull port);
// SO_ERROR (socket(7)): why the connection failed; 0 if it was made.
int csystem_socket_error(int socket);
// TCP_MAXSEG, TCP_WINDOW_CLAMP (tcp(7)): the largest segment that either side sends, in bytes, and few at a time from
// the other side: routers take several that follow each other for one.
int csystem_limit_segments(int socket, int bytes);
// TCP_INFO (tcp(7)): how many segments are not acknowledged, how many were sent again, how many came behind a gap, how
// many milliseconds ago something came, and how many bytes were never sent although the other side has room for them
// (the third and the last are 0 before Linux 5.4).
struct csystem_stream_progress {
  unsigned int unacknowledged, sent_again, behind_gap, since_received, unsent;
};
int csystem_stream_progress(int socket, struct csystem_stream_progress *_Nonnull progress);
// IP_PMTUDISC_PROBE of IP_MTU_DISCOVER (ip(7)): datagrams are neither fragmented nor held to a known path MTU.
int csystem_forbid_fragments(int socket, int family);

// A packet socket for all protocols that does not block (packet(7)), or -1 with errno: it needs CAP_NET_RAW.
int csystem_packet_socket(void);
// A packet that was received (struct sockaddr_ll and struct tpacket_auxdata, packet(7)).
struct csystem_packet {
  // How many bytes it has, from its network header on.
  size_t length;
  unsigned int interface;
  // The EtherType (if_ether.h).
  unsigned short protocol;
  // PACKET_OUTGOING: it leaves this machine. PACKET_HOST: it came in, for this machine's link-layer address.
  int is_outgoing, is_to_this_host;
  // Whether the kernel or the device has looked at the checksum of its transport header, or fills it in later.
  int is_checked;
};
// Receives a packet, from its network header on. Returns how many bytes of it are in the buffer, or -1 with errno.
ssize_t csystem_receive_packet(int socket, void *_Nonnull buffer, size_t size, struct csystem_packet *_Nonnull packet);

// PACKET_STATISTICS (packet(7)): how many packets the socket lost since the last call.
unsigned int csystem_lost_packets(int socket);

// adjtimex(2): 1 if something keeps the clock right, 0 if not, -1 if the system does not say.
int csystem_clock_is_kept(void);
// When a file was last changed, in seconds since 1970 (stat(2)); 0 if there is none.
long long csystem_changed(const char *_Nonnull path);
#endif

#endif
