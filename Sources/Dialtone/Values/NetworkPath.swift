// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The ways that packets can leave this machine by: all usable interfaces, in order of preference.
///
/// What it says of the path as a whole is true of packets that are bound to no interface, or, where the configuration restricts the
/// interfaces, of packets over those that count. What it says of one interface is true of packets that are bound to that interface
/// (SO_BINDTODEVICE, socket(7)): one of them may lead to the Internet while the path is unsatisfied, because what comes before it
/// has lost its carrier.
///
/// Two values are equal when a receiver would not be told of a difference: the time does not count, nor do temporary addresses
/// (RFC 8981), which rotate.
public struct NetworkPath: Sendable {
  /// Whether packets can leave.
  public enum Status: UInt8, Sendable {
    /// Not known yet, or not to be known; then ``NetworkPath/reason`` says why.
    case undetermined
    /// No packet for the Internet can leave over an interface that counts.
    case unsatisfied
    /// A packet could leave once a connection is made: a modem's session, a dormant link, a blocked radio.
    case requiresConnection
    /// A packet for the Internet can leave over an interface that counts.
    case satisfied
  }

  /// One interface of a path.
  public struct Interface: Sendable {
    /// The interface as a plain value, to compare with that of a ``Reachability``.
    public var networkInterface: NetworkInterface
    /// Its usable addresses but for temporary ones: IPv4 before IPv6, those of link-local scope last, each in the order of their bits.
    public var addresses: [IPAddress]
    /// Its usable temporary addresses (RFC 8981). They rotate, and a path that differs in nothing else is equal.
    public var temporaryAddresses: [IPAddress] = []
    /// The routers that lead from it to the Internet: the IPv4 one, the IPv6 one, as far as there are.
    public var gateways: [IPAddress]
    /// Whether its traffic may cost money: a cellular one, or one that the configuration names.
    public var isExpensive: Bool
    /// Whether it is to be used sparingly: one that the configuration names.
    public var isConstrained: Bool
    /// Whether packets for the Internet that are bound to it can leave by IPv4.
    public var supportsIPv4: Bool
    /// Whether packets for the Internet that are bound to it can leave by IPv6.
    public var supportsIPv6: Bool

    /// An interface of a path, for tests and previews.
    public init(
      _ interface: NetworkInterface, addresses: [IPAddress] = [], gateways: [IPAddress] = [], isExpensive: Bool = false,
      isConstrained: Bool = false, supportsIPv4: Bool = true, supportsIPv6: Bool = false
    ) {
      networkInterface = interface
      self.addresses = addresses
      self.gateways = gateways
      self.isExpensive = isExpensive
      self.isConstrained = isConstrained
      self.supportsIPv4 = supportsIPv4
      self.supportsIPv6 = supportsIPv6
    }

    /// What the interface is.
    public var kind: InterfaceKind { networkInterface.kind }

    /// The interface's name.
    public var name: String { networkInterface.name }

    /// The interface's index.
    public var index: UInt32 { networkInterface.index }

    /// Whether the Internet is reachable over it, by either family; if not, only the network on its link is.
    public var leadsToInternet: Bool { supportsIPv4 || supportsIPv6 }
  }

  /// What is known of the path.
  public var status: Status

  /// Why it is not satisfied; `nil` exactly where it is, or where nothing is known yet.
  public var reason: Reachability.Reason?

  /// The interfaces that count, operate and have a usable address, in order of preference: the one that packets for the Internet
  /// leave by; then the others that lead there, by the metric of their route; then those that only reach their own link.
  ///
  /// Not among them, unless packets for the Internet leave by them or the configuration names them: ports of a bridge, bond or team,
  /// which carry the packets of that; and virtual links with nothing but link-local addresses, such as containers' by the hundred.
  /// The loopback interface never is.
  public var interfaces: [Interface]

  /// Whether packets for the Internet can leave by IPv4.
  public var supportsIPv4: Bool

  /// Whether packets for the Internet can leave by IPv6.
  public var supportsIPv6: Bool

  /// Whether a name server can be reached, by resolv.conf(5); without an entry there, it is the one on this machine. A server
  /// on this machine counts where the path is satisfied: it asks others.
  public var supportsDNS: Bool

  /// Nanoseconds since 1970-01-01T00:00:00Z, or 0 if nothing is known; the plain bits of ``timestamp``.
  package var realtime: Int64 = 0

  /// A path, for tests and previews. A satisfied one supports the families that one of its interfaces does, any other none.
  public init(
    _ status: Status, reason: Reachability.Reason? = nil, interfaces: [Interface] = [], supportsDNS: Bool = false
  ) {
    supportsIPv4 = status == .satisfied && interfaces.contains { $0.supportsIPv4 }
    supportsIPv6 = status == .satisfied && interfaces.contains { $0.supportsIPv6 }
    self.status = status
    self.reason = reason
    self.interfaces = interfaces
    self.supportsDNS = supportsDNS
  }

  package static let unknown = NetworkPath(.undetermined)
  package static let denied = NetworkPath(.undetermined, reason: .denied)

  /// The interfaces that lead to the Internet, in order of preference; none where the path is not satisfied.
  var leading: [Interface] { status == .satisfied ? interfaces.filter(\.leadsToInternet) : [] }

  /// The interface that packets for the Internet leave by; `nil` where the path is not satisfied.
  public var preferredInterface: Interface? { leading.first }

  /// The routers that lead to the Internet, in the order of ``interfaces``; none where the path is not satisfied.
  public var gateways: [IPAddress] { leading.flatMap(\.gateways) }

  /// Whether packets for the Internet may cost money: those of the preferred interface do, or, where that is a tunnel, those of the
  /// next one that is none, which carries the tunnel's.
  public var isExpensive: Bool { carriers.contains { $0.isExpensive } }

  /// Whether the path is to be used sparingly: the preferred interface is, or the one that carries its packets where it is a tunnel.
  public var isConstrained: Bool { carriers.contains { $0.isConstrained } }

  /// The preferred interface, and what carries its packets as far as that is known. The kernel does not tell which interface a
  /// tunnel's packets leave by; those of a tunnel to the Internet take what would be preferred without it.
  private var carriers: [Interface] {
    guard let preferredInterface else { return [] }
    if preferredInterface.kind != .tunnel { return [preferredInterface] }
    return [preferredInterface] + leading.filter { $0.kind != .tunnel }.prefix(1)
  }

  /// Whether the path is satisfied and some interface of this kind leads to the Internet.
  public func uses(_ kind: InterfaceKind) -> Bool { leading.contains { $0.kind == kind } }

  /// When the kernel's event that led to this path was read; `nil` as long as nothing is known.
  public var timestamp: UTCTimestamp? {
    realtime == 0 ? nil : UTCTimestamp(durationSince1970: .nanoseconds(realtime))
  }
}

extension NetworkPath: Hashable {
  /// Whether a receiver would not be told of a difference; see the type's description.
  public static func == (a: NetworkPath, b: NetworkPath) -> Bool {
    a.status == b.status && a.reason == b.reason && a.interfaces == b.interfaces && a.supportsIPv4 == b.supportsIPv4
      && a.supportsIPv6 == b.supportsIPv6 && a.supportsDNS == b.supportsDNS
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(reason)
    hasher.combine(interfaces)
    hasher.combine(supportsIPv4)
    hasher.combine(supportsIPv6)
    hasher.combine(supportsDNS)
  }
}

extension NetworkPath.Interface: Hashable {
  /// Whether all is equal but for temporary addresses.
  public static func == (a: Self, b: Self) -> Bool {
    a.networkInterface == b.networkInterface && a.addresses == b.addresses && a.gateways == b.gateways
      && a.isExpensive == b.isExpensive && a.isConstrained == b.isConstrained && a.supportsIPv4 == b.supportsIPv4
      && a.supportsIPv6 == b.supportsIPv6
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(networkInterface)
    hasher.combine(addresses)
    hasher.combine(gateways)
  }
}

extension NetworkPath: MonitoredState {
  package var isKnown: Bool { status != .undetermined || reason != nil }

  package func isIdentical(to other: NetworkPath) -> Bool {
    self == other && interfaces.map(\.temporaryAddresses) == other.interfaces.map(\.temporaryAddresses)
  }
}

extension NetworkPath: CustomStringConvertible {
  /// The path in words, such as "satisfied via Wi-Fi (wlan0), wired (eth0)" or "unsatisfied: no route to the destination".
  public var description: String { description(in: .english) }
}
