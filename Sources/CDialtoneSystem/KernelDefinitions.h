// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// The few definitions of the kernel that Dialtone needs beyond libc's, for systems whose kernel headers are not
// installed, such as the static SDK for musl. They are the kernel's binary interface, which does not change. Sources:
// netlink(7), packet(7), ip(7), futex(2), netdevice(7). A test compares each with the kernel's headers.
//
// `Netlink` declares the constants of its messages itself (Sources/Dialtone/Netlink, Wire and Route).
#ifndef CSYSTEM_KERNEL_DEFINITIONS_H
#define CSYSTEM_KERNEL_DEFINITIONS_H

#include <stdint.h>
#include <sys/socket.h>

// linux/netlink.h
#define NETLINK_ROUTE 0
#define NETLINK_GENERIC 16

#define NETLINK_ADD_MEMBERSHIP 1
#define NETLINK_DROP_MEMBERSHIP 2
#define NETLINK_CAP_ACK 10
#define NETLINK_EXT_ACK 11
#define NETLINK_GET_STRICT_CHK 12

struct sockaddr_nl {
  sa_family_t nl_family;
  unsigned short nl_pad;
  uint32_t nl_pid;
  uint32_t nl_groups;
};

// linux/filter.h
struct sock_filter {
  uint16_t code;
  uint8_t jt;
  uint8_t jf;
  uint32_t k;
};

struct sock_fprog {
  unsigned short len;
  struct sock_filter *filter;
};

// linux/errqueue.h
struct sock_extended_err {
  uint32_t ee_errno;
  uint8_t ee_origin;
  uint8_t ee_type;
  uint8_t ee_code;
  uint8_t ee_pad;
  uint32_t ee_info;
  uint32_t ee_data;
};

#define SO_EE_ORIGIN_ICMP 2
#define SO_EE_ORIGIN_ICMP6 3

// linux/futex.h
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

// linux/sockios.h and linux/ethtool.h
#define SIOCETHTOOL 0x8946
#define ETHTOOL_GSET 0x00000001
#define ETHTOOL_GDRVINFO 0x00000003
#define SPEED_UNKNOWN -1
#define DUPLEX_HALF 0x00
#define DUPLEX_FULL 0x01

struct ethtool_cmd {
  uint32_t cmd;
  uint32_t supported;
  uint32_t advertising;
  uint16_t speed;
  uint8_t duplex;
  uint8_t port;
  uint8_t phy_address;
  uint8_t transceiver;
  uint8_t autoneg;
  uint8_t mdio_support;
  uint32_t maxtxpkt;
  uint32_t maxrxpkt;
  uint16_t speed_hi;
  uint8_t eth_tp_mdix;
  uint8_t eth_tp_mdix_ctrl;
  uint32_t lp_advertising;
  uint32_t reserved[2];
};

static inline uint32_t ethtool_cmd_speed(const struct ethtool_cmd *command) {
  return (uint32_t)command->speed_hi << 16 | command->speed;
}

struct ethtool_drvinfo {
  uint32_t cmd;
  char driver[32];
  char version[32];
  char fw_version[32];
  char bus_info[32];
  char erom_version[32];
  char reserved2[12];
  uint32_t n_priv_flags;
  uint32_t n_stats;
  uint32_t testinfo_len;
  uint32_t eedump_len;
  uint32_t regdump_len;
};

// linux/if_packet.h
struct tpacket_stats {
  uint32_t tp_packets;
  uint32_t tp_drops;
};

struct tpacket_auxdata {
  uint32_t tp_status;
  uint32_t tp_len;
  uint32_t tp_snaplen;
  uint16_t tp_mac;
  uint16_t tp_net;
  uint16_t tp_vlan_tci;
  uint16_t tp_vlan_tpid;
};

#define TP_STATUS_CSUMNOTREADY (1 << 3)
#define TP_STATUS_CSUM_VALID (1 << 7)

#endif
