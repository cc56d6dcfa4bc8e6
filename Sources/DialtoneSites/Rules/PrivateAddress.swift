// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import Netlink

extension IPAddress {
  /// Whether the address belongs to no site of the Internet: loopback, link-local, this network (RFC 1122), private (RFC 1918,
  /// RFC 4193), shared between a carrier's customers (RFC 6598), or site-local (RFC 3879). An IPv4 address inside an IPv6 one counts
  /// as itself (RFC 4291, 2.5.5; RFC 6052).
  var isPrivate: Bool {
    let address = embeddedIPv4 ?? unmapped
    let bits = address.bits
    if bits.isIPv6 {
      return address.isLoopback || address.isUnspecified || bits.high >> 57 == 0x7E  // fc00::/7
        || bits.high >> 54 == 0x3FA || bits.high >> 54 == 0x3FB  // fe80::/10, fec0::/10
    }
    let value = bits.low
    return value >> 24 == 0 || value >> 24 == 10 || value >> 24 == 127 || value >> 20 == 0xAC1
      || value >> 16 == 0xC0A8 || value >> 16 == 0xA9FE || value >> 22 == 0x6440 >> 6
  }

  /// The IPv4 address behind the well-known prefix of translators, 64:ff9b::/96.
  private var embeddedIPv4: IPAddress? {
    guard bits.isIPv6, bits.high == 0x0064_FF9B_0000_0000, bits.low >> 32 == 0 else { return nil }
    return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits.low))
  }
}
