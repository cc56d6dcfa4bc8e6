// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The ways that packets can leave this machine by: all usable interfaces, in order of preference.
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
    /// Name, index and kind.
    public var interface: NetworkInterface
    /// Its usable addresses in the order in which the kernel told of them, temporary ones last.
    public var addresses: [IPAddress]
    /// The routers that lead from it to the Internet: the IPv4 one, the IPv6 one, as far as there are.
    public var gateways: [IPAddress]
    /// Whether its traffic may cost money: a cellular one, or one that the configuration names.
    public var isExpensive: Bool
    /// Whether it is to be used sparingly: one that the configuration names.
    public var isConstrained: Bool
    /// Whether the Internet is reachable over it by IPv4.
    public var supportsIPv4: Bool
    /// Whether the Internet is reachable over it by IPv6.
    public var supportsIPv6: Bool
    /// How many of the addresses, at the end, are temporary.
    package var temporaryCount = 0

    /// An interface of a path, for tests and previews.
    public init(
      _ interface: NetworkInterface, addresses: [IPAddress] = [], gateways: [IPAddress] = [], isExpensive: Bool = false,
      isConstrained: Bool = false, supportsIPv4: Bool = true, supportsIPv6: Bool = false
    ) {
      self.interface = interface
      self.addresses = addresses
      self.gateways = gateways
      self.isExpensive = isExpensive
      self.isConstrained = isConstrained
      self.supportsIPv4 = supportsIPv4
      self.supportsIPv6 = supportsIPv6
    }

    /// What the interface is.
    public var kind: InterfaceKind { interface.kind }

    /// The interface's name.
    public var name: String { interface.name }

    /// Whether the Internet is reachable over it, by either family; if not, only the network on its link is.
    public var leadsToInternet: Bool { supportsIPv4 || supportsIPv6 }
  }

  /// What is known of the path.
  public var status: Status

  /// Why it is not satisfied; `nil` exactly where it is, or where nothing is known yet.
  public var reason: Reachability.Reason?

  /// The interfaces that operate and have a usable address, but for the loopback interface. The one that packets for the Internet leave by comes
  /// first; then the others that lead there, by the metric of their route; then those that only reach their own link.
  public var interfaces: [Interface]

  /// Whether a name server can be reached, by resolv.conf(5); without an entry there, it is the one on this machine. A server
  /// on this machine counts where the path is satisfied: it asks others.
  public var supportsDNS: Bool

  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package var realtime: Int64 = 0

  /// A path, for tests and previews.
  public init(
    _ status: Status, reason: Reachability.Reason? = nil, interfaces: [Interface] = [], supportsDNS: Bool = false
  ) {
    self.status = status
    self.reason = reason
    self.interfaces = interfaces
    self.supportsDNS = supportsDNS
  }

  package static let unknown = NetworkPath(.undetermined)
  package static let denied = NetworkPath(.undetermined, reason: .denied)

  /// The interface that packets for the Internet leave by; `nil` where none does.
  public var preferredInterface: Interface? { interfaces.first { $0.leadsToInternet } }

  /// The routers that lead to the Internet, in the order of ``interfaces``.
  public var gateways: [IPAddress] { interfaces.flatMap(\.gateways) }

  /// Whether packets for the Internet may cost money: those of the preferred interface do.
  public var isExpensive: Bool { preferredInterface?.isExpensive ?? false }

  /// Whether the path is to be used sparingly: the preferred interface is.
  public var isConstrained: Bool { preferredInterface?.isConstrained ?? false }

  /// Whether the Internet is reachable by IPv4.
  public var supportsIPv4: Bool { interfaces.contains { $0.supportsIPv4 } }

  /// Whether the Internet is reachable by IPv6.
  public var supportsIPv6: Bool { interfaces.contains { $0.supportsIPv6 } }

  /// Whether some interface of this kind leads to the Internet.
  public func uses(_ kind: InterfaceKind) -> Bool { interfaces.contains { $0.kind == kind && $0.leadsToInternet } }

  /// When the kernel's event that led to this path was read, as time since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
  public var timeSince1970: Duration { .nanoseconds(realtime) }
}

extension NetworkPath: Hashable {
  /// Whether a receiver would not be told of a difference; see the type's description.
  public static func == (a: NetworkPath, b: NetworkPath) -> Bool {
    a.status == b.status && a.reason == b.reason && a.interfaces == b.interfaces && a.supportsDNS == b.supportsDNS
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(reason)
    hasher.combine(interfaces)
    hasher.combine(supportsDNS)
  }
}

extension NetworkPath.Interface: Hashable {
  /// Whether all is equal but for temporary addresses.
  public static func == (a: Self, b: Self) -> Bool {
    a.interface == b.interface && a.lastingAddresses == b.lastingAddresses && a.gateways == b.gateways
      && a.isExpensive == b.isExpensive && a.isConstrained == b.isConstrained && a.supportsIPv4 == b.supportsIPv4
      && a.supportsIPv6 == b.supportsIPv6
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(interface)
    hasher.combine(lastingAddresses)
    hasher.combine(gateways)
  }

  private var lastingAddresses: ArraySlice<IPAddress> { addresses.dropLast(temporaryCount) }
}

extension NetworkPath: MonitoredState {
  package var isKnown: Bool { status != .undetermined || reason != nil }

  package func isIdentical(to other: NetworkPath) -> Bool {
    self == other && interfaces.map(\.addresses) == other.interfaces.map(\.addresses)
  }
}

extension NetworkPath: CustomStringConvertible {
  /// The path in words, such as "satisfied via Wi-Fi (wlan0), wired (eth0)" or "unsatisfied: no route to the destination".
  public var description: String {
    var text =
      switch status {
      case .undetermined: "undetermined"
      case .unsatisfied: "unsatisfied"
      case .requiresConnection: "requires a connection"
      case .satisfied: "satisfied"
      }
    let used = interfaces.filter(\.leadsToInternet).map(\.interface.description)
    if !used.isEmpty { text += " via " + used.joined(separator: ", ") }
    if let reason { text += ": \(reason)" }
    if isExpensive { text += ", expensive" }
    if isConstrained { text += ", constrained" }
    return text
  }
}
