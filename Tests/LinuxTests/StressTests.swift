// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Many changes at once: the final state is right, memory stays flat, and later events are still delivered.
@Suite(
  .serialized, .enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)), .threadsApart)
struct StressTests {
  /// A handler that blocks until it is released.
  private final class Stall: Sendable {
    private let isStalled = Mutex(true)
    private let entered = Mutex(false)

    var hasEntered: Bool { entered.withLock { $0 } }

    func handle(_ state: Reachability) {
      entered.withLock { $0 = true }
      while isStalled.withLock({ $0 }) { sched_yield() }
    }

    func letGo() { isStalled.withLock { $0 = false } }
  }

  /// In a process of its own, so that its memory is that of this test only.
  @Test func thousandsOfRouteChangesWhileTheConsumerIsStalled() async {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      let monitors = try LabMonitors(lab)
      let monitor = monitors.monitor()
      let stall = Stall()
      let stalled = monitor.observe(stall.handle)
      try await eventually("the handler is called") { stall.hasEntered }

      // Defaults with other metrics pass the kernel's filter: each is an event, and the engine decides each change.
      func change(_ count: Int) throws {
        for round in 0..<count / 2 {
          try lab.addRoute("default", via: "10.0.0.3", dev: "v0", metric: UInt32(1000 + round % 50))
          try lab.deleteRoute("default", via: "10.0.0.3", dev: "v0", metric: UInt32(1000 + round % 50))
        }
      }
      let limits = Leftovers.Limits(residentMemory: 400 << 10)
      let left = try await Leftovers(within: limits) { try change(4_000) }
      #expect(left.isWithin(limits), "\(left)")
      try lab.deleteRoute("default", via: "10.0.0.2")
      // The engine goes on although its handler blocks.
      try await eventually("current knows") { monitor.current.isUnreachable(.noRoute) }

      stall.letGo()
      let recording = Recording(monitor)
      try await recording.wait("the last state") { $0.isUnreachable(.noRoute) }
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      try await recording.wait("a later event") { $0.isVia("v0") }
      stalled.cancel()
    }
  }

  @Test func fiveHundredVethPairsMadeAndDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    internet.forget()
    try lab.addVeths("x", count: 500)
    try lab.deleteVeths()
    try await monitors.settle()
    #expect(internet.changes.isEmpty)
    try lab.down("v0")
    try await internet.wait("a later event") { $0.isUnreachable(.linkDown) }
    #expect(internet.changes.count == 1)
  }

  @Test func aChangeEveryTenMillisecondsForTenSeconds() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    internet.forget()
    let start = ContinuousClock.now
    var changes = 0
    while start.duration(to: .now) < .seconds(10) {
      try lab.deleteRoute("default", via: "10.0.0.2")
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      changes += 2
      // The pace is what is tested; this waits for nothing else.
      try await Task.sleep(for: .milliseconds(20))
    }
    try lab.deleteRoute("default", via: "10.0.0.2")
    try await internet.wait("the last change") { $0.isUnreachable(.noRoute) }
    // No state that the kernel was never in, and none twice in a row.
    for (first, second) in zip(internet.states, internet.states.dropFirst()) { #expect(!first.isSameState(as: second)) }
    #expect(internet.states.allSatisfy { $0.isVia("v0") || $0.isUnreachable(.noRoute) })
    #expect(internet.changes.count <= changes + 1)
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await internet.wait("a later event") { $0.isVia("v0") }
  }
}
#endif
