// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// Below the least send buffer of a netlink socket (net.core.wmem_default).
enum { CHUNK = 96 * 1024 };

static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

int lab_netlink_open(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  // Capped acknowledgements do not repeat the request; extended ones carry the kernel's words.
  int on = 1;
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  // The kernel answers much sooner. If it does not, an error is better than a test that hangs.
  struct timeval limit = {.tv_sec = 60};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (bind(fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}

static int send_all(int fd, const void *bytes, size_t length) {
  ssize_t sent;
  do sent = sendto(fd, bytes, length, 0, (const struct sockaddr *)&kernel, sizeof kernel);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : (size_t)sent == length ? 0 : -EIO;
}

static void copy_words(const struct nlmsghdr *header, char *text, size_t capacity) {
  if (!text || capacity == 0 || !(header->nlmsg_flags & NLM_F_ACK_TLVS)) return;
  size_t offset = NLMSG_LENGTH(sizeof(struct nlmsgerr));
  const struct nlmsgerr *answer = NLMSG_DATA(header);
  // An error that is not capped repeats the whole request between its header and the attributes.
  if (!(header->nlmsg_flags & NLM_F_CAPPED)) offset += NLMSG_ALIGN(answer->msg.nlmsg_len) - sizeof answer->msg;
  while (offset + sizeof(struct nlattr) <= header->nlmsg_len) {
    const struct nlattr *attribute = (const void *)((const char *)header + offset);
    if (attribute->nla_len < sizeof *attribute || offset + attribute->nla_len > header->nlmsg_len) return;
    if (attribute->nla_type == NLMSGERR_ATTR_MSG)
      snprintf(text, capacity, "%.*s", (int)(attribute->nla_len - sizeof *attribute), (const char *)(attribute + 1));
    offset += NLA_ALIGN(attribute->nla_len);
  }
}

// Reads acknowledgements up to that of `sequence`. Returns the first error among them.
static int await_answer(int fd, uint32_t sequence, char *text, size_t capacity) {
  _Alignas(struct nlmsghdr) char buffer[16 * 1024];
  int first = 0;
  for (;;) {
    ssize_t count = recv(fd, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    unsigned left = (unsigned)count;
    struct nlmsghdr *header = (struct nlmsghdr *)buffer;
    for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type != NLMSG_ERROR) continue;
      int error = ((struct nlmsgerr *)NLMSG_DATA(header))->error;
      if (error != 0 && first == 0) {
        first = error;
        copy_words(header, text, capacity);
      }
      if (header->nlmsg_seq == sequence) return first;
    }
  }
}

int lab_netlink_request(int fd, const uint8_t *message, size_t length, char *text, size_t capacity) {
  struct nlmsghdr header;
  if (length < sizeof header) return -EINVAL;
  memcpy(&header, message, sizeof header);
  int result = send_all(fd, message, length);
  return result < 0 ? result : await_answer(fd, header.nlmsg_seq, text, capacity);
}

// Sends a buffer of whole messages. Asks for an acknowledgement of the last, and waits for it.
static int send_chunk(int fd, uint8_t *messages, size_t length, size_t last) {
  struct nlmsghdr header;
  memcpy(&header, messages + last, sizeof header);
  header.nlmsg_flags |= NLM_F_ACK;
  memcpy(messages + last, &header, sizeof header);
  int result = send_all(fd, messages, length);
  return result < 0 ? result : await_answer(fd, header.nlmsg_seq, NULL, 0);
}

int lab_netlink_batch(int fd, const uint8_t *messages, size_t length) {
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) return -ENOMEM;
  size_t used = 0, last = 0;
  int result = 0;
  for (size_t offset = 0; result == 0 && offset + sizeof(struct nlmsghdr) <= length;) {
    struct nlmsghdr header;
    memcpy(&header, messages + offset, sizeof header);
    size_t size = NLMSG_ALIGN(header.nlmsg_len);
    if (header.nlmsg_len < sizeof header || size > CHUNK || offset + size > length) result = -EINVAL;
    if (result == 0 && used + size > CHUNK) result = send_chunk(fd, chunk, used, last), used = 0;
    if (result != 0) break;
    memcpy(chunk + used, messages + offset, size);
    last = used, used += size, offset += size;
  }
  if (result == 0 && used > 0) result = send_chunk(fd, chunk, used, last);
  free(chunk);
  return result;
}

int lab_netlink_routes(int fd, uint16_t type, uint32_t first, uint8_t prefix, uint32_t count, int index,
                       uint32_t table) {
  struct route {
    struct nlmsghdr header;
    struct rtmsg body;
    struct rtattr destination_header;
    uint32_t destination;
    struct rtattr link_header;
    int32_t link;
    struct rtattr table_header;
    uint32_t table;
  } route = {
      .header = {.nlmsg_len = sizeof route, .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST},
      .body = {.rtm_family = AF_INET, .rtm_dst_len = prefix, .rtm_protocol = RTPROT_BOOT, .rtm_type = RTN_UNICAST,
               .rtm_scope = RT_SCOPE_LINK, .rtm_table = table < 256 ? (unsigned char)table : RT_TABLE_UNSPEC},
      .destination_header = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_DST},
      .link_header = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF},
      .link = index,
      .table_header = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_TABLE},
      .table = table,
  };
  if (type == RTM_NEWROUTE) route.header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
  if (prefix < 1 || prefix > 32) return -EINVAL;
  enum { AT_ONCE = CHUNK / sizeof route };
  struct route *chunk = malloc(sizeof route * AT_ONCE);
  if (!chunk) return -ENOMEM;
  int result = 0;
  for (uint32_t done = 0; result == 0 && done < count;) {
    uint32_t size = count - done < AT_ONCE ? count - done : AT_ONCE;
    for (uint32_t i = 0; i < size; i++) {
      chunk[i] = route;
      chunk[i].header.nlmsg_seq = done + i + 1;
      chunk[i].destination = htonl(first + ((done + i) << (32 - prefix)));
    }
    result = send_chunk(fd, (uint8_t *)chunk, size * sizeof route, (size - 1) * sizeof route);
    done += size;
  }
  free(chunk);
  return result;
}

int lab_netlink_send_to(int fd, uint32_t port, const uint8_t *bytes, size_t length) {
  struct sockaddr_nl target = {.nl_family = AF_NETLINK, .nl_pid = port};
  return sendto(fd, bytes, length, 0, (const struct sockaddr *)&target, sizeof target) < 0 ? -errno : 0;
}

int lab_interface_index(int fd, const char *name) {
  // Any socket takes this ioctl. The answer is that of the socket's namespace (netdevice(7)).
  struct ifreq request = {0};
  if (strlen(name) >= sizeof request.ifr_name) return -ENODEV;
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  return ioctl(fd, SIOCGIFINDEX, &request) != 0 ? -errno : request.ifr_ifindex;
}

int lab_wait_until_running(const char *name) {
  struct ifreq request = {0};
  if (strlen(name) >= sizeof request.ifr_name) return -ENODEV;
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  int fd = lab_netlink_open();
  if (fd < 0) return fd;
  int group = RTNLGRP_LINK, result = setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
  while (result == 0 && (result = ioctl(fd, SIOCGIFFLAGS, &request)) == 0 && !(request.ifr_flags & IFF_RUNNING)) {
    // No matter what has changed, the flags tell.
    char bytes[8192];
    ssize_t length = recv(fd, bytes, sizeof bytes, 0);
    if (length < 0 && errno != ENOBUFS && errno != EINTR) result = -1;
  }
  if (result != 0) result = -errno;
  close(fd);
  return result;
}

#endif
