// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityTarget {
  /// Whether the target is the network that this machine is attached to: ``localNetwork``, that of one kind, or any
  /// address of 169.254/16 (RFC 3927), which is what Apple's API takes for it.
  ///
  /// Of a pair the remote address counts. ``ReachabilityFlags/connectivity(to:)`` reads the flags of such a target by a
  /// rule of its own. An IPv6 link-local address is none: its zone says which link it is on, which may be any.
  public var isLocalNetwork: Bool {
    switch storage {
    case .localNetwork: true
    case .internet, .host: false
    case .address(let address), .pair(_, let address): address.unmapped.isIPv4LinkLocal
    }
  }
}
