// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#include "CNetworkLab.h"

#if defined(__linux__)
#include <linux/if_packet.h>

int lab_send_frame(int index, const uint8_t *frame, size_t length) {
  int packets = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (packets < 0) return -errno;
  struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_ifindex = index, .sll_halen = 6};
  ssize_t sent = sendto(packets, frame, length, 0, (struct sockaddr *)&link, sizeof link);
  int result = sent < 0 ? -errno : 0;
  close(packets);
  return result;
}
#endif
