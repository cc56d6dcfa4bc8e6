// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A link as one message describes it (`RTM_NEWLINK`, `RTM_DELLINK`; `struct ifinfomsg`; rtnetlink(7)).
package struct LinkMessage: Hashable, Sendable {
  package static let headerByteCount = 16
  /// `RTEXT_FILTER_SKIP_STATS` (linux/rtnetlink.h): leaves out the counters, half of the message.
  static let skipStatistics: UInt32 = 1 << 3

  /// Attributes of a link (`IFLA_…`, linux/if_link.h).
  package enum Attribute {
    package static let address: UInt16 = 1
    package static let name: UInt16 = 3
    package static let mtu: UInt16 = 4
    package static let link: UInt16 = 5
    package static let master: UInt16 = 10
    package static let operationalState: UInt16 = 16
    static let linkInfo: UInt16 = 18
    package static let group: UInt16 = 27
    static let extendedMask: UInt16 = 29
    package static let linkNamespaceID: UInt16 = 37
    package static let properties: UInt16 = 52
    /// `IFLA_ALT_IFNAME`, inside `IFLA_PROP_LIST`.
    static let alternativeName: UInt16 = 53
  }

  /// Attributes inside `IFLA_LINKINFO`.
  package enum InfoAttribute {
    package static let kind: UInt16 = 1
    package static let data: UInt16 = 2
    /// `IFLA_BOND_ACTIVE_SLAVE`, inside the data of a bond.
    package static let bondActiveSlave: UInt16 = 2
  }

  /// `unspecified` in messages about the link itself; `bridge` in those about a bridge's port.
  package let family: KernelAddressFamily
  package let deviceType: DeviceType
  package let index: UInt32
  package let flags: LinkFlags
  package private(set) var name: String?
  /// Further names by which the kernel finds the link (`altname` of ip-link(8)), in the kernel's order.
  package private(set) var alternativeNames: [String] = []
  package private(set) var hardwareAddress: [UInt8]?
  package private(set) var operationalState: OperationalState?
  /// The link below a VLAN or macvlan, or the other end of a veth. If `linkNamespaceID` is set, it is in that
  /// namespace.
  package private(set) var lower: UInt32?
  package private(set) var linkNamespaceID: Int32?
  /// The bridge, bond or VRF the link belongs to.
  package private(set) var master: UInt32?
  /// `veth`, `bridge`, `wireguard` and so on; hardware has none.
  package private(set) var infoKind: String?
  /// The largest packet that the link takes, in bytes.
  package private(set) var mtu: UInt32?
  package private(set) var bondActiveSlave: UInt32?
  /// The group that rules may name (`suppress_ifgroup` of ip-rule(8)).
  package private(set) var group: UInt32 = 0

  /// Whether the message describes the whole link. Messages about a bridge's port and wireless events lack most
  /// attributes, and absence in them means nothing.
  package var isSnapshot: Bool { family == .unspecified && name != nil && operationalState != nil }

  /// - Returns: `nil` if the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    guard message.type == .newLink || message.type == .deleteLink,
      let range = message.attributes(after: Self.headerByteCount), bytes.contains(message.body),
      let family: UInt8 = bytes.integer(at: message.body.lowerBound),
      let deviceType: UInt16 = bytes.integer(at: message.body.lowerBound + 2),
      let index: UInt32 = bytes.integer(at: message.body.lowerBound + 4),
      let flags: UInt32 = bytes.integer(at: message.body.lowerBound + 8)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    self.deviceType = DeviceType(rawValue: deviceType)
    self.index = index
    self.flags = LinkFlags(rawValue: flags)
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      guard read(attribute, in: bytes) else { return nil }
    }
    if attributes.isMalformed { return nil }
  }

  /// - Returns: whether the attribute is unknown or has the size it must have.
  private mutating func read(_ attribute: NetlinkAttribute, in bytes: RawSpan) -> Bool {
    let payload = attribute.payload
    switch attribute.type {
    case Attribute.address: return hardwareAddress.takeIn(bytes.array(in: payload))
    // IFNAMSIZ, linux/if.h.
    case Attribute.name: return name.takeIn(bytes.string(in: payload, limit: 16))
    // Only an explanation reads it, so that one of another size makes no message malformed.
    case Attribute.mtu: mtu = bytes.integer(in: payload)
    case Attribute.link: return lower.takeIn(bytes.integer(in: payload))
    case Attribute.master: return master.takeIn(bytes.integer(in: payload))
    case Attribute.operationalState:
      return operationalState.takeIn(bytes.integer(in: payload).map(OperationalState.init(rawValue:)))
    case Attribute.linkInfo: return readInfo(payload, in: bytes)
    case Attribute.group:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      group = value
    case Attribute.linkNamespaceID: return linkNamespaceID.takeIn(bytes.integer(in: payload))
    case Attribute.properties: return readProperties(payload, in: bytes)
    default: break
    }
    return true
  }

  private mutating func readProperties(_ range: Range<Int>, in bytes: RawSpan) -> Bool {
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      guard attribute.type == Attribute.alternativeName else { continue }
      // ALTIFNAMSIZ, linux/if.h.
      guard let name = bytes.string(in: attribute.payload, limit: 128) else { return false }
      alternativeNames.append(name)
    }
    return !attributes.isMalformed
  }

  private mutating func readInfo(_ range: Range<Int>, in bytes: RawSpan) -> Bool {
    var attributes = NetlinkAttributeCursor(range)
    var data: Range<Int>?
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case InfoAttribute.kind: infoKind = bytes.string(in: attribute.payload)
      case InfoAttribute.data: data = attribute.payload
      default: break
      }
    }
    if attributes.isMalformed { return false }
    // What the data means depends on the kind: other kinds number their attributes differently.
    guard infoKind == "bond", let data else { return true }
    attributes = NetlinkAttributeCursor(data)
    while let attribute = attributes.next(in: bytes) {
      guard attribute.type == InfoAttribute.bondActiveSlave else { continue }
      if !bondActiveSlave.takeIn(bytes.integer(in: attribute.payload)) { return false }
    }
    return !attributes.isMalformed
  }
}

/// The flags of a link (`ifi_flags`; `enum net_device_flags`, linux/if.h; netdevice(7)).
package struct LinkFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Switched on by an administrator. Says nothing about a carrier.
  package static let up = Self(rawValue: 1 << 0)
  package static let loopback = Self(rawValue: 1 << 3)
  package static let pointToPoint = Self(rawValue: 1 << 4)
  /// The driver signals a carrier.
  package static let lowerUp = Self(rawValue: 1 << 16)
}

/// What hardware a link imitates (`ifi_type`; `ARPHRD_…`, linux/if_arp.h).
package struct DeviceType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let ethernet = Self(rawValue: 1)
  package static let infiniband = Self(rawValue: 32)
  package static let ppp = Self(rawValue: 512)
  /// A modem that carries bare IP packets, such as some from Qualcomm.
  package static let rawIP = Self(rawValue: 519)
  package static let tunnel = Self(rawValue: 768)
  package static let tunnel6 = Self(rawValue: 769)
  package static let loopback = Self(rawValue: 772)
  package static let sit = Self(rawValue: 776)
  package static let gre = Self(rawValue: 778)
  package static let gre6 = Self(rawValue: 823)
  /// No link layer at all: tun, wireguard, wwan.
  package static let none = Self(rawValue: 0xfffe)
}

/// The operational state of a link (`IFLA_OPERSTATE`; RFC 2863; linux/if.h).
package struct OperationalState: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The driver does not say; loopback, tunnels and modems that are up stay here.
  package static let unknown = Self(rawValue: 0)
  package static let down = Self(rawValue: 2)
  /// A test is under way, such as one of the cable. It is not for packets until that ends (operstates.rst of Linux).
  package static let testing = Self(rawValue: 4)
  /// Waits for something outside, such as authentication (IEEE 802.1X) or traffic.
  package static let dormant = Self(rawValue: 5)
  package static let up = Self(rawValue: 6)
}
