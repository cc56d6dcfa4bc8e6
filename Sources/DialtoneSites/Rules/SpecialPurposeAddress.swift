// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension IPAddress {
  /// Whether a site of the Internet can have the address.
  ///
  /// The IANA special-purpose address registries (RFC 6890) do not list such an address, or list it as globally
  /// reachable. It is neither multicast (RFC 5771, RFC 4291) nor site-local (RFC 3879). An IPv4 address inside an IPv6
  /// one is judged as itself (RFC 4291, 2.5.5; RFC 6052).
  package var isPublic: Bool {
    let address = embeddedIPv4 ?? unmapped
    if address.isMulticast { return false }
    var longest = -1
    var isPublic = true
    for block in Self.specialPurposeBlocks where block.network.contains(address) {
      if block.network.length < longest { continue }
      (longest, isPublic) = (block.network.length, block.isGloballyReachable)
    }
    return isPublic
  }

  /// The IPv4 address after the well-known prefix of translators, 64:ff9b::/96.
  private var embeddedIPv4: IPAddress? {
    guard bits.isIPv6, bits.high == 0x0064_FF9B_0000_0000, bits.low >> 32 == 0 else { return nil }
    return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits.low))
  }

  private typealias Block = (network: AddressAdmission.Network, isGloballyReachable: Bool)

  /// The registries of 2025 (iana-ipv4-special-registry, iana-ipv6-special-registry), in their order. They call some
  /// blocks neither reachable nor unreachable, because these were given up (6to4 relays) or depend on third parties
  /// (6to4, Teredo). Here such blocks count as not reachable.
  private static let specialPurposeBlocks: [Block] = [
    block("0.0.0.0", 8), block("10.0.0.0", 8), block("100.64.0.0", 10), block("127.0.0.0", 8), block("169.254.0.0", 16),
    block("172.16.0.0", 12), block("192.0.0.0", 24), block("192.0.0.9", 32, isGloballyReachable: true),
    block("192.0.0.10", 32, isGloballyReachable: true), block("192.0.2.0", 24), block("192.88.99.0", 24),
    block("192.168.0.0", 16), block("198.18.0.0", 15), block("198.51.100.0", 24), block("203.0.113.0", 24),
    block("240.0.0.0", 4),
    block("::1", 128), block("::", 128), block("64:ff9b:1::", 48), block("100::", 64), block("100:0:0:1::", 64),
    block("2001::", 23), block("2001:1::1", 128, isGloballyReachable: true),
    block("2001:1::2", 128, isGloballyReachable: true), block("2001:1::3", 128, isGloballyReachable: true),
    block("2001:3::", 32, isGloballyReachable: true), block("2001:4:112::", 48, isGloballyReachable: true),
    block("2001:20::", 28, isGloballyReachable: true), block("2001:30::", 28, isGloballyReachable: true),
    block("2001:db8::", 32), block("2002::", 16), block("3fff::", 20), block("5f00::", 16), block("fc00::", 7),
    block("fe80::", 10), block("fec0::", 10),
  ]

  private static func block(_ text: String, _ length: Int, isGloballyReachable: Bool = false) -> Block {
    (.known(text, length), isGloballyReachable)
  }
}
