// Kernel headers for the module Netlink. No logic here.
// Sources: linux/netlink.h, linux/rtnetlink.h and their companions; netlink(7), rtnetlink(7).
#ifndef CNETLINK_H
#define CNETLINK_H

#if defined(__linux__)
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

#endif
