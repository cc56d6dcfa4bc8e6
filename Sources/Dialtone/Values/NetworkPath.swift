// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The ways by which packets can leave this machine: all usable interfaces, in order of preference.
///
/// The path as a whole is about packets that are bound to no interface. If the configuration restricts the interfaces,
/// it is about packets over the allowed ones; if it names one, about packets that are bound to that. Each interface is
/// about packets that are bound to it (SO_BINDTODEVICE, socket(7)), and those that leave by it unbound. So an interface
/// may lead to the Internet while the path is unsatisfied, because the one before it has lost its carrier.
///
/// Receivers get a new path if it is not the same as the last one in what ``isSameState(as:)`` compares; `==` compares
/// everything, the time as well.
public struct NetworkPath: Hashable, Sendable {
  /// Whether packets can leave.
  public enum Status: Hashable, Sendable, BitwiseCopyable {
    /// Not known yet, or impossible to know; then ``NetworkPath/reason`` says why.
    case undetermined
    /// No packet for the Internet can leave over an interface that counts.
    case unsatisfied
    /// A packet could leave once a connection is made: a modem's session, a dormant link, a blocked radio.
    case requiresConnection
    /// A packet for the Internet can leave over an interface that counts.
    case satisfied
  }

  /// One interface of a path.
  public struct Interface: Hashable, Sendable {
    /// Which interface it is: name, index and kind, to compare with ``Reachability/interface``.
    public package(set) var identity: NetworkInterface
    /// Its usable addresses, except temporary ones: IPv4 before IPv6, link-local ones last in each family, in the order
    /// of their bits.
    public package(set) var addresses: [IPAddress]
    /// Its usable temporary addresses (RFC 8981). They rotate, so a change of them is not told.
    public package(set) var temporaryAddresses: [IPAddress]
    /// The routers that lead from it to the Internet: the IPv4 one, then the IPv6 one, if there are any.
    public package(set) var gateways: [IPAddress]
    /// Whether its traffic may cost money: it is cellular, or the configuration names it.
    public package(set) var isExpensive: Bool
    /// Whether it is to be used sparingly: the configuration names it.
    public package(set) var isConstrained: Bool
    /// Whether packets for the Internet can leave over it by IPv4.
    public package(set) var supportsIPv4: Bool
    /// Whether packets for the Internet can leave over it by IPv6.
    public package(set) var supportsIPv6: Bool

    /// Creates an interface of a path, for tests and previews.
    ///
    /// It supports the families of its addresses, unless you say otherwise. Temporary addresses do not count here, and
    /// link-local ones do not, since no packet with one leaves the link. Without any address, the gateways decide, and
    /// without any gateway, it supports IPv4 alone.
    ///
    /// - Parameters:
    ///   - interface: Name, index and kind.
    ///   - addresses: Its usable addresses, except temporary ones, in the order that you want.
    ///   - temporaryAddresses: Its usable temporary addresses.
    ///   - gateways: The routers that lead from it to the Internet.
    ///   - isExpensive: Whether its traffic may cost money; for a cellular one it always is `true`.
    ///   - isConstrained: Whether it is to be used sparingly.
    ///   - supportsIPv4: Whether packets for the Internet can leave it by IPv4; `nil` for what its addresses say.
    ///   - supportsIPv6: Whether packets for the Internet can leave it by IPv6; `nil` for what its addresses say.
    public init(
      _ interface: NetworkInterface, addresses: [IPAddress] = [], temporaryAddresses: [IPAddress] = [],
      gateways: [IPAddress] = [], isExpensive: Bool = false, isConstrained: Bool = false, supportsIPv4: Bool? = nil,
      supportsIPv6: Bool? = nil
    ) {
      let families = addresses.isEmpty ? gateways.map(\.family) : addresses.filter { !$0.isLinkLocal }.map(\.family)
      let isBare = addresses.isEmpty && gateways.isEmpty
      identity = interface
      self.addresses = addresses
      self.temporaryAddresses = temporaryAddresses
      self.gateways = gateways
      self.isExpensive = isExpensive || interface.kind == .cellular
      self.isConstrained = isConstrained
      self.supportsIPv4 = supportsIPv4 ?? (isBare || families.contains(.ipv4))
      self.supportsIPv6 = supportsIPv6 ?? families.contains(.ipv6)
    }

    /// What the interface is.
    public var kind: InterfaceKind { identity.kind }

    /// The interface's name.
    public var name: String { identity.name }

    /// The interface's index.
    public var index: UInt32 { identity.index }

    /// Whether it leads to the Internet, by either family; if not, it leads only to the network on its link.
    public var leadsToInternet: Bool { supportsIPv4 || supportsIPv6 }
  }

  /// What is known of the path.
  public package(set) var status: Status

  /// Why the path is not satisfied; `nil` if it is, or if nothing is known yet.
  public package(set) var reason: Reachability.Reason?

  /// The interfaces that count, operate, and have a usable address or lead to the Internet without one, in order of
  /// preference.
  ///
  /// The first is the one by which packets for the Internet leave. Then come the others that lead there, by the metric
  /// of their route, then those that only reach their own link.
  ///
  /// Ports of a bridge, bond or team are left out. So are virtual links with only link-local addresses, which
  /// containers make by the hundred. Both are listed if packets for the Internet leave by them, or the configuration
  /// names them. The loopback interface is always left out.
  public package(set) var interfaces: [Interface]

  /// Whether packets for the Internet can leave by IPv4.
  public package(set) var supportsIPv4: Bool

  /// Whether packets for the Internet can leave by IPv6.
  public package(set) var supportsIPv6: Bool

  /// Whether a name server of resolv.conf(5) can be reached; if it names none, the one on this machine counts.
  ///
  /// A server on this machine counts if the path is satisfied, since it asks others.
  public package(set) var supportsDNS: Bool

  /// Nanoseconds since 1970-01-01T00:00:00Z, or 0 if nothing is known; the plain bits of ``timestamp``.
  package var realtime: Int64 = 0

  /// Creates a path, for tests and previews.
  ///
  /// ```swift
  /// if let wifi = NetworkInterface(name: "wlan0", index: 2, kind: .wifi) {
  ///   let path = NetworkPath(.satisfied, interfaces: [NetworkPath.Interface(wifi)])
  /// }
  /// ```
  ///
  /// The status decides. You need not give what follows from it, and what contradicts it is left out:
  /// - A satisfied path supports the families that one of its interfaces supports; any other path supports none.
  /// - ``reason`` is `nil` in a satisfied path. An unsatisfied path without one has `noRoute`, one that requires a
  ///   connection `dormant`.
  /// - An undetermined path has no interfaces and no name server.
  ///
  /// - Parameters:
  ///   - status: Whether packets can leave.
  ///   - reason: Why the path is not satisfied, or why that is not known.
  ///   - interfaces: The interfaces, in order of preference.
  ///   - supportsDNS: Whether a name server can be reached.
  ///   - timestamp: When the path came about. A path of which nothing is known has none.
  public init(
    _ status: Status, reason: Reachability.Reason? = nil, interfaces: [Interface] = [], supportsDNS: Bool = false,
    timestamp: UTCTimestamp = .now
  ) {
    supportsIPv4 = status == .satisfied && interfaces.contains { $0.supportsIPv4 }
    supportsIPv6 = status == .satisfied && interfaces.contains { $0.supportsIPv6 }
    self.status = status
    self.reason =
      switch status {
      case .undetermined: reason
      case .unsatisfied: reason ?? .noRoute
      case .requiresConnection: reason ?? .dormant
      case .satisfied: nil
      }
    self.interfaces = status == .undetermined ? [] : interfaces
    self.supportsDNS = status != .undetermined && supportsDNS
    if status != .undetermined || reason != nil { realtime = timestamp.durationSince1970.nanosecondsClamped }
  }

  package static let unknown = NetworkPath(.undetermined)

  /// The system does not say, or lacks what it takes to ask.
  package static func denied(for reason: Reachability.Reason) -> NetworkPath {
    NetworkPath(.undetermined, reason: reason)
  }

  /// The interfaces that lead to the Internet, in order of preference; none if the path is not satisfied.
  var leading: [Interface] { status == .satisfied ? interfaces.filter(\.leadsToInternet) : [] }

  /// The interface that packets for the Internet leave by; `nil` if the path is not satisfied.
  public var preferredInterface: Interface? { leading.first }

  /// The routers that lead to the Internet, in the order of ``interfaces``; none if the path is not satisfied.
  public var gateways: [IPAddress] { leading.flatMap(\.gateways) }

  /// Whether packets for the Internet may cost money.
  ///
  /// The preferred interface decides. If it is a tunnel, the next interface that is none counts, too, since it carries
  /// the tunnel's packets.
  public var isExpensive: Bool { carriers.contains { $0.isExpensive } }

  /// Whether the path is to be used sparingly; decided as ``isExpensive`` is.
  public var isConstrained: Bool { carriers.contains { $0.isConstrained } }

  /// The preferred interface, and the one that carries its packets, as far as that is known. The kernel does not tell
  /// by which interface a tunnel's packets leave. They take the one that would be preferred without the tunnel.
  private var carriers: [Interface] {
    guard let preferredInterface else { return [] }
    if preferredInterface.kind != .tunnel { return [preferredInterface] }
    return [preferredInterface] + leading.filter { $0.kind != .tunnel }.prefix(1)
  }

  /// Returns whether the path is satisfied and an interface of this kind leads to the Internet.
  public func uses(_ kind: InterfaceKind) -> Bool { leading.contains { $0.kind == kind } }

  /// When the kernel's event that led to this path was read; `nil` while nothing is known.
  public var timestamp: UTCTimestamp? {
    realtime == 0 ? nil : UTCTimestamp(durationSince1970: .nanoseconds(realtime))
  }
}

extension NetworkPath.Status {
  /// A short text that never changes, for files and other programs: `undetermined`, `unsatisfied`,
  /// `requires-connection`, `satisfied`.
  public var identifier: String {
    switch self {
    case .undetermined: "undetermined"
    case .unsatisfied: "unsatisfied"
    case .requiresConnection: "requires-connection"
    case .satisfied: "satisfied"
    }
  }
}

extension NetworkPath {
  /// Whether it says anything. The state before the first answer does not.
  package var isKnown: Bool { status != .undetermined || reason != nil }

  /// Returns whether everything is equal except the time.
  package func isIdentical(to other: NetworkPath) -> Bool {
    isSameState(as: other) && interfaces.map(\.temporaryAddresses) == other.interfaces.map(\.temporaryAddresses)
  }

  /// Returns whether a receiver that got one of the two paths does not get the other one after it.
  ///
  /// It compares everything except the ``timestamp`` and the interfaces' temporary addresses (RFC 8981), which rotate.
  ///
  /// - Parameter other: The path to compare with.
  /// - Returns: Whether what it compares is equal.
  public func isSameState(as other: NetworkPath) -> Bool {
    status == other.status && reason == other.reason && supportsIPv4 == other.supportsIPv4
      && supportsIPv6 == other.supportsIPv6 && supportsDNS == other.supportsDNS
      && interfaces.elementsEqual(other.interfaces) { $0.isSame(as: $1) }
  }
}

extension NetworkPath.Interface {
  /// Returns whether everything except the temporary addresses is equal.
  func isSame(as other: Self) -> Bool {
    var copy = self
    copy.temporaryAddresses = other.temporaryAddresses
    return copy == other
  }
}

extension NetworkPath: CustomStringConvertible {
  /// The path in words, such as "satisfied via Wi-Fi (wlan0), wired (eth0)".
  public var description: String { description(in: .english) }
}
