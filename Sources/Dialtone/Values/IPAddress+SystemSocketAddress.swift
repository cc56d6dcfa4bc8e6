// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import CNetlink
internal import Netlink

/// The address as the system's calls take it (ip(7), ipv6(7)).
extension IPAddress {
  /// An IPv4 address with a port; `nil` for an IPv6 one.
  package func ipv4SocketAddress(port: UInt16) -> sockaddr_in? {
    if bits.isIPv6 { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(truncatingIfNeeded: bits.low).bigEndian
    return address
  }

  /// An IPv6 address with a port, and with the scope that its zone is an index or a name of; `nil` for an IPv4 one.
  package func ipv6SocketAddress(port: UInt16) -> sockaddr_in6? {
    if !bits.isIPv6 { return nil }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    // if_nametoindex(3) reads the name and keeps nothing.
    address.sin6_scope_id = zone.map { zone in unsafe UInt32(zone) ?? if_nametoindex(zone) } ?? 0
    // Sixteen bytes in network order, as a sin6_addr is.
    unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
      unsafe bytes.storeBytes(of: bits.high.bigEndian, as: UInt64.self)
      unsafe bytes.storeBytes(of: bits.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return address
  }
}
