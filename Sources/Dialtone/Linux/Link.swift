// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What counts of a link. Everything else in its messages (MTU, counters, queues) changes no answer.
///
/// An object, since tables, decisions and answers share it.
final class Link: Equatable, Sendable {
  let index: UInt32
  let name: InlineName
  /// Further names that the kernel finds the link by (`altname` of ip-link(8)).
  let alternativeNames: [LinkName]
  let deviceType: DeviceType
  let flags: LinkFlags
  let operationalState: OperationalState
  /// The bridge, bond or VRF that it is a port of.
  let master: UInt32?
  /// The link below it, in this namespace: that of a VLAN or macvlan. The peer of a veth is not below it.
  let lower: UInt32?
  let infoKind: String?
  /// What `infoKind` says of the links that it is made of. Kept, so that no text is compared when packets are asked
  /// about.
  let structure: Structure
  let bondActivePort: UInt32?
  /// Rules may pass over routes by links of a group (`suppress_ifgroup` of ip-rule(8)).
  let group: UInt32
  let hardwareAddress: [UInt8]
  /// Its own kind, without looking at the links below.
  let ownKind: InterfaceKind
  /// The number of the radio (wiphy of nl80211) that it uses itself.
  let radio: UInt32?
  /// Whether it is switched on (IFF_UP).
  let isUp: Bool
  /// Whether it waits for an external event, such as authentication or the end of a test (RFC 2863): there is a
  /// carrier, but nothing passes.
  let isDormant: Bool
  /// Whether it passes packets, as far as it knows. A device that does not tell its state counts if it has a carrier
  /// (Documentation/networking/operstates.rst of Linux). The flag of a lost carrier goes at once (IFF_LOWER_UP), the
  /// state only with the announcement, up to a second later (net/core/link_watch.c).
  let isOperating: Bool

  private static let significantFlags: LinkFlags = .up.union(.lowerUp).union(.loopback).union(.pointToPoint)

  /// Takes from a message what counts. Returns `nil` if the message is no snapshot of a whole link.
  init?(_ message: LinkMessage, kind: InterfaceKind, radio: UInt32? = nil) {
    guard message.isSnapshot, let name = message.name else { return nil }
    index = message.index
    // A name may be any bytes. Bytes that are no text take more room as text; no link is left out for that.
    self.name = InlineName(truncating: name)
    alternativeNames = message.alternativeNames.map { LinkName($0) }
    deviceType = message.deviceType
    flags = message.flags.intersection(Self.significantFlags)
    operationalState = message.operationalState ?? .unknown
    master = message.master
    infoKind = message.infoKind
    structure = Structure(message.infoKind)
    let isElsewhere = message.linkNamespaceID != nil
    lower = message.infoKind == "veth" || isElsewhere || message.lower == message.index ? nil : message.lower
    bondActivePort = message.bondActiveSlave
    group = message.group
    hardwareAddress = message.hardwareAddress ?? []
    ownKind = kind
    self.radio = radio
    isUp = flags.contains(.up)
    let hasCarrier = isUp && flags.contains(.lowerUp)
    isDormant = hasCarrier && (operationalState == .dormant || operationalState == .testing)
    isOperating = hasCarrier && (operationalState == .up || operationalState == .unknown)
  }

  /// Compares everything that is not made of the rest.
  static func == (first: Link, second: Link) -> Bool {
    first.index == second.index && first.name == second.name && first.flags == second.flags
      && first.operationalState == second.operationalState && first.deviceType == second.deviceType
      && first.master == second.master && first.lower == second.lower && first.group == second.group
      && first.bondActivePort == second.bondActivePort && first.radio == second.radio
      && first.ownKind == second.ownKind && first.infoKind == second.infoKind
      && first.alternativeNames == second.alternativeNames && first.hardwareAddress == second.hardwareAddress
  }

  /// Every name that the kernel finds the link by.
  var names: [LinkName] { [LinkName(name)] + alternativeNames }

  func isNamed(in names: Set<String>) -> Bool {
    !names.isEmpty && self.names.contains { names.contains($0.text) }
  }
}

extension Link {
  /// How a link is made of others.
  enum Structure: Sendable {
    /// Of none, as far as Dialtone looks through it.
    case single
    /// It has one lower link, whose packets it shares.
    case stacked
    /// So do its siblings, and they reach each other without the lower link.
    case shared
    /// It is made of ports, one of which carries its packets.
    case ports
    /// It is made of ports, and operates only if one of them does.
    case bridge

    /// `kind` is that of the kernel's driver (IFLA_INFO_KIND).
    init(_ kind: String?) {
      switch kind {
      case "vlan", "macsec": self = .stacked
      case "macvlan", "macvtap", "ipvlan", "ipvtap": self = .shared
      case "bond", "team": self = .ports
      case "bridge": self = .bridge
      default: self = .single
      }
    }
  }

  var isStacked: Bool { structure == .stacked || structure == .shared }

  var isMadeOfPorts: Bool { structure == .ports || structure == .bridge }
}
