// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// The scripted network in a user's test.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedNetworkTests {
  @Test func beginsWithoutAnyPath() async throws {
    let network = scriptedNetwork()
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let state = try await monitor.waitUntilKnown()
    #expect(state.status == .unreachable)
    #expect(state.reason == .noRoute)
  }

  @Test(arguments: [
    (ScriptedPath.wifi, "reachable via Wi-Fi (wlan0)", "-R -------"),
    (.wired, "reachable via wired (eth0)", "-R -------"),
    (.cellular, "reachable via cellular (wwan0)", "WR t------"),
    (.reachable(over: interface("wg0", 9, .tunnel)), "reachable via tunnel (wg0)", "-R t------"),
    (.reachable(over: interface("eth1", 9, .wired)), "reachable via wired (eth1)", "-R ------d"),
    (.unreachable(), "unreachable: no route to the destination", "-- -------"),
    (.denied, "undetermined: the system denies access to the network's state", "-- -------"),
    (
      .requiresConnection(.dormant, over: interface("wlan0")),
      "requires a connection via Wi-Fi (wlan0): the link is dormant: it waits to be let in", "-R -cC----"
    ),
    (
      .requiresConnection(.radioBlocked, over: interface("wlan0")),
      "requires a connection via Wi-Fi (wlan0): the radio is blocked", "-R -c-i---"
    ),
    (
      .requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)),
      "requires a connection via cellular (wwan0): the modem has no session", "WR tc-----"
    ),
  ])
  func aPathReadsAsItsNameSays(path: ScriptedPath, description: String, flags: String) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let state = try await ReachabilityMonitor(.internet, environment: network.environment).waitUntilKnown()
    #expect(state.description == description)
    #expect(state.flags.description == flags)
  }

  @Test func carriesGatewaySourceAndDestination() async throws {
    let network = scriptedNetwork()
    network.set(.reachable(over: interface("eth0"), gateway: ip("192.0.2.1"), source: ip("192.0.2.2")))
    let monitor = ReachabilityMonitor(.address(ip("203.0.113.1")), environment: network.environment)
    let state = try await monitor.waitUntilReachable()
    #expect(state.gateway == ip("192.0.2.1"))
    #expect(state.source == ip("192.0.2.2"))
    #expect(state.destination == ip("203.0.113.1"))
  }

  @Test func oneAddressCanDifferAndJoinTheOthersAgain() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.wired, for: ip("2001:db8::1"))
    let one = ReachabilityMonitor(.address(ip("2001:db8::1")), environment: network.environment)
    let other = ReachabilityMonitor(.address(ip("2001:db8::2")), environment: network.environment)
    #expect(try await one.waitUntilReachable().interface?.name == "eth0")
    #expect(try await other.waitUntilReachable().interface?.name == "wlan0")
    network.set(nil, for: ip("2001:db8::1"))
    try await eventually("it joins the others") { one.current.interface?.name == "wlan0" }
  }

  @Test func theLocalNetworkCanDiffer() async throws {
    let network = scriptedNetwork()
    network.setLocalNetwork(.wired)
    let monitor = ReachabilityMonitor(.localNetwork, environment: network.environment)
    #expect(try await monitor.waitUntilReachable().interface?.name == "eth0")
    network.setLocalNetwork(nil)
    try await eventually("it joins the addresses") { monitor.current.reason == .noRoute }
  }

  @Test func localNetworkOfAKindIsOnAnInterfaceOfThatKind() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    func isReachable(_ target: ReachabilityTarget) async throws -> Bool {
      try await ReachabilityMonitor(target, environment: network.environment).waitUntilKnown().isReachable
    }
    #expect(try await isReachable(.localNetwork))
    #expect(try await isReachable(.localNetwork(.wired)))
    #expect(try await !isReachable(.localNetwork(.wifi)))
    // A cellular way to the Internet is not a local network.
    network.set(.cellular)
    #expect(try await !isReachable(.localNetwork))
  }

  /// LocalNetworkTests show the same on real links.
  @Test(arguments: [
    (ScriptedPath.wifi, InterfaceKind.wifi), (.wired, .wired), (.reachable(over: interface("eth1", 9, .wired)), .wired),
  ])
  func theLocalNetworkIsGoneStraightTo(path: ScriptedPath, kind: InterfaceKind) async throws {
    let network = scriptedNetwork()
    network.set(path)
    for target in [ReachabilityTarget.localNetwork, .localNetwork(kind), .address(ip("169.254.7.7"))] {
      let monitor = ReachabilityMonitor(target, environment: network.environment)
      let state = try await monitor.waitUntilReachable()
      #expect(state.flags == [.reachable, .isDirect])
      #expect(state.gateway == nil)
      #expect(monitor.connectivity == .nonCellular)
    }
  }

  @Test func whatWasSaidOfALinkLocalAddressStands() async throws {
    let network = scriptedNetwork()
    network.set(.wifi, for: ip("169.254.7.7"))
    let state = try await network.monitor(.address(ip("169.254.7.7"))).waitUntilReachable()
    #expect(state.gateway == ip("192.0.2.1"))
  }

  @Test(arguments: [
    (ScriptedPath.wired, ReachabilityTarget.localNetwork(.wifi)), (.wifi, .localNetwork(.wired)),
    (.cellular, .localNetwork), (.cellular, .localNetwork(.cellular)),
    (.reachable(over: interface("wg0", 9, .tunnel)), .localNetwork),
    (.reachable(over: interface("wg0", 9, .tunnel)), .localNetwork(.tunnel)),
    (.requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)), .localNetwork),
    (.requiresConnection(.dormant, over: interface("wlan0")), .localNetwork(.wired)),
  ])
  func onOtherInterfacesThereIsNoLocalNetwork(path: ScriptedPath, target: ReachabilityTarget) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let monitor = ReachabilityMonitor(target, environment: network.environment)
    #expect(try await monitor.waitUntilKnown() ≈ Reachability(status: .unreachable, reason: .noInterface))
    #expect(monitor.connectivity == .unreachable)
  }

  @Test func onlyTheInterfaceAskedForCounts() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    var configuration = ReachabilityConfiguration()
    configuration.interface = "eth0"
    let there = ReachabilityMonitor(.internet, configuration: configuration, environment: network.environment)
    #expect(try await there.waitUntilKnown().isReachable)
    configuration.interface = "wlan0"
    let missing = ReachabilityMonitor(.internet, configuration: configuration, environment: network.environment)
    #expect(try await missing.waitUntilKnown().isReachable == false)
    network.set(.wifi)
    try await eventually("the interface appears") { missing.current.isReachable }
  }

  /// A setting that was left empty must not lift the restriction.
  @Test(arguments: ["", "a-name-that-is-too-long", "eth0\0"])
  func aNameThatNoInterfaceHasIsNotAnyInterface(name: String) async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    let none = Reachability(status: .unreachable, reason: .noInterface)
    for target in [ReachabilityTarget.internet, .localNetwork, .address(ip("192.0.2.1"))] {
      let state = try await network.monitor(target) { $0.interface = name }.waitUntilKnown()
      #expect(state ≈ none)
    }
    var configuration = ReachabilityConfiguration()
    configuration.interface = name
    #expect(Reachability.now(configuration: configuration, environment: network.environment) ≈ none)
    var path = PathConfiguration()
    path.interface = name
    let way = try await PathMonitor(configuration: path, environment: network.environment).waitUntilKnown()
    #expect(way.status == .unsatisfied && way.reason == .noInterface)
  }

  /// The answer is for addresses of both families, so the path leads to both.
  @Test(arguments: ["192.0.2.2", "2001:db8::2"])
  func aPathLeadsToBothFamilies(source: String) async throws {
    let network = scriptedNetwork()
    network.set(.reachable(over: interface("eth0", 3, .wired), source: ip(source)))
    let way = try await PathMonitor(environment: network.environment).waitUntilKnown()
    #expect(way.supportsIPv4 && way.supportsIPv6)
    #expect(way.interfaces.first?.addresses == [ip(source)])
  }

  @Test func aPairOfTwoFamiliesIsUnreachable() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    let target = ReachabilityTarget.address(ip("192.0.2.1"), from: ip("2001:db8::1"))
    let state = try await ReachabilityMonitor(target, environment: network.environment).waitUntilKnown()
    #expect(state.status == .unreachable)
    #expect(state.reason == .noAddress)
  }

  @Test func networksDoNotKnowOfOneAnother() async throws {
    let one = scriptedNetwork()
    let other = scriptedNetwork()
    one.set(.wifi)
    #expect(try await ReachabilityMonitor(.internet, environment: one.environment).waitUntilKnown().isReachable)
    #expect(try await !ReachabilityMonitor(.internet, environment: other.environment).waitUntilKnown().isReachable)
    #expect(other.queryCount > 0)
  }

  @Test func countsQueries() async throws {
    let network = scriptedNetwork()
    #expect(network.queryCount == 0)
    let monitor = ReachabilityMonitor(.address(ip("2001:db8::1")), environment: network.environment)
    _ = try await monitor.waitUntilKnown()
    let first = network.queryCount
    #expect(first > 0)
    network.set(.wifi)
    try await monitor.waitUntilReachable()
    #expect(network.queryCount > first)
  }

  @Test func worksForAnObservableObject() async throws {
    let network = scriptedNetwork()
    let observable = await ObservableReachability(.internet, environment: network.environment)
    #expect(await !observable.isReachable)
    network.set(.wifi)
    try await eventually("the property changes") { await observable.isReachable }
    #expect(await observable.current.interface?.kind == .wifi)
  }
}
