// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 34 to 36 of Scenarios.md: large tables, and changes without end.
///
/// The tests run one after another, and those with tables in processes of their own: they keep a processor and the
/// kernel's lock busy.
@Suite(
  .serialized, .enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)), .threadsApart)
struct ScaleTests {
  /// The processor time that this process, or the calling thread, has used.
  private static func processorTime(_ clock: clockid_t) -> Duration {
    var time = timespec()
    // This cannot fail for these clocks.
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test("34: a million routes, 1,000 changes a second: flat memory, hardly any processor time")
  func millionRoutes() async throws {
    // A process of its own, because other tests use memory and processors, too.
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      try lab.addRoutes(from: "16.0.0.0/28", count: 1_000_000, dev: "v0")
      /// 100 changes: those of a tenth of a second.
      func change() throws {
        try lab.addRoutes(from: "100.64.0.0/28", count: 50, dev: "v0")
        try lab.deleteRoutes(from: "100.64.0.0/28", count: 50, dev: "v0")
      }
      /// The processor time that half a second of changes costs this process.
      func halfASecond() async throws -> Duration {
        let time = ScaleTests.processorTime(CLOCK_PROCESS_CPUTIME_ID)
        let start = ContinuousClock.now
        for tenth in 1...5 {
          try change()
          // The pace is what is tested; this waits for nothing else.
          try await Task.sleep(until: start + .milliseconds(100 * tenth))
        }
        return ScaleTests.processorTime(CLOCK_PROCESS_CPUTIME_ID) - time
      }
      // To make the changes costs time, too.
      try change()
      let alone = try await halfASecond()
      let monitors = try LabMonitors(lab)
      let internet = try await monitors.record()
      let v0 = try lab.reachable("v0", via: "10.0.0.2")
      var watched: [Duration] = []
      let left = try await Leftovers {
        watched.append(try await halfASecond())
        try await monitors.settle()
      }
      // The quickest of several counts, because other tests want the processors, too. The bound is a tenth of one
      // processor.
      let used = try #require(watched.min())
      #expect(used < alone + .milliseconds(50), "\(watched) with a monitor, \(alone) without")
      #expect(left.residentMemory < 400 << 10 || isSanitized, "\(left)")
      #expect(left.descriptors <= 0, "\(left)")
      #expect(internet.states ≈ [v0], "\(internet.states)")
      // The default is still watched.
      try lab.deleteRoute("default")
      try await monitors.expect(internet, v0, lab.unreachable(.noRoute))
    }
  }

  @Test("35: 500,000 routes in another table: an instant start")
  func largeOtherTable() async throws {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      try lab.addRoutes(from: "16.0.0.0/28", count: 500_000, dev: "v0", table: 1000)
      let v0 = try lab.reachable("v0", via: "10.0.0.2")
      // To read that table takes 180 ms. The quickest of several starts counts, because other tests want the
      // processors, too.
      let times = try (0..<5).map { _ in
        try lab.run {
          let time = ScaleTests.processorTime(CLOCK_THREAD_CPUTIME_ID)
          let network = LinuxNetwork()
          network.answer([RouteQuery(.address(try address("198.41.0.4")))]) { _, state in #expect(state ≈ v0) }
          return ScaleTests.processorTime(CLOCK_THREAD_CPUTIME_ID) - time
        }
      }
      #expect(try #require(times.min()) < .milliseconds(20))
      let monitors = try LabMonitors(lab)
      let internet = try await monitors.record()
      try await monitors.expect(internet, v0)
    }
  }

  @Test("36: a change every 100 ms for ever: delivered within four times the settling time")
  func changesWithoutEnd() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let clock = SteppedClock(isStill: true)
    let monitors = try clock.monitors(lab, source: systemNetworkSource)
    let settling = try await monitors.record { $0.settling = .milliseconds(200) }
    let atOnce = try await monitors.record()
    var expected = [try lab.reachable("v0", via: "10.0.0.2")]
    // Each step is a change to a gateway of its own, then 100 ms. Settling that began anew with each change would never
    // deliver.
    for step in 1...24 {
      let gateway = "10.0.0.\(100 + step)"
      try lab.route(.replace, "default", via: gateway, dev: "v0")
      let changed = try lab.reachable("v0", via: gateway)
      try await atOnce.wait("step \(step)") { $0 ≈ changed }
      #expect(settling.monitor.current ≈ changed)
      clock.advance(by: .milliseconds(100), monitors.environment)
      // 800 ms after the first change the newest state is delivered. The next change begins another 800 ms.
      if step % 8 == 0 { expected.append(changed) }
      try await eventually(within: .patience, "step \(step) is told of") { settling.count >= expected.count }
      try await monitors.settle()
      #expect(settling.states ≈ expected)
    }
    #expect(expected.count == 4)
    #expect(atOnce.count == 25)
  }
}
#endif
