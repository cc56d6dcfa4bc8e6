// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// What KSReachableOperation did, on hosts and on addresses.
@Suite(.timeLimit(.minutes(5)))
struct OperationTests {
  @Test func onAHostOnlyItsTokenIsKept() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "example.com")
    let fired = Counter()
    // Nobody keeps the monitor.
    let token = network.monitor(try .host("example.com")).whenReachable { fired.add() }
    try await network.settle()
    #expect(fired.value == 0)
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    try await eventually("it has run") { fired.value == 1 }
    try await eventually("monitoring has ended") { network.environment.slot.runningEngine == nil }
    token.cancel()
  }

  @Test func onAHostReleasedBeforeItEndsAndMonitoringWithIt() async throws {
    let network = ScriptedNetwork()
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    let fired = Counter()
    var token: ReachabilityObservation? = network.monitor(try .host("example.com")).whenReachable { fired.add() }
    try await network.settle()
    withExtendedLifetime(token) {}
    token = nil
    try await eventually("monitoring has ended") { network.environment.slot.runningEngine == nil }
    network.set(.wifi)
    try await network.settle()
    #expect(fired.value == 0)
  }

  @Test func aSecondOneLeavesTheFirstAloneWhicheverEnds() async throws {
    let network = ScriptedNetwork()
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

  /// KSReachability measured the default route where it was given an IPv4 address.
  @Test(arguments: ["192.0.2.7", "http://192.0.2.7/path", "2001:db8::7", "http://[2001:db8::7]:8080/"])
  func anAddressIsAskedForItselfAndNotForTheDefaultRoute(text: String) async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    for address in ["192.0.2.7", "2001:db8::7"] { network.set(.unreachable(.prohibited), for: ip(address)) }
    let internet = network.monitor()
    let monitor = network.monitor(try .host(text)) { $0.nat64 = .off }
    #expect(try await monitor.waitUntilKnown().isUnreachable(.prohibited))
    #expect(try await internet.waitUntilKnown().isReachable)
    let token = monitor.whenReachable {}
    for address in ["192.0.2.7", "2001:db8::7"] { network.set(.wired, for: ip(address)) }
    #expect(try await monitor.waitUntilReachable().isVia("eth0"))
    #expect(internet.current.isVia("wlan0"))
    token.cancel()
  }
}
