// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// Which addresses a check may connect to, even if a name leads to others: for programs that check what strangers name.
package struct AddressAdmission: Hashable, Sendable {
  /// Addresses whose first bits are the same.
  package struct Network: Hashable, Sendable {
    package let address: IPAddress
    package let length: Int

    /// `nil` if there is no such length in the address's family.
    package init?(_ address: IPAddress, length: Int) {
      let address = address.unmapped
      guard (0...address.bits.bitWidth).contains(length) else { return nil }
      self.address = IPAddress(address.bits)
      self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
      address.bits.matches(prefix: self.address.bits, length: length)
    }

    /// One that is known when the program is written.
    static func known(_ text: String, _ length: Int) -> Network {
      guard let address = IPAddress(text), let network = Network(address, length: length) else {
        preconditionFailure("\(text)/\(length) is a network")
      }
      return network
    }
  }

  /// The only ones, if they are listed.
  package var networks: [Network]?
  /// Whether this machine's own loopback is left out, unless a listed network has it.
  package var excludesLoopback = false
  private let listed: [Network]

  package init(networks: [Network]? = nil, excludesLoopback: Bool = false, listed: [Network] = []) {
    self.networks = networks
    self.excludesLoopback = excludesLoopback
    self.listed = listed
  }

  /// Whether a check may connect to the address.
  package func admits(_ address: IPAddress) -> Bool {
    // All forms of one address: a translator, or a tunnel on the way, sees the one inside.
    let forms = [address.unmapped] + address.embedded
    if forms.contains(where: { form in Self.never.contains { $0.contains(form) } }) { return false }
    if let networks { return networks.contains { $0.contains(address.unmapped) } }
    if listed.contains(where: { $0.contains(address.unmapped) }) { return true }
    return !excludesLoopback || !forms.contains { $0.isLoopback || $0.isUnspecified }
  }

  /// Whether no list opens the way to any address of the network.
  package static func excludes(_ network: Network) -> Bool {
    never.contains { $0.length <= network.length && $0.contains(network.address) }
  }

  /// What no list opens: link-local addresses, of which a cloud's metadata service has one, site-local ones (RFC 3879),
  /// and the other addresses of such services: Amazon's (IPv6; EKS gives a pod's credentials at the second), Google's
  /// (IPv6), Scaleway's (IPv6), Akamai's (IPv6), Alibaba's, Oracle's and Azure's.
  private static let never: [Network] = [
    .known("169.254.0.0", 16), .known("fe80::", 10), .known("fec0::", 10),
    .known("fd00:ec2::254", 128), .known("fd00:ec2::23", 128), .known("fd20:ce::254", 128),
    .known("fd00:42::42", 128), .known("fd00:a9fe:a9fe::1", 128), .known("fd00:100::100:200", 128),
    .known("100.100.100.200", 32), .known("192.0.0.192", 32), .known("168.63.129.16", 32),
  ]
}

extension IPAddress {
  /// Its 4 or 16 bytes, in network order.
  package var networkBytes: [UInt8] {
    let value = UInt128(bits.high) << 64 | UInt128(bits.low)
    return (0..<bits.byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> UInt128(8 * $0)) }
  }

  /// The IPv4 addresses that an IPv6 one may stand for: in the last bits, as translators (RFC 6052, RFC 8215) and
  /// IPv4-compatible addresses have it; and behind 2002::/16 (RFC 3056).
  fileprivate var embedded: [IPAddress] {
    guard bits.isIPv6, !bits.isIPv4Mapped else { return [] }
    var found: [IPAddress] = []
    let isTranslated = bits.high == 0x0064_FF9B_0000_0000 || bits.high >> 16 == 0x0064_FF9B_0001 || bits.high == 0
    // Networks choose prefixes of their own, too: there, only the metadata service itself can be told.
    if isTranslated && bits.low > 1 || bits.low & 0xFFFF_FFFF == 0xA9FE_A9FE {
      found.append(IPAddress(ipv4: UInt32(truncatingIfNeeded: bits.low)))
    }
    if bits.high >> 48 == 0x2002 { found.append(IPAddress(ipv4: UInt32(truncatingIfNeeded: bits.high >> 16))) }
    return found
  }
}
