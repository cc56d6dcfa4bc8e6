// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// Walks through routing rules as the kernel does for a packet that this machine makes, and finds the rule and the
/// route that decide. Pure; ip-rule(8), net/core/fib_rules.c.
///
/// The kernel names neither. So the walk is only an explanation: the kernel's own answer counts, and the caller
/// compares the two.
package struct RuleWalk: Sendable {
  package struct Packet: Sendable {
    package var destination: IPAddressBits
    package var source: IPAddressBits?
    package var mark: UInt32 = 0
    package var userID: UInt32 = 0
    package var ipProtocol: UInt8 = 6
    package var destinationPort: UInt16 = 0
    package var outputInterface: String?
  }

  /// What a table says of a destination.
  package enum Lookup: Sendable {
    case none
    case route(RouteMessage)
    /// The table could not be looked through.
    case unknown
  }

  /// What decided.
  package enum End: Sendable {
    case refusal(RuleMessage)
    /// A route, and the rule that led to its table.
    case route(RouteMessage, RuleMessage)
    case nothing
    /// A table could not be looked through, or a rule is of a kind that this walk does not know.
    case unknown
  }

  private let rules: [RuleMessage]
  private let packet: Packet

  /// The rules are those of the packet's family.
  package init(_ rules: [RuleMessage], _ packet: Packet) {
    // The kernel keeps rules of one priority in the order in which they were added, and lists them so.
    self.rules = rules.sorted { $0.priority < $1.priority }
    self.packet = packet
  }

  /// Walks until a rule or a route decides.
  package func end(_ lookup: (_ table: UInt32) -> Lookup) -> End {
    var least: UInt32 = 0
    for rule in rules where rule.priority >= least && matches(rule) {
      if rule.usesMasterTable { continue }  // the packet is of no VRF
      if rule.isPartlyRead { return .unknown }
      switch rule.action {
      case .noOperation: continue
      case .goto:
        guard let next = rule.goto else { return .unknown }
        least = next
      case .blackhole, .unreachable, .prohibit: return .refusal(rule)
      case .toTable:
        switch lookup(rule.table) {
        case .unknown: return .unknown
        case .none: continue
        case .route(let route):
          if isSuppressed(route, rule) || route.type == .throw { continue }
          return .route(route, rule)
        }
      default: return .unknown
      }
    }
    return .nothing
  }

  /// Returns the first rule that leads to the table of a route that the kernel has found.
  package func rule(of route: RouteMessage, in table: UInt32) -> RuleMessage? {
    rules.first {
      $0.action == .toTable && !$0.usesMasterTable && $0.table == table && matches($0)
        && !isSuppressed(route, $0)
    }
  }

  /// fib_rule_suppress: a route with so short a prefix does not count.
  private func isSuppressed(_ route: RouteMessage, _ rule: RuleMessage) -> Bool {
    rule.suppressPrefixLength.map { UInt32(route.destinationLength) <= $0 } ?? false
  }

  /// fib_rule_match.
  private func matches(_ rule: RuleMessage) -> Bool { isMatch(rule) != rule.flags.contains(.invert) }

  private func isMatch(_ rule: RuleMessage) -> Bool {
    // Programs seldom ask for another one (ip(7), IP_TOS), and the kernel was not asked for one.
    if rule.typeOfService != 0 || rule.needsUnusualPacket { return false }
    // What this machine sends comes in over no interface; `iif lo` stands for that.
    if let input = rule.inputInterfaceName, input != "lo" { return false }
    if let output = rule.outputInterfaceName, output != packet.outputInterface { return false }
    // A mark of 0 is not told, its mask is (fib_nl_fill_rule).
    if let mask = rule.markMask ?? rule.mark.map({ _ in .max }), ((rule.mark ?? 0) ^ packet.mark) & mask != 0 {
      return false
    }
    if let users = rule.userIDs, !users.contains(packet.userID) { return false }
    if let number = rule.ipProtocol, number != packet.ipProtocol { return false }
    if let ports = rule.destinationPorts, !ports.contains(packet.destinationPort) { return false }
    // The source's port is chosen later.
    if rule.sourcePorts != nil { return false }
    if rule.destinationLength > 0 {
      let prefix = rule.destination ?? zero
      if !packet.destination.matches(prefix: prefix, length: Int(rule.destinationLength)) { return false }
    }
    if rule.sourceLength > 0 {
      let prefix = rule.source ?? zero
      if !(packet.source ?? zero).matches(prefix: prefix, length: Int(rule.sourceLength)) { return false }
    }
    return true
  }

  private var zero: IPAddressBits {
    packet.destination.isIPv6 ? IPAddressBits(ipv6High: 0, low: 0) : IPAddressBits(ipv4: 0)
  }
}

/// The route that a table has for an address, as its entries come in: the longest prefix, then the least metric.
package struct RouteSearch: Sendable {
  private let address: IPAddressBits
  package private(set) var best: RouteMessage?

  package init(_ address: IPAddressBits) { self.address = address }

  /// Returns whether it is the best so far.
  @discardableResult
  package mutating func add(_ route: RouteMessage) -> Bool {
    guard route.family == address.family, route.sourceLength == 0, route.covers(address) else { return false }
    if let best {
      let isBetter =
        route.destinationLength == best.destinationLength
        ? (route.priority ?? 0) < (best.priority ?? 0) : route.destinationLength > best.destinationLength
      if !isBetter { return false }
    }
    best = route
    return true
  }
}

extension RuleMessage {
  /// The rule as ip-rule(8) prints it, without its priority: "from all fwmark 0x7 lookup 201".
  package var words: String {
    var words: [String] = []
    if flags.contains(.invert) { words.append("not") }
    words.append("from \(Self.prefix(source, sourceLength))")
    if destinationLength > 0 { words.append("to \(Self.prefix(destination, destinationLength))") }
    if typeOfService != 0 { words.append("tos 0x\(String(typeOfService, radix: 16))") }
    if let mark = mark ?? markMask.map({ _ in 0 }) {
      let mask = markMask.map { $0 == .max ? "" : "/0x\(String($0, radix: 16))" } ?? ""
      words.append("fwmark \(mark == 0 ? "" : "0x")\(String(mark, radix: 16))\(mask)")
    }
    if let inputInterfaceName { words.append("iif \(inputInterfaceName)") }
    if let outputInterfaceName { words.append("oif \(outputInterfaceName)") }
    if let userIDs { words.append("uidrange \(userIDs.lowerBound)-\(userIDs.upperBound)") }
    if let ipProtocol { words.append("ipproto \(ipProtocol)") }
    if let sourcePorts { words.append("sport \(Self.range(sourcePorts))") }
    if let destinationPorts { words.append("dport \(Self.range(destinationPorts))") }
    switch action {
    case .toTable: words.append(usesMasterTable ? "lookup [l3mdev-table]" : "lookup \(RouteTableName.text(table))")
    case .goto: words.append("goto \(goto ?? 0)")
    case .noOperation: words.append("nop")
    case .blackhole: words.append("blackhole")
    case .unreachable: words.append("unreachable")
    case .prohibit: words.append("prohibit")
    default: words.append("action \(action.rawValue)")
    }
    if let suppressPrefixLength { words.append("suppress_prefixlength \(suppressPrefixLength)") }
    return words.joined(separator: " ")
  }

  private static func prefix(_ address: IPAddressBits?, _ length: UInt8) -> String {
    guard length > 0, let address else { return length == 0 ? "all" : "0/\(length)" }
    return "\(IPAddress(address))/\(length)"
  }

  private static func range(_ ports: ClosedRange<UInt16>) -> String {
    ports.count == 1 ? "\(ports.lowerBound)" : "\(ports.lowerBound)-\(ports.upperBound)"
  }
}

/// The names of the tables that every system has (linux/rtnetlink.h, `enum rt_class_t`).
package enum RouteTableName {
  static let main: UInt32 = 254
  static let local: UInt32 = 255

  package static func text(_ table: UInt32) -> String {
    switch table {
    case 253: "default"
    case main: "main"
    case local: "local"
    default: "\(table)"
    }
  }
}
