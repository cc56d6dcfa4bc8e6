// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The kernel's network on a waiter that awaits no descriptors: it is polled, and what is told is the same.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PolledNetworkTests {
  @Test("routes, addresses and links that go and come back are told on either waiter", arguments: LabWaiter.allCases)
  func whatGoesAndComesBackIsTold(waiter: LabWaiter) async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    let monitors = try LabMonitors.forPaths(lab, waiter: waiter)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork)
    let path = try await monitors.recordPath()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(internet, v0)
    try await monitors.expect(local, lab.reachable("v0", flags: .isDirect))
    try await monitors.expect(path, "satisfied 4: v0 4")

    try lab.deleteRoute("default")
    try await internet.wait("the route is gone") { $0.isUnreachable(.noRoute) }
    try await path.wait("the route is gone") { $0.outline == "no-route: v0" }
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await internet.wait("the route is back") { $0 ≈ v0 }
    try await path.wait("the route is back") { $0.outline == "satisfied 4: v0 4" }

    try lab.deleteAddress("10.0.0.1/24", "v0")
    try await local.wait("the address is gone") { $0.isUnreachable(.noAddress) }
    try await path.wait("the address is gone") { $0.interfaces.isEmpty }
    try lab.addAddress("10.0.0.1/24", "v0")
    try await local.wait("the address is back") { $0.isVia("v0") }
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await internet.wait("so is the route") { $0 ≈ v0 }

    try lab.deleteLink("v0")
    try await local.wait("the link is gone") { $0.isUnreachable(.noInterface) }
    try await internet.wait("the link is gone") { $0.isUnreachable(.noRoute) }
    try lab.makeB()
    for recording in [internet, local] { try await recording.wait("another link of that name") { $0.isVia("v0") } }
    try await path.wait("another link of that name") { $0.outline == "satisfied 4: v0 4" }
  }

  @Test("it is polled every 5 s, and each poll tells what is true then")
  func isPolledEveryFiveSeconds() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let monitors = try clock.monitors(lab, waiter: .semaphore, source: probe.makeSource)
    let internet = try await monitors.record()
    for (polls, isUp) in [false, true, false].enumerated() {
      clock.advance(by: .seconds(4), monitors.environment)
      try await monitors.settle()
      #expect(probe.counts.wholePolls == polls)
      if isUp {
        try lab.up("v0")
        try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      } else {
        try lab.down("v0")
      }
      try await lab.waitUntilOperating("v0", isUp)
      clock.advance(by: .seconds(1), monitors.environment)
      try await internet.wait("v0 is \(isUp ? "up" : "down")") { $0.isReachable == isUp }
      try await eventually("it was polled") { probe.counts.wholePolls == polls + 1 }
    }
  }

  @Test("a path is known as soon as the name servers are read, not after a poll")
  func aPathIsKnownWithoutAPoll() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 10.0.0.53\n")
    // No time passes, so nothing is polled.
    let monitors = try SteppedClock(isStill: true).monitors(
      lab, waiter: .semaphore, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root.path) })
    let path = try await monitors.recordPath()
    #expect(path.last?.supportsDNS == true)
  }
}
#endif
