// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A routing rule (`RTM_NEWRULE`, `RTM_DELRULE`; `struct fib_rule_hdr`, linux/fib_rules.h).
package struct RuleMessage: Hashable, Sendable {
  package static let headerByteCount = 12

  /// Attributes of a rule (`FRA_…`, linux/fib_rules.h).
  package enum Attribute {
    package static let destination: UInt16 = 1
    package static let source: UInt16 = 2
    package static let inputInterfaceName: UInt16 = 3
    package static let goto: UInt16 = 4
    package static let priority: UInt16 = 6
    package static let mark: UInt16 = 10
    package static let tunnelID: UInt16 = 12
    package static let suppressInterfaceGroup: UInt16 = 13
    package static let suppressPrefixLength: UInt16 = 14
    package static let table: UInt16 = 15
    package static let markMask: UInt16 = 16
    package static let outputInterfaceName: UInt16 = 17
    /// The rule asks the table of the VRF that the packet belongs to.
    package static let masterTable: UInt16 = 19
    package static let userIDRange: UInt16 = 20
    package static let ipProtocol: UInt16 = 22
    package static let sourcePorts: UInt16 = 23
    package static let destinationPorts: UInt16 = 24
    package static let dscp: UInt16 = 25
    package static let flowLabel: UInt16 = 26
    package static let destinationPortMask: UInt16 = 29
  }

  package let family: KernelAddressFamily
  package let destinationLength: UInt8
  package let sourceLength: UInt8
  /// The type of service of the packets that it is about (`tos`); 0 for any.
  package let typeOfService: UInt8
  package private(set) var table: UInt32
  package let action: RuleAction
  package let flags: RuleFlags
  package private(set) var destination: IPAddressBits?
  package private(set) var source: IPAddressBits?
  /// Lower is asked first; 0 if the message names none.
  package private(set) var priority: UInt32 = 0
  package private(set) var mark: UInt32?
  package private(set) var markMask: UInt32?
  package private(set) var suppressPrefixLength: UInt32?
  package private(set) var inputInterfaceName: String?
  package private(set) var outputInterfaceName: String?
  package private(set) var userIDs: ClosedRange<UInt32>?
  /// The priority of the rule that this one jumps to.
  package private(set) var goto: UInt32?
  /// Whether it is for packets of a VRF, and asks that VRF's table (`l3mdev`).
  package private(set) var usesMasterTable = false
  /// `IPPROTO_…`; `nil` for any.
  package private(set) var ipProtocol: UInt8?
  package private(set) var sourcePorts: ClosedRange<UInt16>?
  package private(set) var destinationPorts: ClosedRange<UInt16>?
  /// Whether it is for packets of a tunnel, a DSCP or a flow label.
  package private(set) var needsUnusualPacket = false
  /// Whether it looks at what is not read here: groups of interfaces, masks of ports.
  package private(set) var isPartlyRead = false

  /// - Returns: `nil` if the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newRule || message.type == .deleteRule,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: start),
      let destinationLength: UInt8 = bytes.integer(at: start + 1),
      let sourceLength: UInt8 = bytes.integer(at: start + 2),
      let typeOfService: UInt8 = bytes.integer(at: start + 3),
      let table: UInt8 = bytes.integer(at: start + 4),
      let action: UInt8 = bytes.integer(at: start + 7),
      let flags: UInt32 = bytes.integer(at: start + 8)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    self.destinationLength = destinationLength
    self.sourceLength = sourceLength
    self.typeOfService = typeOfService
    self.table = UInt32(table)
    self.action = RuleAction(rawValue: action)
    self.flags = RuleFlags(rawValue: flags)
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
    case Attribute.destination: return destination.takeIn(IPAddressBits(bytes, in: payload, family: family))
    case Attribute.source: return source.takeIn(IPAddressBits(bytes, in: payload, family: family))
    case Attribute.table:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      table = value
    case Attribute.priority:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      priority = value
    case Attribute.mark: return mark.takeIn(bytes.integer(in: payload))
    case Attribute.markMask: return markMask.takeIn(bytes.integer(in: payload))
    case Attribute.suppressPrefixLength:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      // The kernel writes all ones for "none".
      suppressPrefixLength = value == .max ? nil : value
    case Attribute.inputInterfaceName: return inputInterfaceName.takeIn(bytes.string(in: payload, limit: 16))
    case Attribute.outputInterfaceName: return outputInterfaceName.takeIn(bytes.string(in: payload, limit: 16))
    case Attribute.userIDRange:
      // struct fib_rule_uid_range: the first and the last user.
      guard payload.count == 8, let first: UInt32 = bytes.integer(at: payload.lowerBound),
        let last: UInt32 = bytes.integer(at: payload.lowerBound + 4), first <= last
      else { return false }
      userIDs = first...last
    case Attribute.goto: return goto.takeIn(bytes.integer(in: payload))
    case Attribute.masterTable:
      guard let value: UInt8 = bytes.integer(in: payload) else { return false }
      usesMasterTable = value != 0
    case Attribute.ipProtocol: return ipProtocol.takeIn(bytes.integer(in: payload))
    case Attribute.sourcePorts: return sourcePorts.takeIn(Self.ports(payload, in: bytes))
    case Attribute.destinationPorts: return destinationPorts.takeIn(Self.ports(payload, in: bytes))
    case Attribute.tunnelID, Attribute.dscp, Attribute.flowLabel:
      // Its size and byte order don't matter, only whether it is 0.
      for position in payload where bytes.integer(at: position, as: UInt8.self) != 0 { needsUnusualPacket = true }
    case Attribute.suppressInterfaceGroup: isPartlyRead = true
    // The kernel tells the mask of a whole port, too.
    case Attribute.destinationPortMask: if bytes.integer(in: payload, as: UInt16.self) != .max { isPartlyRead = true }
    default:
      break
    }
    return true
  }

  /// Reads `struct fib_rule_port_range`: two ports in host order.
  private static func ports(_ payload: Range<Int>, in bytes: RawSpan) -> ClosedRange<UInt16>? {
    guard payload.count == 4, let first: UInt16 = bytes.integer(at: payload.lowerBound),
      let last: UInt16 = bytes.integer(at: payload.lowerBound + 2), first <= last
    else { return nil }
    return first...last
  }
}

/// What a routing rule does (`FR_ACT_…`, linux/fib_rules.h).
package struct RuleAction: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let unspecified = Self(rawValue: 0)
  package static let toTable = Self(rawValue: 1)
  package static let goto = Self(rawValue: 2)
  package static let noOperation = Self(rawValue: 3)
  package static let blackhole = Self(rawValue: 6)
  package static let unreachable = Self(rawValue: 7)
  package static let prohibit = Self(rawValue: 8)
}

/// Flags of a routing rule (`FIB_RULE_…`, linux/fib_rules.h).
package struct RuleFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The rule is for packets that do not match: `ip rule add not …`.
  package static let invert = Self(rawValue: 0x02)
}
