// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

@testable import DialtoneSites

struct PublicAddressTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1", "100.64.0.1",
    "100.127.255.255", "0.1.2.3", "::1", "::", "fe80::1%eth0", "fc00::1", "fdff::1", "fec0::1", "::ffff:10.0.0.1",
    "64:ff9b::a00:1", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "64:ff9b::c000:201", "224.0.0.1", "239.1.2.3",
    "ff02::1", "ff0e::1",
  ])
  func isNotPublic(_ text: String) throws { #expect(try !#require(IPAddress(text)).isPublic) }

  @Test(arguments: [
    "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.0", "11.0.0.1", "2001:503:ba3e::2:30", "fe00::1",
    "198.41.0.4", "::ffff:198.41.0.4", "64:ff9b::c629:4",
  ])
  func isPublic(_ text: String) throws { #expect(try #require(IPAddress(text)).isPublic) }

  /// The ends of each block, the addresses beside them, and one inside.
  @Test func isPublicUnlessTheRegistriesSayOtherwise() throws {
    var numbers = SeededNumbers(seed: 6_890)
    for block in try SpecialPurposeRegistry.blocks.get() {
      let most: UInt128 = block.isIPv6 ? .max : UInt128(UInt32.max)
      let probes = [
        block.first, block.last, block.first == 0 ? 0 : block.first - 1, block.last == most ? most : block.last + 1,
        UInt128.random(in: block.first...block.last, using: &numbers),
      ]
      for probe in probes {
        let address = IPAddress(
          block.isIPv6
            ? IPAddressBits(ipv6High: UInt64(probe >> 64), low: UInt64(truncatingIfNeeded: probe))
            : IPAddressBits(ipv4: UInt32(probe)))
        // For these, the address that they contain counts; see above.
        if address.unmapped != address || probe >> 32 == 0x64_FF9B << 64 { continue }
        let isListed = try SpecialPurposeRegistry.isGloballyReachable(probe, isIPv6: block.isIPv6)
        // The registries list neither multicast (RFC 5771) nor site-local addresses (RFC 3879).
        let isElsewhere = address.isMulticast || block.isIPv6 && probe >> 118 == 0x3FB
        #expect(address.isPublic == (isListed ?? !isElsewhere), "\(address)")
      }
    }
  }
}
