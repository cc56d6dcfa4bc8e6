// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
internal import Dialtone

/// A network interface that a path can use, as in Apple's `Network`.
public struct NWInterface: Hashable, Sendable {
  /// What an interface is.
  public enum InterfaceType: Hashable, Sendable {
    /// A tunnel, or an interface of another or unknown kind.
    case other
    /// IEEE 802.11.
    case wifi
    /// A mobile network.
    case cellular
    /// Ethernet and what behaves as it does.
    case wiredEthernet
    /// The loopback interface.
    case loopback
  }

  /// What the interface is.
  public let type: InterfaceType
  /// The interface's name, such as `wlan0`.
  public let name: String
  /// The interface's index: unique among the interfaces that exist at one time.
  public let index: Int

  init(type: InterfaceType, name: String, index: Int) {
    self.type = type
    self.name = name
    self.index = index
  }

  init(_ interface: NetworkInterface) {
    self.init(type: InterfaceType(interface.kind), name: interface.name, index: Int(interface.index))
  }
}

extension NWInterface: CustomDebugStringConvertible {
  /// The interface's name.
  public var debugDescription: String { name }
}

extension NWInterface.InterfaceType {
  init(_ kind: InterfaceKind) {
    switch kind {
    case .wifi: self = .wifi
    case .cellular: self = .cellular
    case .wired: self = .wiredEthernet
    case .loopback: self = .loopback
    default: self = .other
    }
  }

  /// The kinds of interface that are of this type. Apple counts tunnels among the others.
  var kinds: Set<InterfaceKind> {
    switch self {
    case .wifi: [.wifi]
    case .cellular: [.cellular]
    case .wiredEthernet: [.wired]
    case .loopback: [.loopback]
    case .other: [.tunnel, .other]
    }
  }
}
#endif
