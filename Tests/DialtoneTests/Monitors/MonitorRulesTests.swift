// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Which states meet a requirement, what a gate says, and what the properties of an observable object are.
@Suite(.timeLimit(.minutes(5)))
struct MonitorRulesTests {
  private typealias Requirement = ReachabilityMonitor.InterfaceRequirement
  private static let cellular = interface("wwan0", 4, .cellular)
  private static let wifi = interface("wlan0", 2, .wifi)

  // MARK: Requirements

  /// Each state, and whether it counts over any interface, over one that is not cellular, over Wi-Fi, and, if a
  /// connection on demand is accepted, over any and over Wi-Fi.
  private static let states: [(state: Reachability, isMet: [Bool])] = [
    (Reachability(.reachable, interface: wifi), [true, true, true, true, true]),
    (Reachability(.reachable, interface: cellular), [true, false, false, true, false]),
    (Reachability(.reachable, interface: interface("wg0", 9, .tunnel)), [true, true, false, true, false]),
    (Reachability(.reachable), [true, true, false, true, false]),
    // Only the flag tells, or only the interface.
    (Reachability(.reachable, flags: .isWWAN), [true, false, false, true, false]),
    (Reachability(status: .reachable, flags: .reachable, interface: cellular), [true, false, false, true, false]),
    (Reachability(.requiresConnection, interface: wifi, reason: .dormant), [false, false, false, true, true]),
    (Reachability(.requiresConnection, interface: wifi, reason: .radioBlocked), [false, false, false, false, false]),
    (Reachability(.requiresConnection, interface: cellular, reason: .noSession), [false, false, false, false, false]),
    (Reachability(.unreachable, interface: wifi), [false, false, false, false, false]),
    (.unknown, [false, false, false, false, false]), (.denied, [false, false, false, false, false]),
  ]

  @Test(arguments: 0..<states.count)
  func aRequirementIsMetByWhatCounts(position: Int) {
    let (state, isMet) = Self.states[position]
    let requirements: [Requirement] = [
      .any, .nonCellular, .only(.wifi), .any.acceptingConnectionOnDemand, .only(.wifi).acceptingConnectionOnDemand,
    ]
    #expect(requirements.map { $0.isMet(by: state) } == isMet, "\(state)")
  }

  @Test func requirementsThatAcceptMoreAreOthers() {
    #expect(Requirement.any != .any.acceptingConnectionOnDemand && Requirement.any != .nonCellular)
    #expect(Requirement.only(.wifi) != .only(.wired) && Requirement.only(.wifi) == .only(.wifi))
  }

  // MARK: Changes

  @Test func aChangeAtTheSameMomentLastedNoTime() {
    let time = UTCTimestamp(durationSince1970: .seconds(1_000))
    let change = ReachabilityChange(
      to: Reachability(.reachable, timestamp: time), from: Reachability(.unreachable, timestamp: time))
    #expect(change.lasted == .zero && change.description == "reachable, after 0.0 seconds unreachable")
    #expect(ReachabilityChange(to: .unknown, from: Reachability(.reachable, timestamp: time)).lasted == nil)
  }

  // MARK: Waits without time

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func withoutTimeOnlyThePresentStateCounts(timeout: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let error = await #expect(throws: ReachabilityError.self) {
      try await monitor.waitUntilReachable(timeout: timeout)
    }
    let words = "internet was not reachable at once, and there was no time to wait"
    #expect(try #require(error).message == words + "; now: unreachable: no route to the destination")
  }

  @Test func aTimerIsDueAfterItsDelayAndAtOnceIfThatIsNegative() throws {
    let network = scriptedNetwork()
    let engine = network.monitor().engine
    let now = network.environment.provider.time.now()
    let delays: [(Duration, Int64)] = [
      (.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.seconds(3), 3_000_000_000),
    ]
    for (delay, nanoseconds) in delays {
      #expect(try #require(engine.schedule(after: delay) {}).deadline == now + nanoseconds)
    }
  }

  // MARK: Gates

  @Test func aGateThatIsNotChangedSpreadsOver50MillisecondsAndWaits() {
    #expect(PathGate.Policy().spread == .milliseconds(50) && !PathGate.Policy().failsFast)
  }

  @Test func waitersForOneTargetShareAMonitor() throws {
    let gate = PathGate(environment: scriptedNetwork().environment)
    let target = ReachabilityTarget.address(ip("192.0.2.1"))
    let monitor = try gate.monitor(of: target)
    #expect(try gate.monitor(of: target) === monitor)
    #expect(try gate.monitor(of: .internet) !== monitor)
    gate.close()
    let error = #expect(throws: PathGate.Unavailable.self) { try gate.monitor(of: target) }
    #expect(error?.cause == .closed && error?.target == target && error?.reason == nil && error?.waited == .zero)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func aGateWithoutTimeToWaitSaysSo(timeout: Duration) async throws {
    let gate = PathGate(environment: scriptedNetwork().environment)
    let error = await #expect(throws: PathGate.Unavailable.self) { try await gate.waitForPath(timeout: timeout) }
    #expect(error?.cause == .timedOut && error?.waited == .zero && gate.waiterCount == 0)
  }

  @Test func aTaskThatIsCancelledAlreadyDoesNotWaitAtAGate() async {
    let gate = PathGate(environment: scriptedNetwork().environment)
    let waiting = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await gate.waitForPath()
    }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(gate.waiterCount == 0)
  }

  @Test(arguments: [
    (PathGate.Unavailable.Cause.timedOut, "no path to internet over wlan9 within 2.0 seconds: the radio is blocked"),
    (.needsIntervention, "no path to internet over wlan9 until somebody acts: the radio is blocked"),
    (.closed, "the wait for a path to internet over wlan9 was ended: the gate is closed: the radio is blocked"),
  ])
  func aGateSaysWhyInWords(cause: PathGate.Unavailable.Cause, words: String) {
    func error(_ reason: Reachability.Reason?) -> PathGate.Unavailable {
      PathGate.Unavailable(
        cause: cause, target: .internet, reason: reason, waited: .nanoseconds(2_000_241_472), timeout: .seconds(2),
        interface: " over wlan9")
    }
    #expect("\(error(.radioBlocked))" == words)
    #expect("\(error(nil))" == words.replacing(": the radio is blocked", with: ""))
  }

  // MARK: Observable objects

  @MainActor
  @Test(arguments: [
    ScriptedPath.cellular, .wired, .unreachable(.noCarrier, over: wifi), .requiresConnection(.dormant, over: wifi),
    .denied,
  ])
  func everyPropertyFollowsTheState(path: ScriptedPath) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let first = try await monitor.waitUntilKnown()
    let observable = ObservableReachability(monitor)
    func agrees(with state: Reachability) -> Bool {
      observable.current ≈ state && observable.status == state.status && observable.isReachable == state.isReachable
        && observable.isDetermined == state.isDetermined && observable.flags == state.flags
        && observable.isCellularOnly == state.flags.isCellularOnly && observable.interface == state.interface
        && observable.gateway == state.gateway && observable.reason == state.reason
    }
    #expect(agrees(with: first), "from the beginning")
    network.set(path)
    try await eventually("it has the new state") { !(observable.current ≈ first) }
    #expect(agrees(with: monitor.current))
  }
}
