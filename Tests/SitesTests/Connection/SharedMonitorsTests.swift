// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@testable import DialtoneSites

/// One monitor for each path, for as long as anybody holds it.
@Suite(.timeLimit(.minutes(5)))
struct SharedMonitorsTests {
  private let network = ScriptedNetwork()
  private let target = ReachabilityTarget.address(IPAddress(ipv4: 0xC000_0207), port: 80)

  @Test func allWhoWatchAPathShareAMonitor() {
    network.set(.wifi)
    let monitors = SharedMonitors(network.environment)
    let first = monitors.path(to: target, ReachabilityConfiguration())
    var others = [monitors.path(to: target, ReachabilityConfiguration())]
    #expect(others[0].monitor === first.monitor)
    // As long as one of them holds it, each newcomer gets the same.
    for _ in 0..<3 {
      others.removeAll()
      others.append(monitors.path(to: target, ReachabilityConfiguration()))
      #expect(others[0].monitor === first.monitor)
    }
    var overWiFi = ReachabilityConfiguration()
    overWiFi.interface = "wlan0"
    #expect(monitors.path(to: target, overWiFi).monitor !== first.monitor)
    #expect(monitors.path(to: .internet, ReachabilityConfiguration()).monitor !== first.monitor)
  }

  @Test func theMonitorEndsWithTheLastWhoHoldsIt() async throws {
    network.set(.wifi)
    let monitors = SharedMonitors(network.environment)
    weak var ended: ReachabilityMonitor?
    do {
      let first = monitors.path(to: target, ReachabilityConfiguration())
      let second = monitors.path(to: target, ReachabilityConfiguration())
      ended = first.monitor
      #expect(second.monitor === first.monitor)
    }
    try await eventually("nobody holds it") { ended == nil }
    // The next one is made anew, and is shared, too.
    let paths = (0..<2).map { _ in monitors.path(to: target, ReachabilityConfiguration()) }
    #expect(paths[0].monitor === paths[1].monitor)
  }

  /// What is not determined has a reason, and that is all that will be known.
  @Test(arguments: [ScriptedPath.wifi, .unreachable(.noCarrier), .denied])
  func whatIsKnownIsToldEvenIfItIsNotMuch(_ path: ScriptedPath) async throws {
    network.set(path)
    let shared = SharedMonitors(network.environment).path(to: target, ReachabilityConfiguration())
    try await eventually("something is known") { shared.known != nil }
    #expect(shared.known?.status == shared.monitor.current.status)
  }
}
