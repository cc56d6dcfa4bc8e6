// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || DIALTONE_APPLE_SOURCE
internal import CDialtoneSystem

#if DIALTONE_APPLE_SOURCE
package import Dialtone
internal import DialtoneNetwork
#else
internal import Network
#endif

extension AppleNetwork {
  package func path(_ configuration: PathConfiguration) -> PathAnswer {
    let interfaces = InterfaceAddresses()
    var restriction = PathRestriction(configuration)
    if let name = configuration.interface {
      guard let entry = interfaces.named(name) else {
        return PathAnswer(NetworkPath(.unsatisfied, reason: .noInterface))
      }
      // The default path may leave it out. Those of its kind do not, or not as often.
      if let kind = identity(entry, interfaces)?.kind {
        var narrower = configuration
        narrower.requiredKinds = [kind]
        restriction = PathRestriction(narrower)
      }
    }
    guard let path = path(restriction) else { return .pending }
    return PathAnswer(networkPath(path, configuration, interfaces))
  }

  /// Returns Apple's path in our words. It lists what Apple does: the interfaces that lead to the Internet.
  private func networkPath(
    _ path: NWPath, _ configuration: PathConfiguration, _ interfaces: InterfaceAddresses
  ) -> NetworkPath {
    var listed: [NetworkPath.Interface] = []
    for interface in path.availableInterfaces {
      guard let identity = identity(interface, interfaces), configuration.allows(identity.kind),
        configuration.interface.map({ $0 == interface.name || $0 == "\(interface.index)" }) ?? true
      else { continue }
      let entry = interfaces[interface.name]
      let isFirst = interface == path.availableInterfaces.first
      listed.append(
        NetworkPath.Interface(
          identity, addresses: entry?.inOrder ?? [], gateways: gateways(of: interface, path, interfaces),
          // Apple says it of the path, which is that of its first interface.
          isExpensive: (isFirst && path.isExpensive) || configuration.meteredInterfaces.contains(interface.name),
          isConstrained: (isFirst && path.isConstrained)
            || configuration.constrainedInterfaces.contains(interface.name),
          supportsIPv4: path.supportsIPv4 && entry?.supports(.ipv4) ?? true,
          supportsIPv6: path.supportsIPv6 && entry?.supports(.ipv6) ?? true))
    }
    switch path.status {
    case .satisfied where listed.isEmpty: return NetworkPath(.unsatisfied, reason: .noRoute)
    case .satisfied: return NetworkPath(.satisfied, interfaces: listed, supportsDNS: path.supportsDNS)
    case .requiresConnection: return NetworkPath(.requiresConnection, reason: .noSession, interfaces: listed)
    default: return NetworkPath(.unsatisfied, reason: .noRoute, interfaces: listed)
    }
  }

  /// Returns the path's gateways that the interface leads to: those that name it, and those on its link.
  func gateways(
    of interface: NWInterface, _ path: NWPath, _ interfaces: InterfaceAddresses
  ) -> [Dialtone.IPAddress] {
    path.gateways.compactMap { endpoint in
      guard case .hostPort(let host, _) = endpoint else { return nil }
      // Their text has no zone once the interface is known.
      let address: Dialtone.IPAddress? =
        switch host {
        case .ipv4(let address): Dialtone.IPAddress(bytes: Array(address.rawValue))
        case .ipv6(let address): Dialtone.IPAddress(bytes: Array(address.rawValue))
        default: nil
        }
      guard let address else { return nil }
      let isNamed = host.interface.map { $0.name == interface.name }
      return isNamed ?? (interfaces[interface.name]?.isOnLink(address) ?? false) ? address : nil
    }
  }

  // MARK: Kinds

  func identity(_ interface: NWInterface, _ interfaces: InterfaceAddresses) -> NetworkInterface? {
    let kind: InterfaceKind =
      switch interface.type {
      case .wifi: .wifi
      case .cellular: .cellular
      case .wiredEthernet: .wired
      case .loopback: .loopback
      // Apple has no type for tunnels.
      default: interfaces[interface.name]?.isPointToPoint ?? false ? .tunnel : .other
      }
    return NetworkInterface(name: interface.name, index: UInt32(interface.index), kind: kind)
  }

  /// The interface as a path names it. Of one that no path has named, the flags say what it is.
  func identity(_ entry: InterfaceAddresses.Entry, _ interfaces: InterfaceAddresses) -> NetworkInterface? {
    for restriction in [PathRestriction.none, .required(.wifi), .required(.wiredEthernet), .required(.cellular)] {
      if let named = path(restriction)?.availableInterfaces.first(where: { $0.name == entry.name }) {
        return identity(named, interfaces)
      }
    }
    let kind: InterfaceKind =
      if entry.isLoopback { .loopback } else if entry.isPointToPoint { .tunnel } else {
        entry.flags & CInt(IFF_BROADCAST) != 0 ? .wired : .other
      }
    return NetworkInterface(name: entry.name, index: entry.index, kind: kind)
  }
}

extension Dialtone.IPAddress {
  /// The address of these bytes in network order; `nil` if there are neither four nor sixteen.
  fileprivate init?(bytes: [UInt8]) {
    func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    switch bytes.count {
    case 4: self.init(ipv4: UInt32(number(bytes)))
    case 16: self.init(IPAddressBits(ipv6High: number(bytes.prefix(8)), low: number(bytes.suffix(8))))
    default: return nil
    }
  }
}
#endif
