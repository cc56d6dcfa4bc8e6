// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CBenchmark.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// An address that stands for the Internet, as in Dialtone: one of a.root-servers.net. Nothing is sent to it.
enum { root_server = 0xC6290004 };

static int listener, queries;
static void (*tell)(int is_reachable);

static int open_listener(int flags) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE);
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_ROUTE};
  int size = 1 << 20;
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return -errno;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  return fd;
}

static void *watch_bare(void *nothing) {
  char bytes[32 * 1024];
  for (;;) {
    ssize_t count = recv(listener, bytes, sizeof bytes, 0);
    if (count < 0 && errno == ENOBUFS) continue;
    if (count < 0) return nothing;
    for (struct nlmsghdr *header = (void *)bytes; NLMSG_OK(header, count); header = NLMSG_NEXT(header, count)) {
      struct rtmsg *route = NLMSG_DATA(header);
      if (route->rtm_dst_len == 0) tell(header->nlmsg_type == RTM_NEWROUTE);
    }
  }
}

static int start(void *(*body)(void *)) {
  pthread_t thread;
  return -pthread_create(&thread, NULL, body, NULL);
}

int bench_watch_bare(void (*told)(int is_reachable)) {
  tell = told;
  listener = open_listener(0);
  return listener < 0 ? listener : start(watch_bare);
}

// What is sent for one destination: a request for a link that does not exist, which waits for the kernel's lock of
// network configuration, then the route as it is configured, and the route as it is chosen.
struct barrier {
  struct nlmsghdr header;
  struct ifinfomsg body;
};

struct query {
  struct nlmsghdr header;
  struct rtmsg body;
  struct rtattr destination;
  uint32_t address;
  struct rtattr protocol;
  uint32_t value;
};

static struct {
  struct barrier barrier;
  struct query match, plain;
} batch;

static struct query make_query(uint32_t flags) {
  return (struct query){
      .header = {.nlmsg_len = sizeof(struct query), .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
      .body = {.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = flags},
      .destination = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_DST},
      .address = htonl(root_server),
      .protocol = {.rta_len = RTA_LENGTH(1), .rta_type = RTA_IP_PROTO},
      .value = IPPROTO_TCP};
}

// Reads all messages that wait. Returns whether one is about a route that covers the destination.
static int drain(void) {
  static char bytes[32 * 1024];
  int is_touched = 0;
  for (;;) {
    struct sockaddr_nl sender;
    struct iovec vector = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &vector, .msg_iovlen = 1};
    ssize_t count = recvmsg(listener, &message, MSG_DONTWAIT);
    if (count < 0 && errno == ENOBUFS) {
      is_touched = 1;
      continue;
    }
    if (count < 0) return is_touched;
    if (sender.nl_pid != 0) continue;
    for (struct nlmsghdr *header = (void *)bytes; NLMSG_OK(header, count); header = NLMSG_NEXT(header, count)) {
      struct rtmsg *route = NLMSG_DATA(header);
      uint32_t prefix = 0;
      int length = RTM_PAYLOAD(header);
      for (struct rtattr *it = RTM_RTA(route); RTA_OK(it, length); it = RTA_NEXT(it, length))
        if (it->rta_type == RTA_DST) memcpy(&prefix, RTA_DATA(it), 4);
      uint32_t mask = route->rtm_dst_len ? ~0u << (32 - route->rtm_dst_len) : 0;
      if ((ntohl(prefix) & mask) == (root_server & mask)) is_touched = 1;
    }
  }
}

// Asks whether there is a route whose link works, and a source.
static int ask(void) {
  static char bytes[3][4096];
  static uint32_t number;
  batch.barrier.header.nlmsg_seq = ++number;
  batch.match.header.nlmsg_seq = ++number;
  batch.plain.header.nlmsg_seq = ++number;
  if (send(queries, &batch, sizeof batch, 0) < 0) return 0;
  int is_usable = 0, has_source = 0, missing = 3;
  while (missing > 0) {
    struct iovec vectors[3];
    struct mmsghdr messages[3] = {0};
    for (int i = 0; i < missing; i++) {
      vectors[i] = (struct iovec){.iov_base = bytes[i], .iov_len = sizeof bytes[i]};
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    int count = recvmmsg(queries, messages, missing, MSG_DONTWAIT, NULL);
    if (count <= 0) return 0;
    for (int i = 0; i < count; i++) {
      struct nlmsghdr *header = (void *)bytes[i];
      if (header->nlmsg_type != RTM_NEWROUTE) continue;
      struct rtmsg *route = NLMSG_DATA(header);
      int length = RTM_PAYLOAD(header);
      int is_match = header->nlmsg_seq == number - 1;
      if (is_match) is_usable = !(route->rtm_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) && route->rtm_type == RTN_UNICAST;
      for (struct rtattr *it = RTM_RTA(route); RTA_OK(it, length); it = RTA_NEXT(it, length))
        if (!is_match && it->rta_type == RTA_PREFSRC) has_source = 1;
    }
    missing -= count;
  }
  return is_usable && has_source;
}

static void *watch_alike(void *nothing) {
  int poll = *(int *)nothing, last = -1;
  for (;;) {
    int is_touched = last < 0;
    if (drain()) is_touched = 1;
    while (is_touched) {
      int state = ask();
      is_touched = drain();
      if (is_touched || state == last) continue;
      last = state;
      tell(state);
    }
    struct epoll_event event;
    if (epoll_wait(poll, &event, 1, -1) < 0 && errno != EINTR) return NULL;
  }
}

int bench_watch_alike(void (*told)(int is_reachable)) {
  static int poll;
  tell = told;
  listener = open_listener(SOCK_NONBLOCK);
  queries = bench_open();
  poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  if (listener < 0 || queries < 0 || poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) != 0) return -errno;
  int on = 1;
  setsockopt(queries, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(queries, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  batch.barrier.header = (struct nlmsghdr){
      .nlmsg_len = sizeof batch.barrier, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST};
  batch.barrier.body.ifi_index = INT32_MAX;
  batch.match = make_query(RTM_F_FIB_MATCH);
  batch.plain = make_query(0);
  pthread_t thread;
  return -pthread_create(&thread, NULL, watch_alike, &poll);
}
