// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// An address of the site's, and the interface that leads there.
struct Route: Sendable {
  let address: IPAddress
  /// `nil` where the system does not say.
  let interface: NetworkInterface?
  /// The router that packets go to first; `nil` where they go straight to the address, or where the system does not say.
  var gateway: IPAddress?
  /// The address that they come from; `nil` where the system does not say.
  var source: IPAddress?

  /// The address as the system takes it.
  func socketAddress(port: UInt16) -> SocketAddress {
    let address = address.unmapped
    if let v4 = address.ipv4SocketAddress(port: port) { return SocketAddress(v4) }
    guard let v6 = address.ipv6SocketAddress(port: port) else {
      preconditionFailure("An address has one of two families")
    }
    return SocketAddress(v6)
  }
}
