// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// Path monitors as in a user's test, on a scripted network.
@Suite(.timeLimit(.minutes(5)))
struct PathMonitorTests {
  private static let wifi = NetworkPath.Interface(
    interface("wlan0", 2, .wifi), addresses: [ip("192.0.2.2")], gateways: [ip("192.0.2.1")])
  private static let wired = NetworkPath.Interface(interface("eth0", 3, .wired))
  private static let cellular = NetworkPath.Interface(interface("wwan0", 4, .cellular), isExpensive: true)

  private func satisfied(_ interfaces: NetworkPath.Interface...) -> NetworkPath {
    NetworkPath(.satisfied, interfaces: interfaces, supportsDNS: true)
  }

  // MARK: Telling

  @Test func nothingIsKnownAtFirstAndNothingIsDeliveredBefore() async throws {
    let slow = SlowNetwork()
    slow.network.set(.wifi)
    let monitor = PathMonitor(environment: slow.environment)
    #expect(monitor.current ≈ NetworkPath(.undetermined))
    let log = Log<NetworkPath>()
    let token = monitor.observe { log.append($0) }
    #expect(log.count == 0)
    slow.open()
    try await eventually("it is known") { log.count == 1 }
    #expect(log.last?.description == "satisfied via Wi-Fi (wlan0)")
    #expect(monitor.current ≈ log.last)
    token.cancel()
  }

  @Test(arguments: Receiver.exact)
  func everyWayToListenGetsTheFirstKnownPathAndThenEachChange(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(satisfied(Self.wifi))
    let monitor = PathMonitor(environment: network.environment)
    let log = Log<NetworkPath>()
    let reception = receiver.follow(any: monitor) { log.append($0) }
    try await eventually("the first") { log.count == 1 }
    network.set(satisfied(Self.wired, Self.wifi))
    try await eventually("another order") { log.count == 2 }
    network.set(NetworkPath(.unsatisfied, reason: .noRoute))
    try await eventually("unsatisfied") { log.count == 3 }
    #expect(log.all.map { $0.interfaces.map(\.name) } == [["wlan0"], ["eth0", "wlan0"], []])
    reception.cancel()
  }

  @Test func equalPathsAreNotDeliveredAgainAndTemporaryAddressesRotateUnnoticed() async throws {
    let network = scriptedNetwork()
    network.set(satisfied(Self.wifi))
    let monitor = PathMonitor(environment: network.environment)
    let log = Log<NetworkPath>()
    let token = monitor.observe { log.append($0) }
    try await eventually("the first") { log.count == 1 }
    let time = try #require(monitor.current.timestamp)
    for number in 1...5 {
      var rotated = Self.wifi
      rotated.temporaryAddresses = [ip("2001:db8::\(number)")]
      network.set(satisfied(rotated))
      try await eventually("it can be read") {
        monitor.current.interfaces.map(\.temporaryAddresses) == [rotated.temporaryAddresses]
      }
      try await network.settle()
    }
    #expect(log.count == 1)
    // The time is that of the last change.
    #expect(monitor.current.timestamp == time)
    network.set(satisfied(Self.wired))
    try await eventually("a change") { log.count == 2 }
    #expect(try #require(monitor.current.timestamp) >= time)
    token.cancel()
  }

  @Test func deniedIsUndeterminedWithAReasonAndDelivered() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let monitor = PathMonitor(environment: network.environment)
    let path = try await monitor.waitUntilKnown()
    #expect(path.status == .undetermined)
    #expect(path.reason == .denied)
    #expect(path.interfaces.isEmpty && !path.supportsDNS)
    network.set(.wifi)
    try await monitor.waitUntilSatisfied()
  }

  // MARK: Settling

  @Test func aChangeComesOnceItHasBeenQuietAndCurrentAtOnce() async throws {
    let network = scriptedNetwork()
    network.set(satisfied(Self.wifi))
    var configuration = PathConfiguration()
    configuration.settling = .seconds(10)
    let monitor = PathMonitor(configuration: configuration, environment: network.environment)
    let log = Log<NetworkPath>()
    let token = monitor.observe { log.append($0) }
    try await eventually("the first comes at once") { log.count == 1 }
    for interface in [Self.wired, Self.cellular] {
      network.set(satisfied(interface))
      try await eventually("current has it") { monitor.current.interfaces == [interface] }
      network.clock.advance(by: .seconds(9))
      try await network.settle()
      #expect(log.count == 1)
    }
    network.clock.advance(by: .seconds(1))
    try await eventually("the newest") { log.count == 2 }
    #expect(log.last?.interfaces == [Self.cellular])
    // A path that goes and comes back is no change.
    network.set(satisfied(Self.wifi))
    try await eventually("gone") { monitor.current.interfaces == [Self.wifi] }
    network.set(satisfied(Self.cellular))
    try await eventually("back") { monitor.current.interfaces == [Self.cellular] }
    network.clock.advance(by: .seconds(60))
    try await network.settle()
    #expect(log.count == 2)
    token.cancel()
  }

  @Test func aChangeComesAfterFourTimesTheSettlingIfItIsNeverQuiet() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    var configuration = PathConfiguration()
    configuration.settling = .seconds(10)
    let monitor = PathMonitor(configuration: configuration, environment: network.environment)
    let log = Log<UInt32?>()
    let token = monitor.observe { log.append($0.interfaces.first?.index) }
    try await eventually("the first") { log.count == 1 }
    for number in 2...9 {
      network.set(.numbered(number))
      try await eventually("current has it") { monitor.current.interfaces.first?.index == UInt32(number) }
      #expect(log.count == 1)
      network.clock.advance(by: .seconds(5))
      if number < 9 { try await network.settle() }
    }
    try await eventually("40 seconds after the first change") { log.all == [1, 9] }
    token.cancel()
  }

  // MARK: Restrictions

  @Test(
    arguments: [
      ([.wired], [], nil, ["eth0"]), ([], [.wired], nil, ["wlan0", "wwan0"]),
      ([.wifi, .wired], [.wired], nil, ["wlan0"]),
      ([.tunnel], [], nil, []), ([], [], "wwan0", ["wwan0"]), ([], [], "3", ["eth0"]), ([], [], "missing", []),
      ([.wifi], [], "eth0", []),
    ] as [(Set<InterfaceKind>, Set<InterfaceKind>, String?, [String])])
  func kindsAndNameSayWhatCounts(
    required: Set<InterfaceKind>, prohibited: Set<InterfaceKind>, name: String?, expected: [String]
  ) async throws {
    let network = scriptedNetwork()
    network.set(satisfied(Self.wired, Self.wifi, Self.cellular))
    var configuration = PathConfiguration()
    configuration.requiredKinds = required
    configuration.prohibitedKinds = prohibited
    configuration.interface = name
    let path = try await PathMonitor(configuration: configuration, environment: network.environment).waitUntilKnown()
    #expect(path.interfaces.map(\.name) == expected)
    #expect(path.status == (expected.isEmpty ? .unsatisfied : .satisfied))
    #expect(path.reason == (expected.isEmpty ? .noInterface : nil))
  }

  @Test func requiringAndProhibitingAreShorthands() async throws {
    let network = scriptedNetwork()
    network.set(satisfied(Self.wired, Self.cellular))
    let wired = PathMonitor(requiring: .wired, environment: network.environment)
    let others = PathMonitor(prohibiting: [.wired], environment: network.environment)
    #expect(wired.configuration.requiredKinds == [.wired])
    #expect(try await wired.waitUntilKnown().isExpensive == false)
    #expect(try await others.waitUntilKnown().isExpensive)
  }

  @Test func aConnectionOverWhatDoesNotCountIsNotRequired() async throws {
    let network = scriptedNetwork()
    network.set(.requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)))
    let any = PathMonitor(environment: network.environment)
    #expect(try await any.waitUntilKnown() ≈ NetworkPath(.requiresConnection, reason: .noSession))
    let others = PathMonitor(prohibiting: [.cellular], environment: network.environment)
    #expect(try await others.waitUntilKnown() ≈ NetworkPath(.unsatisfied, reason: .noInterface))
  }

  @Test func meteredAndConstrainedInterfacesAreTheUsers() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    var configuration = PathConfiguration()
    configuration.meteredInterfaces = ["eth0"]
    let metered = try await PathMonitor(configuration: configuration, environment: network.environment).waitUntilKnown()
    #expect(metered.isExpensive && !metered.isConstrained)
    configuration = PathConfiguration()
    configuration.constrainedInterfaces = ["eth0"]
    let constrained = try await PathMonitor(configuration: configuration, environment: network.environment)
      .waitUntilKnown()
    #expect(!constrained.isExpensive && constrained.isConstrained)
    network.set(.cellular)
    #expect(try await PathMonitor(environment: network.environment).waitUntilKnown().isExpensive)
  }

  // MARK: Waiting

  @Test func waitsEndWithTheSatisfiedPath() async throws {
    let network = scriptedNetwork()
    let monitor = PathMonitor(prohibiting: [.cellular], environment: network.environment)
    let waiting = Task { try await monitor.waitUntilSatisfied() }
    _ = try await monitor.waitUntilKnown()
    network.set(.cellular)
    try await network.settle()
    network.set(.wifi)
    #expect(try await waiting.value.preferredInterface?.kind == .wifi)
    #expect(try await monitor.waitUntilSatisfied(timeout: .zero).status == .satisfied)
  }

  @Test func waitsTimeOutAndAreCancelled() async throws {
    let network = scriptedNetwork()
    let monitor = PathMonitor(environment: network.environment)
    #expect(try await monitor.waitUntilKnown().reason == .noRoute)
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilSatisfied(timeout: .zero) }
    let timed = Task { try await monitor.waitUntilSatisfied(timeout: .seconds(30)) }
    let ticking = network.clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await timed.value }
    ticking.cancel()
    let cancelled = Task { try await monitor.waitUntilSatisfied() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test func whenSatisfiedRunsOnce() async throws {
    let network = scriptedNetwork()
    let monitor = PathMonitor(environment: network.environment)
    let fired = Counter()
    let token = monitor.whenSatisfied { fired.add() }
    let never = monitor.whenSatisfied { fired.add(100) }
    never.cancel()
    _ = try await monitor.waitUntilKnown()
    try await network.settle()
    #expect(fired.value == 0)
    for path in [ScriptedPath.wifi, .unreachable(), .wired] {
      network.set(path)
      try await network.settle()
    }
    try await eventually("it has run") { fired.value == 1 }
    token.cancel()
  }
}
