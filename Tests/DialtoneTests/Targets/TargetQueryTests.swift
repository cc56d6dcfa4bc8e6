// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Which addresses are asked about for a target.
@Suite(.timeLimit(.minutes(5)))
struct TargetQueryTests {
  private static let rootIPv4 = ip("198.41.0.4")
  private static let rootIPv6 = ip("2001:503:ba3e::2:30")

  @Test func theInternetIsReachableIfEitherFamilyIs() async throws {
    for root in [Self.rootIPv4, Self.rootIPv6] {
      let network = scriptedNetwork()
      network.set(.wifi, for: root)
      let state = try await network.monitor().waitUntilReachable()
      #expect(state.destination == root)
    }
  }

  @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
  func theInternetCanBeAskedOverOneFamily(family: IPAddress.Family) async throws {
    let network = scriptedNetwork()
    network.set(.wifi, for: family == .ipv4 ? Self.rootIPv6 : Self.rootIPv4)
    #expect(try await network.monitor { $0.family = family }.waitUntilKnown().isUnreachable(.noRoute))
  }

  @Test(arguments: [("0.0.0.0", rootIPv4), ("::", rootIPv6), ("::ffff:0.0.0.0", rootIPv4)])
  func theUnspecifiedAddressIsTheInternetOverItsFamily(text: String, root: IPAddress) async throws {
    let network = scriptedNetwork()
    network.set(.wifi, for: root)
    let state = try await network.monitor(.address(ip(text))).waitUntilKnown()
    #expect(state.isReachable)
    #expect(state.destination == root)
  }

  @Test(arguments: [
    ("0.0.0.0", "192.0.2.2", rootIPv4), ("::", "2001:db8::2", rootIPv6),
    ("::ffff:0.0.0.0", "::ffff:192.0.2.2", rootIPv4),
  ])
  func theUnspecifiedAddressOfAPairIsTheInternetToo(remote: String, local: String, root: IPAddress) async throws {
    let network = scriptedNetwork()
    network.set(.wifi, for: root)
    let state = try await network.monitor(.address(ip(remote), from: ip(local))).waitUntilKnown()
    #expect(state.isReachable)
    #expect(state.destination == root)
  }

  @Test(arguments: [("192.0.2.1", IPAddress.Family.ipv6), ("2001:db8::1", .ipv4), ("0.0.0.0", .ipv6), ("::", .ipv4)])
  func anAddressOfTheOtherFamilyIsUnreachable(text: String, family: IPAddress.Family) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let state = try await network.monitor(.address(ip(text))) { $0.family = family }.waitUntilKnown()
    #expect(state.isUnreachable(.noRoute))
  }

  @Test func anIPv4MappedAddressIsTheIPv4AddressInIt() async throws {
    let network = scriptedNetwork()
    network.set(.wifi, for: ip("192.0.2.1"))
    let state = try await network.monitor(.address(ip("::ffff:192.0.2.1"))) { $0.family = .ipv4 }.waitUntilKnown()
    #expect(state.isReachable)
    #expect(state.destination == ip("192.0.2.1"))
  }

  @Test func targetsThatAskTheSameShareAQuery() async throws {
    let network = scriptedNetwork()
    let monitors = (0..<100).map { _ in network.monitor(.address(ip("2001:db8::1"))) }
    for monitor in monitors { _ = try await monitor.waitUntilKnown() }
    let before = network.queryCount
    network.set(.wifi)
    for monitor in monitors { try await monitor.waitUntilReachable() }
    #expect(network.queryCount == before + 1)
  }
}
