// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The decision that RKReachabilityObserver and SCNetworkReachabilityKit share, for every kind of target, compared with
/// what the originals returned.
struct FlagsConnectivityTests {
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

  private func check(
    _ column: KeyPath<OriginalRules, String>, _ connectivity: (ReachabilityFlags) -> ReachabilityFlags.Connectivity
  ) {
    for original in OriginalRules.all {
      let word = OriginalRulesTests.word(connectivity(original.flags))
      #expect(word == original[keyPath: column], "\(original.description)")
    }
  }

  @Test(arguments: remoteTargets)
  func aRemoteTargetsFlagsAreReadByTheTable(target: ReachabilityTarget) {
    #expect(!target.isLocalNetwork)
    check(\.network) { $0.connectivity(to: target) }
  }

  @Test(arguments: localTargets)
  func aLocalNetworkIsReachedDirectlyOrNotAtAllAndNeverOverACellularInterface(target: ReachabilityTarget) {
    #expect(target.isLocalNetwork)
    check(\.localNetwork) { $0.connectivity(to: target) }
  }

  @Test func hostsAreRemoteAndTextOfALinkLocalAddressIsLocal() throws {
    #expect(try !ReachabilityTarget.host("example.com").isLocalNetwork)
    #expect(try ReachabilityTarget.host("169.254.0.1").isLocalNetwork)
    #expect(try ReachabilityTarget.host("http://169.254.169.254/latest").isLocalNetwork)
  }

  @Test func withoutATargetItIsTheInternet() {
    check(\.network) { $0.connectivity() }
  }

  @Test func bitsThatAreNotKnownDoNotCount() {
    for flags in ReachabilityFlags.combinations {
      let more = ReachabilityFlags(rawValue: flags.rawValue | 0xFFF8_FFC0)
      #expect(more.connectivity() == flags.connectivity())
      #expect(more.connectivity(to: .localNetwork) == flags.connectivity(to: .localNetwork))
    }
  }
}
