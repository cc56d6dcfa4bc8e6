// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FlagsRulesTests {
  @Test func nothingIsAnsweredBeforeItIsKnown() {
    let slow = SlowNetwork()
    slow.set(.wifi)
    let monitor = slow.monitor()
    #expect(monitor.current.determinedFlags == nil)
    #expect(monitor.connectivity == nil)
    slow.open()
  }

  @Test func undeterminedForAReasonIsNotKnown() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let state = try await network.monitor().waitUntilKnown()
    #expect(state.reason == .denied)
    #expect(state.determinedFlags == nil)
  }

  @Test(arguments: [
    (ScriptedPath.wifi, ReachabilityFlags.Connectivity.nonCellular, true, false, false, false),
    (.wired, .nonCellular, true, false, false, false),
    (.cellular, .cellular, true, false, false, false),
    (.unreachable(), .unreachable, false, false, false, false),
    (.requiresConnection(.dormant, over: interface("wlan0")), .nonCellular, false, true, true, false),
    (.requiresConnection(.radioBlocked, over: interface("wlan0")), .unreachable, false, true, false, true),
    (.requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)), .cellular, false, true, false, false),
  ])
  func aKnownStateAnswersEveryQuestion(
    path: ScriptedPath, connectivity: ReachabilityFlags.Connectivity, isReachable: Bool, isRequired: Bool,
    isOnDemand: Bool, isIntervention: Bool
  ) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let monitor = network.monitor()
    let state = try await monitor.waitUntilKnown()
    #expect(state.determinedFlags?.connectivity() == connectivity)
    #expect(monitor.connectivity == connectivity)
    let flags = try #require(state.determinedFlags)
    #expect(flags == state.flags)
    #expect(flags.isReachableWithoutConnection == isReachable)
    #expect(flags.isReachableWithoutConnection == state.isReachable)
    #expect(flags.contains(.connectionRequired) == isRequired)
    #expect(flags.isConnectionOnDemand == isOnDemand)
    #expect(flags.isInterventionRequired == isIntervention)
  }

  /// RKReachabilityObserver's three states of local Wi-Fi.
  @Test(
    arguments: [ReachabilityTarget.localNetwork, .localNetwork(.wifi), .address(ip("169.254.0.0"))],
    [
      (ScriptedPath.wifi, ReachabilityFlags.Connectivity?.some(.nonCellular)),
      (.reachable(over: interface("wlan0")), .some(.nonCellular)), (.cellular, .some(.unreachable)),
      (.requiresConnection(.radioBlocked, over: interface("wlan0")), .some(.unreachable)),
      (.unreachable(), .some(.unreachable)), (.denied, nil),
    ])
  func aLocalNetworkHasThreeStates(
    target: ReachabilityTarget, then: (path: ScriptedPath, connectivity: ReachabilityFlags.Connectivity?)
  ) async throws {
    let network = scriptedNetwork()
    network.set(then.path)
    let monitor = network.monitor(target)
    _ = try await monitor.waitUntilKnown()
    #expect(monitor.connectivity == then.connectivity)
  }
}
