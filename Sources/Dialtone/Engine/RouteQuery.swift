// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One question to the kernel, or to a script in its place. Targets that ask the same share one.
package struct RouteQuery: Hashable, Sendable {
  package enum Destination: Hashable, Sendable {
    /// An address; never an IPv4-mapped one.
    case address(IPAddress)
    /// The network on a link of this kind (`nil`: any wired or Wi-Fi link) with an address of this family.
    case localNetwork(InterfaceKind?, IPAddress.Family?)
  }

  package let destination: Destination
  /// The address of this machine that the packets come from; `nil` leaves the choice to the kernel.
  package let source: IPAddress?
  /// The only interface that counts; `nil` for any. No interface has an empty name.
  package let interface: LinkName?
  /// The firewall mark of the packets; 0 for none.
  package let mark: UInt32
  package let transport: ReachabilityConfiguration.Transport
  /// The port that they are sent to; 0 for no particular port.
  package let port: UInt16

  package init(
    _ destination: Destination, source: IPAddress? = nil, interface: LinkName? = nil, mark: UInt32 = 0,
    transport: ReachabilityConfiguration.Transport = .tcp, port: UInt16 = 0
  ) {
    self.destination = destination
    self.source = source
    self.interface = interface
    self.mark = mark
    self.transport = transport
    self.port = port
  }

  /// Asks about an address as the configuration says.
  init(
    _ address: IPAddress, from source: IPAddress? = nil, port: UInt16?, _ configuration: ReachabilityConfiguration
  ) {
    self.init(
      .address(address.unmapped), source: source?.unmapped, interface: configuration.interface.map { LinkName($0) },
      mark: configuration.mark, transport: configuration.transport, port: port ?? 0)
  }

  /// Whether the other query asks the same, except for the source.
  func hasQuestion(of other: RouteQuery) -> Bool {
    destination == other.destination && port == other.port && mark == other.mark && transport == other.transport
      && interface == other.interface
  }

  package var address: IPAddress? {
    if case .address(let address) = destination { address } else { nil }
  }
}
