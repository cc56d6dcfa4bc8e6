// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// The IPv6 gateways that answers go by, and those that are known not to answer.
///
/// In IPv6 the kernel passes over a route while its gateway's neighbour entry is failed, and takes another: of the same prefix with any
/// metric, or of a shorter prefix (rt6_check_neigh, find_rr_leaf, net/ipv6/route.c). Neither that nor the return is a change of a
/// route; only the neighbour is announced. Invariant: there are at most ``KernelFilter/gatewayLimit``.
package struct GatewayTable {
  package private(set) var gateways: [KernelFilter.Gateway] = []
  /// Whether there was one of an answer for which there was no room.
  package private(set) var isOverfull = false

  package init() {}

  package var isEmpty: Bool { gateways.isEmpty }

  /// Takes in a gateway of an answer, or a neighbour that is failed; returns whether it is new.
  package mutating func add(_ address: IPAddressBits, on interface: UInt32, isFailed: Bool) -> Bool {
    guard address.isIPv6, position(address, interface) == nil else { return false }
    if gateways.count == KernelFilter.gatewayLimit {
      isOverfull = isOverfull || !isFailed
      return false
    }
    gateways.append(.init(address, interface: interface, isFailed: isFailed))
    return true
  }

  /// Takes in what is known of a neighbour; returns whether one of the gateways was known otherwise.
  package mutating func update(_ address: IPAddressBits, on interface: UInt32, isFailed: Bool) -> Bool {
    guard let position = position(address, interface), gateways[position].isFailed != isFailed else { return false }
    gateways[position].isFailed = isFailed
    return true
  }

  private func position(_ address: IPAddressBits, _ interface: UInt32) -> Int? {
    gateways.firstIndex { $0.address == address && $0.interface == interface }
  }
}
