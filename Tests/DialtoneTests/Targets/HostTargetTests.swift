// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// The state of a host target, by its lookup and the network.
@Suite(.timeLimit(.minutes(5)))
struct HostTargetTests {
  private static let first = ip("192.0.2.10")
  private static let second = ip("192.0.2.20")
  private static let third = ip("2001:db8::30")

  private static func network(_ names: ScriptedNames, _ path: ScriptedPath = .wifi) -> ScriptedNetwork {
    let network = scriptedNetwork()
    network.set(path)
    network.set(names, forName: "name.example")
    return network
  }

  private static func state(of network: ScriptedNetwork) async throws -> Reachability {
    try await network.monitor(try .host("name.example")).waitUntilKnown()
  }

  @Test func isReachableIfItsAddressIs() async throws {
    let state = try await Self.state(of: Self.network(.addresses([Self.first])))
    #expect(state.isVia("wlan0"))
    #expect(state.destination == Self.first)
  }

  @Test func theFirstOfEqualAddressesWins() async throws {
    let network = Self.network(.addresses([Self.first, Self.second, Self.third]))
    network.set(.wired, for: Self.second)
    let state = try await Self.state(of: network)
    #expect(state.isVia("wlan0"))
    #expect(state.destination == Self.first)
  }

  @Test(arguments: [
    ScriptedPath.unreachable(.prohibited), .requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)),
    .denied,
  ])
  func aReachableAddressWinsOverAnyOther(worse: ScriptedPath) async throws {
    let network = Self.network(.addresses([Self.first, Self.second, Self.third]), worse)
    network.set(.wired, for: Self.third)
    let state = try await Self.state(of: network)
    #expect(state.isVia("eth0"))
    #expect(state.destination == Self.third)
  }

  @Test func oneThatRequiresAConnectionWinsOverNone() async throws {
    let network = Self.network(.addresses([Self.first, Self.second]), .unreachable())
    network.set(.requiresConnection(.dormant, over: interface("wlan0")), for: Self.second)
    let state = try await Self.state(of: network)
    #expect(state.status == .requiresConnection)
    #expect(state.reason == .dormant)
    #expect(state.flags.isSuperset(of: [.reachable, .connectionRequired]))
  }

  @Test func anotherAddressTakesOverAndTheFirstComesBack() async throws {
    let network = Self.network(.addresses([Self.first, Self.second]))
    network.set(.wired, for: Self.second)
    let monitor = network.monitor(try .host("name.example"))
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("by the first") { $0.isVia("wlan0") }
    network.set(.unreachable(.noCarrier), for: Self.first)
    try await log.wait("by the second") { $0.isVia("eth0") }
    network.set(nil, for: Self.first)
    try await log.wait("by the first again") { $0.isVia("wlan0") }
    network.set(.unreachable(.noCarrier), for: Self.first)
    network.set(.unreachable(.prohibited), for: Self.second)
    try await log.wait("by none") { $0.isUnreachable(.noCarrier) }
    token.cancel()
  }

  @Test func aNameThatDoesNotExistIsUnreachable() async throws {
    #expect(try await Self.state(of: Self.network(.nonexistent)).isUnreachable(.nameNotResolved))
    #expect(try await Self.state(of: Self.network(.addresses([]))).isUnreachable(.nameNotResolved))
    // The same holds without a path: the answer stays.
    #expect(try await Self.state(of: Self.network(.nonexistent, .unreachable())).isUnreachable(.nameNotResolved))
  }

  @Test func aNameThatCannotBeLookedUpIsUndeterminedWhileThereIsAPath() async throws {
    #expect(try await Self.state(of: Self.network(.failing)).isUndetermined(.nameNotResolved))
  }

  @Test(arguments: [Reachability.Reason.noRoute, .noCarrier, .linkDown, .prohibited, .noAddress])
  func aNameThatCannotBeLookedUpIsUnreachableForThePathsReasonWhileThereIsNone(
    reason: Reachability.Reason
  ) async throws {
    let state = try await Self.state(of: Self.network(.failing, .unreachable(reason)))
    #expect(state.isUnreachable(reason))
    #expect(state.destination == nil)
  }

  @Test func aNameThatCannotBeLookedUpRequiresAConnectionIfThePathDoes() async throws {
    let path = ScriptedPath.requiresConnection(.noSession, over: interface("wwan0", 4, .cellular))
    let state = try await Self.state(of: Self.network(.failing, path))
    #expect(state.status == .requiresConnection)
    #expect(state.reason == .noSession)
  }

  @Test func theStateOfANameThatFailsFollowsThePath() async throws {
    let network = Self.network(.failing, .unreachable(.noCarrier))
    let log = Log<Reachability>()
    let token = network.monitor(try .host("name.example")).observe { log.append($0) }
    try await log.wait("no path") { $0.isUnreachable(.noCarrier) }
    network.set(.wifi)
    try await log.wait("a path") { $0.isUndetermined(.nameNotResolved) }
    network.set(.unreachable(.linkDown))
    try await log.wait("no path") { $0.isUnreachable(.linkDown) }
    token.cancel()
  }

  @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
  func onlyTheFamilyAskedForCounts(family: IPAddress.Family) async throws {
    let network = Self.network(.addresses([Self.first, Self.third]))
    let state = try await network.monitor(try .host("name.example")) { $0.family = family }.waitUntilKnown()
    #expect(state.destination == (family == .ipv4 ? Self.first : Self.third))
    let other = Self.network(.addresses([family == .ipv4 ? Self.third : Self.first]))
    let none = try await other.monitor(try .host("name.example")) { $0.family = family }.waitUntilKnown()
    #expect(none.isUnreachable(.nameNotResolved))
  }

  @Test func anIPTextAsHostIsAnAddressAndIsNotLookedUp() async throws {
    let network = Self.network(.nonexistent)
    for text in ["192.0.2.10", "2001:db8::30", "[2001:db8::30]", "https://[2001:db8::30]:443/x"] {
      #expect(try await network.monitor(try .host(text)).waitUntilKnown().isReachable)
    }
  }

  @Test func twoMonitorsOfOneNameShareItsAnswer() async throws {
    let network = Self.network(.addresses([Self.first]))
    let one = network.monitor(try .host("name.example"))
    _ = try await one.waitUntilKnown()
    // A new lookup would now find that the name does not exist.
    network.set(.nonexistent, forName: "name.example")
    let two = network.monitor(try .host("name.example"))
    #expect(try await two.waitUntilKnown().isReachable)
    withExtendedLifetime(one) {}
  }
}
