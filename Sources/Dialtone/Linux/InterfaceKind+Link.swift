// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension InterfaceKind {
  /// What decides if the kernel's message alone does not.
  struct Evidence: Equatable, Sendable {
    /// nl80211 knows the interface.
    var isWireless = false
    /// DEVTYPE of its uevent (`wlan`, `wwan`, …), if sysfs shows this namespace's interface; otherwise
    /// ``deviceType(driver:firmware:)``.
    var deviceType: String?

    /// Returns what DEVTYPE would be by what the driver says of itself (ETHTOOL_GDRVINFO), if sysfs cannot be asked.
    ///
    /// The drivers of USB modems set DEVTYPE to `wwan`. As the version of the firmware they give a description of the
    /// device, in 31 bytes (drivers/net/usb, `driver_info` with FLAG_WWAN; usbnet.c, usbnet_get_drvinfo).
    static func deviceType(driver: String, firmware: String) -> String? {
      switch firmware {
      case "Mobile Broadband Network Device", "CDC MBIM", "WWAN/QMI device", "Huawei CDC NCM device",
        "Sierra Wireless USB-to-WWAN Mod", "LG VL600 modem", "Samsung Kalmia LTE USB dongle":
        "wwan"
      default: driver == "hso" ? "wwan" : nil
      }
    }
  }

  /// What a link is by itself. Names prove nothing and are not looked at.
  ///
  /// The first that answers decides: the kind of a virtual link (IFLA_INFO_KIND), the hardware type (ARPHRD_…,
  /// linux/if_arp.h), nl80211, DEVTYPE.
  ///
  /// - Parameters:
  ///   - message: The kernel's message about the link.
  ///   - evidence: Called only if it is needed.
  init(_ message: LinkMessage, evidence: () -> Evidence) {
    if message.flags.contains(.loopback) || message.deviceType == .loopback {
      self = .loopback
      return
    }
    if let infoKind = message.infoKind {
      self = Self.virtual(infoKind, message.deviceType, evidence)
      return
    }
    switch message.deviceType {
    case .rawIP, DeviceType(rawValue: 530): self = .cellular  // ARPHRD_RAWIP, and the number some modems used before it
    case .ethernet, .infiniband: self = Self.hardware(evidence())
    case .ppp, .none: self = evidence().deviceType == "wwan" ? .cellular : .tunnel
    case .tunnel, .tunnel6, .sit, .gre, .gre6: self = .tunnel
    default: self = .other  // monitor devices of Wi-Fi (801 to 803), CAN, netlink monitors
    }
  }

  private static func virtual(
    _ infoKind: String, _ deviceType: DeviceType, _ evidence: () -> Evidence
  ) -> InterfaceKind {
    switch infoKind {
    case "veth", "netkit", "hsr", "ipoib", "netdevsim": .wired
    case "tun": deviceType == .ethernet ? .wired : .tunnel  // a tap is Ethernet
    case "wwan", "rmnet": .cellular
    case "virt_wifi": .wifi
    case "ppp": evidence().deviceType == "wwan" ? .cellular : .tunnel
    case "wireguard", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan", "ipip", "ip6tnl", "sit", "vti",
      "vti6",
      "xfrm", "vxlan", "geneve", "bareudp", "ovpn", "gtp", "amt", "pfcp":
      .tunnel
    default: .other  // dummy, ifb, vrf, nlmon, vcan; for bridges and the like see LinkTable.kind
    }
  }

  private static func hardware(_ evidence: Evidence) -> InterfaceKind {
    if evidence.isWireless { return .wifi }
    return switch evidence.deviceType {
    case "wlan": .wifi
    case "wwan": .cellular
    default: .wired
    }
  }
}
