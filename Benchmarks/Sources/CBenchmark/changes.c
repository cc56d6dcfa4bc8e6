// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CBenchmark.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
  struct nlmsghdr header;
  char body[240];
};

static void begin(struct request *request, uint16_t type, uint16_t flags, const void *body, size_t size) {
  memset(request, 0, sizeof *request);
  request->header.nlmsg_len = NLMSG_LENGTH(size);
  request->header.nlmsg_type = type;
  request->header.nlmsg_flags = NLM_F_REQUEST | flags;
  memcpy(NLMSG_DATA(&request->header), body, size);
}

static struct rtattr *append(struct request *request, uint16_t type, const void *value, size_t size) {
  struct rtattr *attribute = (void *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
  attribute->rta_type = type;
  attribute->rta_len = RTA_LENGTH(size);
  if (size > 0) memcpy(RTA_DATA(attribute), value, size);
  request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
  return attribute;
}

static void end(struct request *request, struct rtattr *nest) {
  nest->rta_len = (char *)request + request->header.nlmsg_len - (char *)nest;
}

// Sends it, and returns what the kernel acknowledges.
static int perform(int socket, struct request *request) {
  request->header.nlmsg_flags |= NLM_F_ACK;
  if (send(socket, request, request->header.nlmsg_len, 0) < 0) return -errno;
  char answer[8192];
  for (;;) {
    ssize_t count = recv(socket, answer, sizeof answer, 0);
    if (count < 0) return -errno;
    struct nlmsghdr *header = (void *)answer;
    if (header->nlmsg_type == NLMSG_ERROR) return ((struct nlmsgerr *)NLMSG_DATA(header))->error;
  }
}

int bench_open(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  struct sockaddr_nl address = {.nl_family = AF_NETLINK};
  if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  if (fd >= 0) close(fd);
  return -error;
}

static void fill(struct request *request, int is_added, const struct bench_route *route, uint32_t prefix) {
  struct rtmsg body = {.rtm_family = AF_INET, .rtm_dst_len = route->length, .rtm_protocol = RTPROT_STATIC,
                       .rtm_type = RTN_UNICAST, .rtm_scope = route->gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK};
  uint32_t table = route->table ? route->table : RT_TABLE_MAIN;
  begin(request, is_added ? RTM_NEWROUTE : RTM_DELROUTE, is_added ? NLM_F_CREATE | NLM_F_REPLACE : 0, &body,
        sizeof body);
  append(request, RTA_TABLE, &table, 4);
  uint32_t destination = htonl(prefix), gateway = htonl(route->gateway);
  if (route->length > 0) append(request, RTA_DST, &destination, 4);
  if (route->gateway != 0) append(request, RTA_GATEWAY, &gateway, 4);
  if (route->metric != 0) append(request, RTA_PRIORITY, &route->metric, 4);
  append(request, RTA_OIF, &route->interface, 4);
}

int bench_set_route(int socket, int is_added, const struct bench_route *route) {
  struct request request;
  fill(&request, is_added, route, route->prefix);
  return perform(socket, &request);
}

int bench_set_routes(int socket, int is_added, const struct bench_route *first, uint32_t count) {
  // As many as one send may carry; the kernel performs them before it returns.
  enum { size = 64 * 1024 };
  char *bytes = malloc(size);
  if (bytes == NULL) return -ENOMEM;
  uint32_t step = first->length > 0 ? 1u << (32 - first->length) : 0, done = 0;
  int result = 0;
  while (done < count && result == 0) {
    size_t used = 0;
    while (done < count && used + sizeof(struct request) <= size) {
      struct request request;
      fill(&request, is_added, first, first->prefix + done * step);
      done++;
      size_t end = used + NLMSG_ALIGN(request.header.nlmsg_len);
      if (done == count || end + sizeof request > size) request.header.nlmsg_flags |= NLM_F_ACK;
      memcpy(bytes + used, &request, request.header.nlmsg_len);
      used = end;
    }
    if (send(socket, bytes, used, 0) < 0) result = -errno;
    char answer[8192];
    // An error of an earlier one comes first, and ends this. Only the last asks for an acknowledgement.
    if (result == 0 && recv(socket, answer, sizeof answer, 0) < 0) result = -errno;
    if (result == 0) result = ((struct nlmsgerr *)NLMSG_DATA((struct nlmsghdr *)answer))->error;
  }
  free(bytes);
  return result;
}

int bench_set_address(int socket, int is_added, uint32_t interface, uint32_t address, uint32_t length) {
  struct ifaddrmsg body = {.ifa_family = AF_INET, .ifa_prefixlen = length, .ifa_index = interface};
  uint32_t value = htonl(address);
  struct request request;
  begin(&request, is_added ? RTM_NEWADDR : RTM_DELADDR, is_added ? NLM_F_CREATE | NLM_F_REPLACE : 0, &body,
        sizeof body);
  append(&request, IFA_LOCAL, &value, 4);
  append(&request, IFA_ADDRESS, &value, 4);
  return perform(socket, &request);
}

static int add_link(int socket, const char *name, const char *kind) {
  struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
  struct request request;
  begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
  append(&request, IFLA_IFNAME, name, strlen(name) + 1);
  struct rtattr *information = append(&request, IFLA_LINKINFO, NULL, 0);
  append(&request, IFLA_INFO_KIND, kind, strlen(kind));
  end(&request, information);
  return perform(socket, &request);
}

int bench_add_link(int socket, const char *name) {
  int error = add_link(socket, name, "dummy");
  return error == -EOPNOTSUPP ? add_link(socket, name, "ifb") : error;
}

int bench_delete_link(int socket, uint32_t interface) {
  struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = (int)interface};
  struct request request;
  begin(&request, RTM_DELLINK, 0, &body, sizeof body);
  return perform(socket, &request);
}

int bench_set_up(int socket, uint32_t interface, int is_up) {
  struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = (int)interface, .ifi_flags = is_up ? IFF_UP : 0,
                           .ifi_change = IFF_UP};
  struct request request;
  begin(&request, RTM_NEWLINK, 0, &body, sizeof body);
  return perform(socket, &request);
}

int bench_set_queue_length(int socket, uint32_t interface, uint32_t length) {
  struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = (int)interface};
  struct request request;
  begin(&request, RTM_NEWLINK, 0, &body, sizeof body);
  append(&request, IFLA_TXQLEN, &length, 4);
  return perform(socket, &request);
}

uint32_t bench_interface(const char *name) { return if_nametoindex(name); }

static size_t query(struct request *request, uint32_t destination, uint32_t flags) {
  struct rtmsg body = {.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = flags};
  uint32_t value = htonl(destination);
  begin(request, RTM_GETROUTE, 0, &body, sizeof body);
  append(request, RTA_DST, &value, 4);
  return request->header.nlmsg_len;
}

// Returns whether an answer is a route: an error is quick, and would measure nothing.
static int is_route(int socket) {
  char answer[4096];
  ssize_t count = recv(socket, answer, sizeof answer, 0);
  if (count < 0) return -errno;
  return ((struct nlmsghdr *)answer)->nlmsg_type == RTM_NEWROUTE ? 0 : -ENETUNREACH;
}

int bench_ask(int socket) {
  struct request request;
  size_t length = query(&request, INADDR_LOOPBACK, 0);
  if (send(socket, &request, length, 0) < 0) return -errno;
  return is_route(socket);
}

int bench_ask_twice(int socket) {
  struct request first, second;
  size_t length = query(&first, INADDR_LOOPBACK, RTM_F_FIB_MATCH);
  query(&second, INADDR_LOOPBACK, 0);
  char bytes[2 * sizeof first];
  memcpy(bytes, &first, length);
  memcpy(bytes + length, &second, length);
  if (send(socket, bytes, 2 * length, 0) < 0) return -errno;
  int result = is_route(socket);
  return result ? result : is_route(socket);
}
