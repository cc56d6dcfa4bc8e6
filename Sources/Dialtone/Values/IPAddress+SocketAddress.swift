// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import CDialtoneSystem

// The public functions take raw pointers instead of `sockaddr`. Swift converts pointers to any structure of that
// family, and `&structure`, to them, and users need not import the C library as this module does.
extension IPAddress {
  /// Reads the address in a C structure, `sockaddr_in` or `sockaddr_in6`, given by a pointer and a length, as from
  /// getaddrinfo(3), accept(2) and getifaddrs(3).
  ///
  /// The port and the flow do not count. A scope identifier becomes the ``zone``, as a number, if the address
  /// ``isLinkLocal``. Otherwise it means nothing, not even to the kernel, and is left out.
  ///
  /// - Parameters:
  ///   - socketAddress: The structure, of any alignment; read before the call returns, and not kept.
  ///   - length: How many bytes there are; no more are read. It may be larger than the structure, as for a
  ///     `sockaddr_storage`.
  /// - Throws: ``ReachabilityError`` with the code `invalidAddress` if `socketAddress` is `nil`, `length` is
  ///   smaller than the structure of its family (16 bytes for IPv4, 28 for IPv6), or the family is another.
  public init(
    socketAddress: UnsafeRawPointer?, length: some BinaryInteger
  ) throws(ReachabilityError) {
    // The caller vouches for the bytes, as this function's contract asks.
    try unsafe self.init(socketAddress: socketAddress, length: length, subject: "the socket address")
  }

  /// Like the public one; `subject` names the structure in errors.
  init(
    socketAddress: UnsafeRawPointer?, length: some BinaryInteger, subject: String
  ) throws(ReachabilityError) {
    guard let pointer = unsafe socketAddress else {
      throw ReachabilityError(.invalidAddress, "\(subject) is missing: its pointer is nil")
    }
    // Both structures are at least as long as `sockaddr`, which has the family in its place on every system.
    let smallest = MemoryLayout<sockaddr>.size
    guard length >= smallest else {
      throw ReachabilityError(
        .invalidAddress, "\(subject) has \(length) bytes, too few for any: one of IPv4 (sockaddr_in) has \(smallest)")
    }
    // The caller vouches for `length` bytes. Each load stays inside of them.
    let family = CInt(unsafe pointer.loadUnaligned(as: sockaddr.self).sa_family)
    switch family {
    case AF_INET: self.init(unsafe pointer.loadUnaligned(as: sockaddr_in.self))
    case AF_INET6:
      let size = MemoryLayout<sockaddr_in6>.size
      guard length >= size else {
        throw ReachabilityError(
          .invalidAddress, "\(subject) has \(length) bytes, too few for IPv6: one of it (sockaddr_in6) has \(size)")
      }
      self.init(unsafe pointer.loadUnaligned(as: sockaddr_in6.self))
    case AF_UNSPEC:
      throw ReachabilityError(.invalidAddress, "\(subject) has no family; set it to AF_INET or AF_INET6")
    default:
      throw ReachabilityError(
        .invalidAddress, "\(subject) is of family \(family), neither IPv4 (AF_INET) nor IPv6 (AF_INET6)")
    }
  }

  init(_ address: sockaddr_in) { self.init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)) }

  /// The address of an IPv6 socket address, with its scope identifier as the zone: an interface's index, which may be
  /// written as a zone.
  init(_ address: sockaddr_in6) {
    let bits = IPAddressBits(address.sin6_addr)
    self.init(bits)
    if isLinkLocal, address.sin6_scope_id != 0 {
      self.init(bits, zone: InlineName(truncating: String(address.sin6_scope_id)))
    }
  }
}

extension IPAddressBits {
  init(_ address: in6_addr) {
    // An in6_addr is sixteen bytes in network order.
    self = unsafe withUnsafeBytes(of: address) { bytes in
      IPAddressBits(
        ipv6High: UInt64(bigEndian: unsafe bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}

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

  /// An IPv6 address with a port and the scope of its zone, which is an index or a name; `nil` for an IPv4 one.
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
