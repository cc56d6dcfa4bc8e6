// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneServices
import DialtoneTesting
import InMemoryLogging
import Logging
import MetricsTestKit
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import CoreMetrics

@Suite(.timeLimit(.minutes(5)), .serialized)
struct ServicesTests {
  private final class Work: Service {
    let hasRun = Mutex(false)
    func run() async throws {
      hasRun.withLock { $0 = true }
      try await gracefulShutdown()
    }
  }

  @Test func aServiceBeginsOnceThereIsAPath() async throws {
    let network = ScriptedNetwork()
    let gate = PathGate(environment: network.environment)
    let work = Work()
    let group = ServiceGroup(
      services: [PathDependentService(work, gate: gate)], logger: Logger(label: "test") { _ in InMemoryLogHandler() })
    async let run: Void = group.run()
    try await eventually("it waits") { gate.waiterCount == 1 }
    #expect(!work.hasRun.withLock { $0 })
    network.set(.wired)
    try await eventually("it runs") { work.hasRun.withLock { $0 } }
    await group.triggerGracefulShutdown()
    try await run
  }

  @Test func aWaitEndsOnGracefulShutdown() async throws {
    let network = ScriptedNetwork()
    let gate = PathGate(environment: network.environment)
    let work = Work()
    let group = ServiceGroup(
      services: [PathDependentService(work, gate: gate)], logger: Logger(label: "test") { _ in InMemoryLogHandler() })
    async let run: Void = group.run()
    try await eventually("it waits") { gate.waiterCount == 1 }
    await group.triggerGracefulShutdown()
    // A service that returns before the group has asked it to would be an error.
    try await run
    #expect(!work.hasRun.withLock { $0 } && gate.waiterCount == 0)
  }

  @Test func aReporterOfNothingIsUpUntilItIsShutDown() async throws {
    let work = Work()
    let logger = Logger(label: "test") { _ in InMemoryLogHandler() }
    let group = ServiceGroup(services: [work, ReachabilityReporter([], logger: logger)], logger: logger)
    async let run: Void = group.run()
    try await eventually("it runs") { work.hasRun.withLock { $0 } }
    await group.triggerGracefulShutdown()
    // As above.
    try await run
  }

  @Test func changesAreLoggedAndCounted() async throws {
    let metrics = TestMetrics()
    MetricsSystem.bootstrapInternal(metrics)
    let network = ScriptedNetwork()
    network.set(.wired)
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let handler = InMemoryLogHandler()
    let reporter = ReachabilityReporter([monitor], logger: Logger(label: "network") { _ in handler })
    let task = Task { try await reporter.run() }
    try await eventually("the first state") { handler.entries.count == 1 }
    network.set(.unreachable(.noCarrier))
    try await eventually("the loss") { handler.entries.count == 2 }
    network.set(.wifi)
    try await eventually("the return") { handler.entries.count == 3 }
    task.cancel()
    _ = await task.result
    let lost = handler.entries[1]
    #expect(lost.level == .warning && lost.metadata["reason"] == "no-carrier" && lost.metadata["target"] == "internet")
    #expect(handler.entries[2].metadata["interface"] == "wlan0")
    let dimensions = [("target", "internet")]
    #expect(try metrics.expectGauge("dialtone_reachable", dimensions).values == [1, 0, 1])
    #expect(try metrics.expectCounter("dialtone_outages_total", dimensions).totalValue == 1)
    #expect(try metrics.expectCounter("dialtone_changes_total", dimensions).totalValue == 2)
    #expect(try metrics.expectTimer("dialtone_outage_duration", dimensions).values.count == 1)
  }

  @Test func decisionsAreTraced() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let handler = InMemoryLogHandler()
    var logger = Logger(label: "network") { _ in handler }
    logger.logLevel = .trace
    let reporter = ReachabilityReporter([monitor], logger: logger)
    let task = Task { try await reporter.run() }
    try await eventually("the decision") { handler.entries.contains { $0.message == "decided" } }
    let decided = try #require(handler.entries.first { $0.message == "decided" })
    #expect(decided.level == .trace && decided.metadata["interface"] == "eth0" && decided.metadata["flags"] != nil)
    #if os(Linux)
    // What the kernel of this machine knows.
    try await eventually("what it follows from") { handler.entries.contains { $0.metadata["fault"] != nil } }
    #endif
    task.cancel()
    _ = await task.result
  }
}
