// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The IANA special-purpose address registries of 2025: the columns "Address Block" and "Globally Reachable" of
/// iana-ipv4-special-registry-1.csv and iana-ipv6-special-registry-1.csv, line by line, without their footnotes.
enum SpecialPurposeRegistry {
  struct Block: Sendable {
    let network: UInt128
    let isIPv6: Bool
    let length: Int
    let isGloballyReachable: Bool

    private var width: Int { isIPv6 ? 128 : 32 }
    private var hostMask: UInt128 { length == width ? 0 : (UInt128(1) << UInt128(width - length)) - 1 }
    var first: UInt128 { network }
    var last: UInt128 { network | hostMask }

    func contains(_ address: UInt128, isIPv6: Bool) -> Bool {
      isIPv6 == self.isIPv6 && (first...last).contains(address)
    }
  }

  /// What the registries say of an address; `nil` if they do not list it.
  static func isGloballyReachable(_ address: UInt128, isIPv6: Bool) throws -> Bool? {
    try blocks.get().filter { $0.contains(address, isIPv6: isIPv6) }.max { $0.length < $1.length }?.isGloballyReachable
  }

  static let blocks = Result {
    try rows.split(separator: "\n").map { row in
      let parts = row.split(separator: ",", omittingEmptySubsequences: false)
      let block = parts[0].split(separator: "/")
      let network = try #require(IPAddress(block[0]))
      return Block(
        network: UInt128(network.bits.high) << 64 | UInt128(network.bits.low), isIPv6: network.family == .ipv6,
        length: try #require(Int(block[1])), isGloballyReachable: parts[1] == "True")
    }
  }

  private static let rows = """
    0.0.0.0/8,False
    0.0.0.0/32,False
    10.0.0.0/8,False
    100.64.0.0/10,False
    127.0.0.0/8,False
    169.254.0.0/16,False
    172.16.0.0/12,False
    192.0.0.0/24,False
    192.0.0.0/29,False
    192.0.0.8/32,False
    192.0.0.9/32,True
    192.0.0.10/32,True
    192.0.0.170/32,False
    192.0.0.171/32,False
    192.0.2.0/24,False
    192.31.196.0/24,True
    192.52.193.0/24,True
    192.88.99.0/24,
    192.88.99.2/32,False
    192.168.0.0/16,False
    192.175.48.0/24,True
    198.18.0.0/15,False
    198.51.100.0/24,False
    203.0.113.0/24,False
    240.0.0.0/4,False
    255.255.255.255/32,False
    ::1/128,False
    ::/128,False
    ::ffff:0:0/96,False
    64:ff9b::/96,True
    64:ff9b:1::/48,False
    100::/64,False
    100:0:0:1::/64,False
    2001::/23,False
    2001::/32,N/A
    2001:1::1/128,True
    2001:1::2/128,True
    2001:1::3/128,True
    2001:2::/48,False
    2001:3::/32,True
    2001:4:112::/48,True
    2001:10::/28,
    2001:20::/28,True
    2001:30::/28,True
    2001:db8::/32,False
    2002::/16,N/A
    2620:4f:8000::/48,True
    3fff::/20,False
    5f00::/16,False
    fc00::/7,False
    fe80::/10,False
    """
}
