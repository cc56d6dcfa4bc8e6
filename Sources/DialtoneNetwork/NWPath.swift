// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
internal import Dialtone

/// The ways by which packets can leave this machine at a moment, as in Apple's `Network`.
///
/// A path that an ``NWPathMonitor`` delivers. It says what the kernel knows: whether a packet for the Internet can
/// leave. Two paths are equal if all their properties are.
public struct NWPath: Equatable, Sendable {
  /// Whether packets can leave.
  public enum Status: Hashable, Sendable {
    /// A packet for the Internet can leave.
    case satisfied
    /// No packet for the Internet can leave, or nothing is known.
    case unsatisfied
    /// A packet could leave once a connection is made: a modem's session, a dormant link, a blocked radio.
    case requiresConnection
  }

  /// Why a path is not satisfied. On Linux it is always `notAvailable`: the kernel has no such policies.
  public enum UnsatisfiedReason: Hashable, Sendable {
    /// No reason is given.
    case notAvailable
    /// The user has disabled cellular data. Never on Linux.
    case cellularDenied
    /// The user has disabled Wi-Fi. Never on Linux.
    case wifiDenied
    /// The user has denied access to the local network. Never on Linux.
    case localNetworkDenied
    /// A required VPN is not active. Never on Linux.
    case vpnInactive
  }

  /// How good the link is.
  public enum LinkQuality: Hashable, Sendable {
    /// Not known. Always so on Linux.
    case unknown
    /// Little can be expected of the link. Never on Linux.
    case minimal
    /// Never on Linux.
    case moderate
    /// Never on Linux.
    case good
  }

  /// Whether packets can leave.
  public let status: Status
  /// Why the path is not satisfied: always `notAvailable` on Linux.
  public let unsatisfiedReason: UnsatisfiedReason
  /// The interfaces by which packets for the Internet can leave, in order of preference; none if the path is not
  /// satisfied.
  public let availableInterfaces: [NWInterface]
  /// Whether packets may cost money: the preferred interface is cellular, or a tunnel over one.
  public let isExpensive: Bool
  /// Whether the path is to be used sparingly. Never on Linux, where the kernel knows of no such choice.
  public let isConstrained: Bool
  /// Whether the path is to be used very sparingly. Never on Linux.
  public let isUltraConstrained: Bool
  /// How good the link is. Always `unknown` on Linux.
  public let linkQuality: LinkQuality
  /// Whether packets for the Internet can leave by IPv4.
  public let supportsIPv4: Bool
  /// Whether packets for the Internet can leave by IPv6.
  public let supportsIPv6: Bool
  /// Whether a name server can be reached.
  public let supportsDNS: Bool
  /// The routers that lead to the Internet by a family that the path supports, each with the port 0, in the order of
  /// the interfaces.
  public let gateways: [NWEndpoint]
  /// The local endpoint of a connection's path; `nil` for the paths of monitors.
  public let localEndpoint: NWEndpoint?
  /// The remote endpoint of a connection's path; `nil` for the paths of monitors.
  public let remoteEndpoint: NWEndpoint?

  /// Returns whether packets for the Internet can leave by an interface of this type.
  ///
  /// - Parameter type: The type of interface.
  /// - Returns: Whether one of ``availableInterfaces`` has the type.
  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
    availableInterfaces.contains { $0.type == type }
  }

  /// What is not known, in Apple's words, is not satisfied.
  init(_ path: NetworkPath) {
    status =
      switch path.status {
      case .satisfied: .satisfied
      case .requiresConnection: .requiresConnection
      case .unsatisfied, .undetermined: .unsatisfied
      }
    unsatisfiedReason = .notAvailable
    let leading = status == .satisfied ? path.interfaces.filter(\.leadsToInternet) : []
    availableInterfaces = leading.map { NWInterface($0.identity) }
    isExpensive = path.isExpensive
    isConstrained = path.isConstrained
    isUltraConstrained = false
    linkQuality = .unknown
    supportsIPv4 = path.supportsIPv4
    supportsIPv6 = path.supportsIPv6
    supportsDNS = path.supportsDNS
    // Packets that are bound to the interface may have a way that others have not. A router of IPv6 may be one of IPv4.
    gateways = leading.flatMap { interface in
      interface.gateways.filter {
        $0.family == .ipv4 ? path.supportsIPv4 : path.supportsIPv6 || !interface.supportsIPv6
      }.map { .hostPort(host: NWEndpoint.Host($0, over: interface.identity), port: .any) }
    }
    localEndpoint = nil
    remoteEndpoint = nil
  }
}

extension NWPath: CustomDebugStringConvertible {
  /// Status, interface and what the path supports, for debugging: "satisfied (Path is satisfied), interface: eth0,
  /// ipv4, dns".
  public var debugDescription: String {
    let remark =
      switch status {
      case .satisfied: "satisfied (Path is satisfied)"
      case .unsatisfied: "unsatisfied (No network route)"
      case .requiresConnection: "satisfiable (Connection required)"
      }
    var parts = [remark]
    if let interface = availableInterfaces.first { parts.append("interface: \(interface.name)") }
    if supportsIPv4 { parts.append("ipv4") }
    if supportsIPv6 { parts.append("ipv6") }
    if supportsDNS { parts.append("dns") }
    if isExpensive { parts.append("expensive") }
    if isConstrained { parts.append("constrained") }
    return parts.joined(separator: ", ")
  }
}
#endif
