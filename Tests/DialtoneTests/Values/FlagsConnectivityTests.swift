// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The decision that RKReachabilityObserver and SCNetworkReachabilityKit share, against tables written by letters.
struct FlagsConnectivityTests {
  typealias Row = (pattern: String, connectivity: ReachabilityFlags.Connectivity)

  /// Letters that are set, then, after `!`, letters that are clear. For each combination, all rows that match agree.
  static let remote: [Row] = [
    ("!R", .unreachable),
    ("RW", .cellular),
    ("R!Wc", .nonCellular),
    ("Rc!WCD", .unreachable),
    ("RcC!Wi", .nonCellular),
    ("RcD!Wi", .nonCellular),
    ("Rci!W", .unreachable),
  ]
  static let local: [Row] = [("!R", .unreachable), ("R!d", .unreachable), ("Rd", .nonCellular)]

  static let localTargets: [ReachabilityTarget] = [
    .localNetwork, .localNetwork(.wifi), .localNetwork(.cellular), .address(ip("169.254.0.0")),
    .address(ip("169.254.255.255")), .address(ip("169.254.1.2")), .address(ip("::ffff:169.254.1.2")),
    .address(ip("169.254.1.2"), from: ip("192.0.2.1")),
  ]
  static let remoteTargets: [ReachabilityTarget] = [
    .internet, .address(ip("192.0.2.1")), .address(ip("169.253.255.255")), .address(ip("169.255.0.0")),
    .address(ip("2001:db8::1")), .address(ip("fe80::1%eth0")), .address(ip("::ffff:192.0.2.1")),
    .address(ip("192.0.2.1"), from: ip("169.254.1.2")), .address(ip("127.0.0.1")), .address(ip("224.0.0.251")),
    .address(ip("a9fe::1")),
  ]

  private func check(_ table: [Row], _ connectivity: (ReachabilityFlags) -> ReachabilityFlags.Connectivity) {
    for flags in ReachabilityFlags.combinations {
      let rows = table.filter { flags.match($0.pattern) }
      #expect(!rows.isEmpty, "\(flags)")
      for row in rows { #expect(connectivity(flags) == row.connectivity, "\(flags), row \(row.pattern)") }
    }
  }

  @Test(arguments: remoteTargets)
  func aRemoteTargetsFlagsAreReadByTheTable(target: ReachabilityTarget) {
    #expect(!target.isLocalNetwork)
    check(Self.remote) { $0.connectivity(to: target) }
  }

  @Test(arguments: localTargets)
  func aLocalNetworkIsReachedDirectlyOrNotAtAllAndNeverOverACellularInterface(target: ReachabilityTarget) {
    #expect(target.isLocalNetwork)
    check(Self.local) { $0.connectivity(to: target) }
  }

  @Test func hostsAreRemoteAndTextOfALinkLocalAddressIsLocal() throws {
    #expect(try !ReachabilityTarget.host("example.com").isLocalNetwork)
    #expect(try ReachabilityTarget.host("169.254.0.1").isLocalNetwork)
    #expect(try ReachabilityTarget.host("http://169.254.169.254/latest").isLocalNetwork)
  }

  @Test func withoutATargetItIsTheInternet() {
    check(Self.remote) { $0.connectivity() }
  }

  @Test func bitsThatAreNotKnownDoNotCount() {
    for flags in ReachabilityFlags.combinations {
      let more = ReachabilityFlags(rawValue: flags.rawValue | 0xFFF8_FFC0)
      #expect(more.connectivity() == flags.connectivity())
      #expect(more.connectivity(to: .localNetwork) == flags.connectivity(to: .localNetwork))
    }
  }
}
