// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CDialtoneSystem.h"

#if defined(__linux__)
#if !defined(CSYSTEM_OWN_KERNEL_DEFINITIONS)
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#endif
#include <sys/syscall.h>

void csystem_futex_wait(const void *word, unsigned int value) {
  int error = errno;
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
  errno = error;
}

void csystem_futex_wake(const void *word) {
  int error = errno;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = error;
}

pid_t csystem_thread_number(void) { return (pid_t)syscall(SYS_gettid); }

int csystem_thread_exists(pid_t number) { return syscall(SYS_tgkill, getpid(), number, 0) == 0; }

int csystem_new_mark(void) {
  static unsigned int marks;
  return SIGRTMAX - (int)(__atomic_fetch_add(&marks, 1, __ATOMIC_RELAXED) % 30);
}

int csystem_receive(int socket, void *buffer, size_t size, struct csystem_datagram *datagrams, unsigned int count) {
  struct mmsghdr messages[CSYSTEM_MAX_DATAGRAMS];
  struct iovec vectors[CSYSTEM_MAX_DATAGRAMS];
  struct sockaddr_nl senders[CSYSTEM_MAX_DATAGRAMS];
  if (count > CSYSTEM_MAX_DATAGRAMS) count = CSYSTEM_MAX_DATAGRAMS;
  for (unsigned int i = 0; i < count; i++) {
    vectors[i] = (struct iovec){.iov_base = (char *)buffer + i * size, .iov_len = size};
    messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &senders[i],
                                               .msg_namelen = sizeof senders[i],
                                               .msg_iov = &vectors[i],
                                               .msg_iovlen = 1}};
  }
  int received = recvmmsg(socket, messages, count, MSG_DONTWAIT, NULL);
  for (int i = 0; i < received; i++) {
    datagrams[i] = (struct csystem_datagram){.length = messages[i].msg_len,
                                              .sender = senders[i].nl_pid,
                                              .flags = messages[i].msg_hdr.msg_flags};
  }
  return received;
}

int csystem_driver(int socket, const char *name, char *driver, char *firmware) {
  struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
  struct ifreq request = {.ifr_data = (void *)&info};
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  int result = ioctl(socket, SIOCETHTOOL, &request);
  if (result < 0) return result;
  // The kernel terminates its strings; a last zero of our own costs nothing.
  info.driver[sizeof info.driver - 1] = info.fw_version[sizeof info.fw_version - 1] = 0;
  memcpy(driver, info.driver, sizeof info.driver);
  memcpy(firmware, info.fw_version, sizeof info.fw_version);
  return 0;
}
#endif

#if defined(__linux__)
int csystem_link_speed(int socket, const char *name, unsigned int *speed, int *is_full) {
  struct ethtool_cmd command = {.cmd = ETHTOOL_GSET};
  struct ifreq request = {.ifr_data = (void *)&command};
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  int result = ioctl(socket, SIOCETHTOOL, &request);
  if (result < 0) return result;
  unsigned int value = ethtool_cmd_speed(&command);
  *speed = value == (unsigned int)SPEED_UNKNOWN ? 0 : value;
  *is_full = command.duplex == DUPLEX_FULL ? 1 : command.duplex == DUPLEX_HALF ? 0 : -1;
  return 0;
}

int csystem_queue_errors(int socket, int family, int is_wanted) {
  return family == AF_INET6 ? setsockopt(socket, IPPROTO_IPV6, IPV6_RECVERR, &is_wanted, sizeof is_wanted)
                            : setsockopt(socket, IPPROTO_IP, IP_RECVERR, &is_wanted, sizeof is_wanted);
}

int csystem_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int csystem_read_refusal(const void *control, size_t length, struct csystem_refusal *refusal) {
  // It is walked by the macros of cmsg(3), which look at the bounds of `message`, and only read.
  struct msghdr message = {.msg_control = (void *)control, .msg_controllen = length};
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    size_t rest = length - (size_t)((const char *)header - (const char *)control);
    struct sock_extended_err error;
    if (header->cmsg_len > rest || header->cmsg_len < CMSG_LEN(sizeof error)) continue;
    if (!(header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR) &&
        !(header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR))
      continue;
    memcpy(&error, CMSG_DATA(header), sizeof error);
    if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
    // The offender's address follows the error (SO_EE_OFFENDER).
    size_t size = header->cmsg_len - CMSG_LEN(sizeof error);
    if (size > sizeof refusal->offender) size = sizeof refusal->offender;
    memset(&refusal->offender, 0, sizeof refusal->offender);
    memcpy(&refusal->offender, CMSG_DATA(header) + sizeof error, size);
    refusal->type = error.ee_type;
    refusal->code = error.ee_code;
    return 1;
  }
  return 0;
}

int csystem_take_refusal(int socket, struct csystem_refusal *refusal) {
  // The payload, which is the packet that was sent, is not read.
  _Alignas(struct cmsghdr) char control[512];
  for (;;) {
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return 0;
    if (csystem_read_refusal(control, message.msg_controllen, refusal)) return 1;
  }
}

int csystem_is_own_address(const struct sockaddr_storage *address) {
  int probe = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return 0;
  struct sockaddr_storage local = *address;
  socklen_t length = sizeof(struct sockaddr_in6);
  if (local.ss_family == AF_INET) {
    length = sizeof(struct sockaddr_in);
    ((struct sockaddr_in *)&local)->sin_port = 0;
  } else {
    ((struct sockaddr_in6 *)&local)->sin6_port = 0;
  }
  int result = bind(probe, (struct sockaddr *)&local, length);
  close(probe);
  return result == 0;
}
#endif

#if defined(__linux__)
#include <net/ethernet.h>
#if defined(CSYSTEM_OWN_KERNEL_DEFINITIONS)
#include <netpacket/packet.h>
#else
#include <linux/if_packet.h>
#endif
#include <sys/timex.h>

static int result_of(int result) { return result == 0 ? 0 : errno; }

int csystem_probe_socket(int family, int is_stream) {
  int probe = socket(family, (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // If this is refused, the queue stays empty, and hop limits are not told.
  if (probe >= 0) {
    int on = 1, is_ipv6 = family == AF_INET6;
    (void)csystem_queue_errors(probe, family, 1);
    (void)setsockopt(probe, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_RECVHOPLIMIT : IP_RECVTTL, &on,
                     sizeof on);
  }
  return probe;
}

long csystem_receive_probe(int socket, void *buffer, size_t size, int *hops) {
  _Alignas(struct cmsghdr) char control[256];
  struct iovec part = {buffer, size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  long count = recvmsg(socket, &message, MSG_DONTWAIT);
  *hops = 0;
  if (count < 0) return count;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if ((header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TTL) ||
        (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_HOPLIMIT))
      memcpy(hops, CMSG_DATA(header), sizeof *hops);
  }
  return count;
}

int csystem_connect(int socket, int family, const unsigned char *address, unsigned short port, unsigned int scope) {
  if (family == AF_INET) {
    struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(port)};
    memcpy(&target.sin_addr, address, sizeof target.sin_addr);
    return result_of(connect(socket, (struct sockaddr *)&target, sizeof target));
  }
  struct sockaddr_in6 target = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope};
  memcpy(&target.sin6_addr, address, sizeof target.sin6_addr);
  return result_of(connect(socket, (struct sockaddr *)&target, sizeof target));
}

int csystem_is_connected(int socket) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  return getpeername(socket, (struct sockaddr *)&peer, &length) == 0;
}

int csystem_socket_error(int socket) {
  int value = 0;
  socklen_t length = sizeof value;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &value, &length) != 0) return errno;
  return value;
}

int csystem_limit_segments(int socket, int bytes) {
  // A buffer that is set stays, and the clamp with it (tcp_rcv_space_adjust).
  int buffer = 32768, window = 4 * bytes;
  (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  (void)setsockopt(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof window);
  return result_of(setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &bytes, sizeof bytes));
}

int csystem_stream_progress(int socket, struct csystem_stream_progress *progress) {
  // struct tcp_info of linux/tcp.h as words: libc's own lacks the last of them, and the two headers exclude each other.
  enum {
    UNACKED = 24 / 4,
    LAST_DATA_RECV = 52 / 4,
    TOTAL_RETRANS = 100 / 4,
    NOTSENT_BYTES = 144 / 4,
    RCV_OOOPACK = 224 / 4,
    SND_WND = 228 / 4
  };
  unsigned int words[64] = {0};
  socklen_t length = sizeof words;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, words, &length) != 0) return errno;
  *progress = (struct csystem_stream_progress){.unacknowledged = words[UNACKED],
                                               .sent_again = words[TOTAL_RETRANS],
                                               .behind_gap = words[RCV_OOOPACK],
                                               .since_received = words[LAST_DATA_RECV],
                                               .unsent = words[SND_WND] == 0 ? 0 : words[NOTSENT_BYTES]};
  return 0;
}

int csystem_forbid_fragments(int socket, int family) {
  int value = family == AF_INET6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE;
  return result_of(family == AF_INET6 ? setsockopt(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &value, sizeof value)
                                      : setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &value, sizeof value));
}

int csystem_local_endpoint(int socket, unsigned char *address, unsigned short *port) {
  struct sockaddr_storage local = {0};
  socklen_t length = sizeof local;
  if (getsockname(socket, (struct sockaddr *)&local, &length) != 0) return 0;
  if (local.ss_family == AF_INET) {
    struct sockaddr_in *found = (struct sockaddr_in *)&local;
    memcpy(address, &found->sin_addr, sizeof found->sin_addr);
    *port = ntohs(found->sin_port);
    return sizeof found->sin_addr;
  }
  if (local.ss_family != AF_INET6) return 0;
  struct sockaddr_in6 *found = (struct sockaddr_in6 *)&local;
  memcpy(address, &found->sin6_addr, sizeof found->sin6_addr);
  *port = ntohs(found->sin6_port);
  return sizeof found->sin6_addr;
}

int csystem_packet_socket(void) {
  int packets = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
  int is_wanted = 1;
  // If this is refused, no checksum is taken for one that the kernel has looked at.
  if (packets >= 0) (void)setsockopt(packets, SOL_PACKET, PACKET_AUXDATA, &is_wanted, sizeof is_wanted);
  return packets;
}

ssize_t csystem_receive_packet(int socket, void *buffer, size_t size, struct csystem_packet *packet) {
  struct sockaddr_ll sender = {0};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
  struct iovec vector = {.iov_base = buffer, .iov_len = size};
  struct msghdr message = {.msg_name = &sender,
                           .msg_namelen = sizeof sender,
                           .msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
  ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC);
  if (length < 0) return length;
  *packet = (struct csystem_packet){.length = (size_t)length,
                                    .interface = (unsigned int)sender.sll_ifindex,
                                    .protocol = ntohs(sender.sll_protocol),
                                    .is_outgoing = sender.sll_pkttype == PACKET_OUTGOING,
                                    .is_to_this_host = sender.sll_pkttype == PACKET_HOST};
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    struct tpacket_auxdata data;
    if (header->cmsg_level != SOL_PACKET || header->cmsg_type != PACKET_AUXDATA) continue;
    if (header->cmsg_len < CMSG_LEN(sizeof data)) continue;
    memcpy(&data, CMSG_DATA(header), sizeof data);
    packet->is_checked = (data.tp_status & (TP_STATUS_CSUMNOTREADY | TP_STATUS_CSUM_VALID)) != 0;
  }
  return (size_t)length < size ? length : (ssize_t)size;
}

unsigned int csystem_lost_packets(int socket) {
  struct tpacket_stats statistics = {0};
  socklen_t length = sizeof statistics;
  if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) != 0) return 0;
  return statistics.tp_drops;
}

int csystem_clock_is_kept(void) {
  struct timex request = {.modes = 0};
  int state = adjtimex(&request);
  if (state < 0) return -1;
  return state != TIME_ERROR && !(request.status & STA_UNSYNC);
}

long long csystem_changed(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (long long)status.st_mtim.tv_sec : 0;
}
#endif

unsigned int csystem_forks;

// How many threads work, and how many are in fork(2).
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static unsigned int working, forking;
// Of the calling thread: whether it works, and whether it did when it began to fork.
static _Thread_local bool is_working, has_worked;

void csystem_begin_work(void) {
  pthread_mutex_lock(&gate);
  while (forking > 0) pthread_cond_wait(&gate_changed, &gate);
  working++;
  pthread_mutex_unlock(&gate);
  is_working = true;
}

bool csystem_end_work(void) {
  if (!is_working) return false;
  is_working = false;
  pthread_mutex_lock(&gate);
  if (--working == 0 && forking > 0) pthread_cond_broadcast(&gate_changed);
  pthread_mutex_unlock(&gate);
  return true;
}

static void fork_begins(void) {
  has_worked = csystem_end_work();
  // A thread that works may need what the calling thread holds: then fork(2) goes on without it.
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec++;
  pthread_mutex_lock(&gate);
  forking++;
  while (working > 0 && pthread_cond_timedwait(&gate_changed, &gate, &limit) == 0) continue;
  pthread_mutex_unlock(&gate);
}

static void fork_ends(void) {
  pthread_mutex_lock(&gate);
  forking--;
  pthread_cond_broadcast(&gate_changed);
  pthread_mutex_unlock(&gate);
  if (has_worked) csystem_begin_work();
}

// The child has none of the other threads.
static void child_begins(void) {
  gate = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  gate_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  working = forking = 0;
  __atomic_fetch_add(&csystem_forks, 1, __ATOMIC_RELAXED);
  if (has_worked) csystem_begin_work();
}

// Before main, there is nobody to tell of a failure for lack of memory, and there is plenty.
__attribute__((constructor)) static void watch_forks(void) {
  (void)pthread_atfork(fork_begins, fork_ends, child_begins);
}

static int argument_count;
static char **arguments;

#if defined(__GLIBC__)
// glibc calls constructors with the arguments of main (elf/dl-init.c). Another libc passes none.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  argument_count = argc;
  arguments = argv;
}
#endif

char **csystem_arguments(int *count) {
  *count = argument_count;
  return arguments;
}
