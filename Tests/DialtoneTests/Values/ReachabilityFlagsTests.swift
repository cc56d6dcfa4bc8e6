// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

struct ReachabilityFlagsTests {
  /// Each flag with Apple's bit, its place in the description and its name.
  static let flags: [(flag: ReachabilityFlags, bit: UInt32, description: String, name: String)] = [
    (.transientConnection, 0, "-- t------", "transientConnection"),
    (.reachable, 1, "-R -------", "reachable"),
    (.connectionRequired, 2, "-- -c-----", "connectionRequired"),
    (.connectionOnTraffic, 3, "-- --C----", "connectionOnTraffic"),
    (.interventionRequired, 4, "-- ---i---", "interventionRequired"),
    (.connectionOnDemand, 5, "-- ----D--", "connectionOnDemand"),
    (.isLocalAddress, 16, "-- -----l-", "isLocalAddress"),
    (.isDirect, 17, "-- ------d", "isDirect"),
    (.isWWAN, 18, "W- -------", "isWWAN"),
  ]

  @Test(arguments: 0..<flags.count)
  func hasTheBitTheLetterAndTheName(position: Int) {
    let (flag, bit, description, name) = Self.flags[position]
    #expect(flag.rawValue == 1 << bit)
    #expect(flag.description == description)
    #expect(flag.names == [name])
  }

  @Test func describesNoneAndAll() {
    #expect(ReachabilityFlags().description == "-- -------")
    #expect(ReachabilityFlags().names.isEmpty)
    let all = ReachabilityFlags(Self.flags.map(\.flag))
    #expect(all.description == "WR tcCiDld")
    #expect(all.names == Self.flags.map(\.name))
    #expect(all.rawValue == 0x7_003F)
  }

  @Test func keepsBitsItDoesNotKnow() {
    let flags = ReachabilityFlags(rawValue: 0x8000_0002)
    #expect(flags.rawValue == 0x8000_0002)
    #expect(flags.names == ["reachable"])
    #expect(flags.description == "-R -------")
  }
}
