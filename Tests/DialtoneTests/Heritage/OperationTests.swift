// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// What KSReachableOperation did, on hosts and on addresses.
@Suite(.timeLimit(.minutes(5)))
struct OperationTests {
  @Test func aHostIsWaitedForWhileOnlyTheTokenIsKept() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "example.com")
    let fired = Counter()
    // The test does not keep the monitor.
    let token = network.monitor(try .host("example.com")).whenReachable { fired.add() }
    try await network.settle()
    #expect(fired.value == 0)
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    try await eventually("it has run") { fired.value == 1 }
    try await eventually("monitoring has ended") { network.environment.provider.runningEngine == nil }
    token.cancel()
  }

  @Test func releasingTheTokenEndsTheWaitForAHostAndItsMonitoring() async throws {
    let network = scriptedNetwork()
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    let fired = Counter()
    var token: ReachabilityObservation? = network.monitor(try .host("example.com")).whenReachable { fired.add() }
    try await network.settle()
    withExtendedLifetime(token) {}
    token = nil
    try await eventually("monitoring has ended") { network.environment.provider.runningEngine == nil }
    network.set(.wifi)
    try await network.settle()
    #expect(fired.value == 0)
  }

  @Test func aSecondOneDoesNotAffectTheFirst() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let log = Log<Int>()
    let first = monitor.whenReachable { log.append(1) }
    let second = monitor.whenReachable { log.append(2) }
    let third = monitor.whenReachable { log.append(3) }
    second.cancel()
    network.set(.wifi)
    try await eventually("both have run") { log.count == 2 }
    try await network.settle()
    #expect(Set(log.all) == [1, 3])
    withExtendedLifetime((first, third)) {}
  }

  @Test func itExposesWhatItWaitsOnUntilItHasRun() async throws {
    let network = scriptedNetwork()
    network.set(.failing, forName: "example.com")
    let fired = Counter()
    let once = network.monitor(try .host("example.com")).whenReachable { fired.add() }
    let monitor = try #require(once.monitor as? ReachabilityMonitor)
    #expect(try monitor.target == .host("example.com"))
    #expect(!monitor.current.isReachable)
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    let ticking = network.clock.ticking()
    try await eventually("it has run") { fired.value == 1 }
    ticking.cancel()
    #expect(once.monitor == nil)
    let token = monitor.observe { _ in }
    #expect(token.monitor === monitor)
    token.cancel()
    #expect(token.monitor == nil)
    let paths = PathMonitor(environment: network.environment)
    let watching = paths.observe { _ in }
    #expect(watching.monitor === paths)
  }

  /// KSReachability fired for a connection that comes up by itself: required, on demand or on traffic, without
  /// intervention.
  @Test(arguments: [
    (Reachability.Reason.dormant, NetworkInterface(name: "wlan0", index: 3, kind: .wifi), true),
    (.radioBlocked, NetworkInterface(name: "wlan0", index: 3, kind: .wifi), false),
    (.noSession, NetworkInterface(name: "wwan0", index: 4, kind: .cellular), false),
  ])
  func itAcceptsAConnectionThatComesByItselfIfAsked(
    reason: Reachability.Reason, over link: NetworkInterface?, isAccepted: Bool
  ) async throws {
    let network = scriptedNetwork()
    network.set(.requiresConnection(reason, over: try #require(link)))
    let monitor = network.monitor()
    let state = try await monitor.waitUntilDetermined()
    // The table's value is what the original decided.
    let original = try #require(OriginalRules.all.first { $0.flags == state.flags })
    #expect(original.rules.contains("R") == isAccepted)

    typealias Requirement = ReachabilityMonitor.InterfaceRequirement
    #expect(Requirement.any.acceptingConnectionOnDemand.isMet(by: state) == isAccepted)
    #expect(!Requirement.any.isMet(by: state))
    #expect(!Requirement.only(.wired).acceptingConnectionOnDemand.isMet(by: state))
    let accepting = Counter()
    let strict = Counter()
    let tokens = [
      monitor.whenReachable(over: .nonCellular.acceptingConnectionOnDemand) { accepting.add() },
      monitor.whenReachable(over: .nonCellular) { strict.add() },
    ]
    if isAccepted {
      let met = try await monitor.waitUntilReachable(over: .any.acceptingConnectionOnDemand, timeout: .zero)
      #expect(met.status == .requiresConnection)
      try await eventually("it has run") { accepting.value == 1 }
    }
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilReachable(timeout: .zero) }
    try await network.settle()
    #expect(accepting.value == (isAccepted ? 1 : 0))
    #expect(strict.value == 0)
    withExtendedLifetime(tokens) {}
  }

  /// KSReachability measured the default route if it was given an IPv4 address.
  @Test(arguments: ["192.0.2.7", "http://192.0.2.7/path", "2001:db8::7", "http://[2001:db8::7]:8080/"])
  func anAddressIsAskedForItselfAndNotForTheDefaultRoute(text: String) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    for address in ["192.0.2.7", "2001:db8::7"] { network.set(.unreachable(.prohibited), for: ip(address)) }
    let internet = network.monitor()
    let monitor = network.monitor(try .host(text)) { $0.usesNAT64 = false }
    #expect(try await monitor.waitUntilKnown().isUnreachable(.prohibited))
    #expect(try await internet.waitUntilKnown().isReachable)
    let token = monitor.whenReachable {}
    for address in ["192.0.2.7", "2001:db8::7"] { network.set(.wired, for: ip(address)) }
    #expect(try await monitor.waitUntilReachable().isVia("eth0"))
    #expect(internet.current.isVia("wlan0"))
    token.cancel()
  }
}
