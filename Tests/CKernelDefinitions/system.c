// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/sockios.h>

#include "list.inc"

const struct kernel_definition *system_kernel_definitions(int *count) {
  *count = sizeof definitions / sizeof *definitions;
  return definitions;
}
#endif
