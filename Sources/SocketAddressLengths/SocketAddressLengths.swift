// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(Android)  // other systems have them
#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#elseif canImport(Android)
public import Android
#endif

// Apple's socket addresses begin with their length. Those of Linux have none: setting it does nothing, and reading it
// gives what it would be. `DialtoneNetwork` and `DialtoneSystemConfiguration` bring this module along.

/// 169.254.0.0, the network of link-local addresses (RFC 3927), in host order, as in Apple's netinet/in.h.
public var IN_LINKLOCALNETNUM: UInt32 { 0xA9FE_0000 }

extension sockaddr {
  /// How many bytes an address of this family has; 0 for a family other than IPv4 and IPv6.
  public var sa_len: UInt8 {
    get {
      switch CInt(sa_family) {
      case AF_INET: UInt8(MemoryLayout<sockaddr_in>.size)
      case AF_INET6: UInt8(MemoryLayout<sockaddr_in6>.size)
      default: 0
      }
    }
    set {}
  }

  /// Creates an address from all the fields that it has on Apple's platforms.
  public init(
    sa_len: UInt8, sa_family: sa_family_t,
    sa_data: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
  ) {
    self.init(sa_family: sa_family, sa_data: sa_data)
  }
}

extension sockaddr_in {
  /// How many bytes the address has.
  public var sin_len: UInt8 {
    get { UInt8(MemoryLayout<sockaddr_in>.size) }
    set {}
  }

  /// Creates an address from all the fields that it has on Apple's platforms.
  public init(
    sin_len: UInt8, sin_family: sa_family_t, sin_port: in_port_t, sin_addr: in_addr,
    sin_zero: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8)
  ) {
    self.init(sin_family: sin_family, sin_port: sin_port, sin_addr: sin_addr, sin_zero: sin_zero)
  }
}

extension sockaddr_in6 {
  /// How many bytes the address has.
  public var sin6_len: UInt8 {
    get { UInt8(MemoryLayout<sockaddr_in6>.size) }
    set {}
  }

  /// Creates an address from all the fields that it has on Apple's platforms.
  public init(
    sin6_len: UInt8, sin6_family: sa_family_t, sin6_port: in_port_t, sin6_flowinfo: UInt32, sin6_addr: in6_addr,
    sin6_scope_id: UInt32
  ) {
    self.init(
      sin6_family: sin6_family, sin6_port: sin6_port, sin6_flowinfo: sin6_flowinfo, sin6_addr: sin6_addr,
      sin6_scope_id: sin6_scope_id)
  }
}

extension sockaddr_storage {
  /// How many bytes an address of this family has; 0 for a family other than IPv4 and IPv6.
  public var ss_len: UInt8 {
    get { sockaddr(sa_family: ss_family, sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).sa_len }
    set {}
  }
}
#endif
