// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// `Reachability.now`: what is true at this moment, asked on the calling thread.
@Suite(.timeLimit(.minutes(5)))
struct NowTests {
  private static let address = ip("192.0.2.65")

  /// Returns a monitor that keeps the engine running, or `nil`.
  private static func anchor(_ network: ScriptedNetwork, _ isRunning: Bool) async throws -> ReachabilityMonitor? {
    if !isRunning { return nil }
    let monitor = network.monitor(.localNetwork)
    _ = try await monitor.waitUntilKnown()
    return monitor
  }

  @Test(arguments: [true, false])
  func answersWithoutAMonitorOfTheTarget(isEngineRunning: Bool) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.cellular, for: Self.address)
    network.setLocalNetwork(.wired)
    let anchor = try await Self.anchor(network, isEngineRunning)
    let environment = network.environment
    let internet = Reachability.now(environment: environment)
    #expect(internet.isVia("wlan0"))
    #expect(internet.destination == ip("198.41.0.4"))
    #expect(Reachability.now(.address(Self.address), environment: environment).isVia("wwan0"))
    #expect(Reachability.now(.localNetwork, environment: environment).isVia("eth0"))
    #expect(Reachability.now(.localNetwork(.wifi), environment: environment).isUnreachable(.noInterface))
    #expect(
      Reachability.now(.address(Self.address, from: ip("::1")), environment: environment).isUnreachable(.noAddress))
    try await eventually("what was opened for it is closed") {
      (environment.provider.runningEngine == nil) == !isEngineRunning
    }
    withExtendedLifetime(anchor) {}
  }

  @Test(arguments: [true, false])
  func saysWhatIsTrueRightAfterAChange(isEngineRunning: Bool) async throws {
    let network = scriptedNetwork()
    let anchor = try await Self.anchor(network, isEngineRunning)
    for number in 1...200 {
      network.set(.numbered(number))
      #expect(Reachability.now(environment: network.environment).number == number)
      network.set(.unreachable(.prohibited))
      #expect(Reachability.now(environment: network.environment).isUnreachable(.prohibited))
    }
    withExtendedLifetime(anchor) {}
  }

  /// The question reads the events that wait. The monitors concerned must be told nevertheless.
  @Test(arguments: Receiver.allCases)
  func monitorsAreToldOfWhatAQuestionReadOnTheWay(receiver: Receiver) async throws {
    let network = SlowNetwork()
    network.open()
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    try await log.wait("the first state") { $0.isUnreachable(.noRoute) }
    for number in 1...100 {
      // This does not wake the engine: only the question finds it.
      network.network.set(.numbered(number))
      #expect(Reachability.now(.address(Self.address), environment: network.environment).number == number)
      try await log.wait("change \(number)") { $0.number == number }
    }
    reception.cancel()
  }

  @Test func carriesTheTimeOfTheQuestion() async throws {
    let before = Duration.nanoseconds(TimeSource.system.realtime())
    let network = scriptedNetwork()
    let made = Duration.nanoseconds(TimeSource.system.realtime())
    func sinceEpoch() throws -> Duration {
      try #require(Reachability.now(environment: network.environment).timestamp).durationSince1970
    }
    #expect(try (before...made).contains(sinceEpoch()))
    network.clock.advance(by: .seconds(3_600))
    #expect(try (before...made).contains(sinceEpoch() - .seconds(3_600)))
  }

  @Test func goesByTheConfiguration() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.cellular, for: IPAddress.rootServer(.ipv6))
    func now(_ target: ReachabilityTarget, _ change: (inout ReachabilityConfiguration) -> Void) -> Reachability {
      var configuration = ReachabilityConfiguration()
      change(&configuration)
      return Reachability.now(target, configuration: configuration, environment: network.environment)
    }
    #expect(now(.internet) { $0.family = .ipv6 }.isVia("wwan0"))
    #expect(now(.internet) { $0.interface = "eth7" }.isUnreachable(.noInterface))
    #expect(now(.internet) { $0.settling = .seconds(60) }.isVia("wlan0"))
    #expect(now(.address(Self.address)) { $0.family = .ipv6 }.isUnreachable(.noRoute))
  }

  @Test func canBeAskedInAnyHandler() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let log = Log<Reachability>()
    let receptions = Receiver.handlers.map { receiver in
      receiver.observe(network.monitor()) { _ in
        log.append(Reachability.now(.address(Self.address), environment: network.environment))
      }
    }
    try await eventually("all have asked") { log.count == Receiver.handlers.count }
    #expect(log.all.allSatisfy { $0.isVia("wlan0") })
    withExtendedLifetime(receptions) {}
  }

  @Test func canBeAskedFromManyThreadsWhileMonitorsComeAndGo() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    try await withThrowingTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<300 {
            if (round + worker).isMultiple(of: 3) {
              let monitor = network.monitor()
              let state = try await monitor.waitUntilReachable()
              #expect(state.isReachable)
            }
            #expect(Reachability.now(.address(Self.address), environment: network.environment).isVia("wlan0"))
          }
        }
      }
      try await group.waitForAll()
    }
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  // MARK: Names

  @Test func looksUpNoName() async throws {
    let lab = NameLab()
    lab.set(.wifi)
    lab.answer("name.example", .addresses([Self.address]))
    for _ in 0..<2 {
      let state = Reachability.now(try .host("name.example"), environment: lab.environment)
      #expect(state.isUndetermined(.nameNotResolved))
    }
    #expect(lab.started("name.example") == 0)
  }

  @Test func answersForAHostByWhatAMonitorHasFound() async throws {
    let network = scriptedNetwork()
    network.set(.unreachable())
    network.set(.cellular, for: Self.address)
    network.set(.addresses([ip("2001:db8::1"), Self.address]), forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    try await monitor.waitUntilReachable()
    let state = Reachability.now(try .host("NAME.example"), environment: network.environment)
    #expect(state.isVia("wwan0"))
    #expect(state.destination == Self.address)
    // The monitor's answer was for both families.
    var configuration = ReachabilityConfiguration()
    configuration.family = .ipv4
    let other = Reachability.now(
      try .host("name.example"), configuration: configuration, environment: network.environment)
    #expect(other.isUndetermined(.nameNotResolved))
  }

  @Test func aHostWithoutAnAddressIsUnreachable() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor(try .host("none.example"))
    #expect(try await monitor.waitUntilKnown().isUnreachable(.nameNotResolved))
    let state = Reachability.now(try .host("none.example"), environment: network.environment)
    #expect(state.isUnreachable(.nameNotResolved))
  }

  @Test func aHostThatIsBeingLookedUpIsNotKnown() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor(try .host("slow.example"))
    try await network.settle()
    let state = Reachability.now(try .host("slow.example"), environment: network.environment)
    #expect(state.isUndetermined(.nameNotResolved))
    withExtendedLifetime(monitor) {}
  }

  // MARK: NAT64

  /// A network without a way to the address, except by IPv6.
  private static func translating() -> ScriptedNetwork {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.unreachable(), for: address)
    network.set(.addresses([ip("64:ff9b::192.0.0.170")]), forName: "ipv4only.arpa")
    network.set(.wired, for: ip("64:ff9b::192.0.2.65"))
    return network
  }

  @Test func anAddressBehindATranslatorIsNotKnownWithoutItsPrefix() async throws {
    let network = Self.translating()
    let state = Reachability.now(.address(Self.address), environment: network.environment)
    #expect(state.isUndetermined(.nameNotResolved))
    // A route that prohibits the address on purpose counts.
    network.set(.unreachable(.prohibited), for: Self.address)
    #expect(
      Reachability.now(.address(Self.address), environment: network.environment).isUnreachable(.prohibited))
    network.set(.unreachable(.noCarrier))
    network.set(nil, for: Self.address)
    #expect(
      Reachability.now(.address(Self.address), environment: network.environment).isUnreachable(.noCarrier))
  }

  @Test func anAddressIsFoundBehindTheTranslatorThatAMonitorKnows() async throws {
    let network = Self.translating()
    network.set(.unreachable(), for: ip("192.0.2.99"))
    network.set(.cellular, for: ip("64:ff9b::192.0.2.99"))
    let monitor = network.monitor(.address(ip("192.0.2.99")))
    #expect(try await monitor.waitUntilReachable().isVia("wwan0"))
    let state = Reachability.now(.address(Self.address), environment: network.environment)
    #expect(state.isVia("eth0"))
    #expect(state.destination == ip("64:ff9b::192.0.2.65"))
    var configuration = ReachabilityConfiguration()
    configuration.usesNAT64 = false
    let off = Reachability.now(
      .address(Self.address), configuration: configuration, environment: network.environment)
    #expect(off.isUnreachable(.noRoute))
  }

  // MARK: If the system has nothing to give

  @Test func withoutAnEngineItIsDenied() {
    let waiters = ScarceWaiters()
    let network = waiters.network()
    network.set(.wifi)
    let state = waiters.withoutMore { Reachability.now(environment: network.environment) }
    #expect(state.isUndetermined(.outOfDescriptors))
    #expect(Reachability.now(environment: network.environment).isVia("wlan0"))
  }
}
