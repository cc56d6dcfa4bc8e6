// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetworkLab.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static socklen_t fill(struct sockaddr_storage *address, const uint8_t *bytes, bool v6, uint16_t port, uint32_t scope) {
  memset(address, 0, sizeof *address);
  if (v6) {
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    six->sin6_scope_id = scope;
    memcpy(&six->sin6_addr, bytes, 16);
    return sizeof *six;
  }
  struct sockaddr_in *four = (struct sockaddr_in *)address;
  four->sin_family = AF_INET;
  four->sin_port = htons(port);
  memcpy(&four->sin_addr, bytes, 4);
  return sizeof *four;
}

int lab_connect(const struct lab_connect *how, struct lab_connected *found) {
  int type = (how->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
  int fd = socket(how->v6 ? AF_INET6 : AF_INET, type, 0);
  if (fd < 0) return -errno;
  memset(found, 0, sizeof *found);
  struct sockaddr_storage address;
  socklen_t length;
  int result = 0;

  if (how->interface != NULL) {
    const socklen_t length = (socklen_t)strlen(how->interface);
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, how->interface, length) != 0) goto failed;
  }
  if (how->mark != 0) {
    if (setsockopt(fd, SOL_SOCKET, SO_MARK, &how->mark, sizeof how->mark) != 0) goto failed;
  }
  if (how->tos != 0) {
    int level = how->v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (setsockopt(fd, level, how->v6 ? IPV6_TCLASS : IP_TOS, &how->tos, sizeof how->tos) != 0) goto failed;
  }
  if (how->udp && !how->v6) {
    // Without it, connect(2) refuses broadcast addresses, whatever the routes are.
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) != 0) goto failed;
  }
  if (how->silent) {
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) != 0) goto failed;
    // Without a cookie of the other end, TCP would send a segment to ask for one.
    if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &on, sizeof on) != 0) goto failed;
  }
  if (how->has_source || how->source_port != 0) {
    length = fill(&address, how->source, how->v6, how->source_port, how->scope);
    if (bind(fd, (struct sockaddr *)&address, length) != 0) goto judged;
  }
  length = fill(&address, how->destination, how->v6, how->port, how->scope);
  if (connect(fd, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS) goto judged;
  length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) goto failed;
  if (how->v6) {
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;
    memcpy(found->local, &six->sin6_addr, 16);
    found->local_port = ntohs(six->sin6_port);
  } else {
    struct sockaddr_in *four = (struct sockaddr_in *)&address;
    memcpy(found->local, &four->sin_addr, 4);
    found->local_port = ntohs(four->sin_port);
  }
  length = sizeof found->error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &found->error, &length) != 0) goto failed;
  close(fd);
  return 0;

judged:
  found->error = errno;
  close(fd);
  return 0;

failed:
  result = -errno;
  close(fd);
  return result;
}

#endif
