// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The IPv6 prefix of a network's translator to the IPv4 Internet (RFC 6146), discovered as RFC 7050 says.
struct NAT64Prefix: Hashable {
  /// The only addresses of the discovery name, 192.0.0.170 and 192.0.0.171 (RFC 7050, 8.2). A network with a translator
  /// answers for that name with IPv6 addresses that contain them.
  private static let wellKnown: [UInt32] = [0xC000_00AA, 0xC000_00AB]

  /// The name to look up to find the prefix.
  static let discoveryName = NameQuestion(name: "ipv4only.arpa", family: .ipv6)

  /// The bits of the IPv4 address and of the suffix are zero.
  let bits: IPAddressBits
  /// 32, 40, 48, 56, 64 or 96 (RFC 6052, 2.2).
  let length: Int

  /// Returns the prefixes that the IPv6 addresses of the discovery name reveal, each once, in their order.
  static func prefixes(in addresses: [IPAddress]) -> [NAT64Prefix] {
    var prefixes: [NAT64Prefix] = []
    for address in addresses where address.family == .ipv6 {
      for length in [96, 64, 56, 48, 40, 32] {
        let prefix = NAT64Prefix(bits: address.bits.prefix(length), length: length)
        guard wellKnown.contains(where: { prefix.embed(IPAddress(ipv4: $0)).bits == address.bits }) else { continue }
        if !prefixes.contains(prefix) { prefixes.append(prefix) }
        break
      }
    }
    return prefixes
  }

  /// Returns the IPv6 address that stands for an IPv4 one: its 32 bits after the prefix, with bits 64 to 71 left zero
  /// (RFC 6052, 2.2).
  func embed(_ address: IPAddress) -> IPAddress {
    let value = address.bits.low & 0xFFFF_FFFF
    if length == 96 { return IPAddress(IPAddressBits(ipv6High: bits.high, low: bits.low | value)) }
    // A negative distance shifts to the right. What does not fit before bit 64 goes on at bit 72.
    let before = value << (32 - length)
    let after = value << (88 - length) & 0x00FF_FFFF_FFFF_FFFF
    return IPAddress(IPAddressBits(ipv6High: bits.high | before, low: bits.low | after))
  }
}
