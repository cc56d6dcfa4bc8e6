// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
// The detector is internal, and a clock can be given to nothing above it.
@testable import Dialtone
import NetworkLab
import Synchronization
import Testing

/// Scenario 45 of Scenarios.md. The clocks are injected: a test must neither step the wall clock nor suspend the
/// machine.
struct SuspensionTests {
  private final class Clock: Sendable {
    let suspended = Atomic<Int64>(5_000_000_000)
  }

  @Test("45: a stepped wall clock is no wake-up: the time suspended is as before")
  func steppedClock() throws {
    let clock = Clock()
    let detector = try #require(SuspensionDetector { clock.suspended.load(ordering: .relaxed) })
    // CLOCK_BOOTTIME and CLOCK_MONOTONIC do not depend on the wall clock. A step still cancels the timer, so the
    // detector is asked.
    #expect(!detector.hasResumed())
    // Some time passes between two readings of clocks.
    clock.suspended.add(50_000_000, ordering: .relaxed)
    #expect(!detector.hasResumed())
  }

  @Test("45: an hour of suspension is one wake-up")
  func suspended() throws {
    let clock = Clock()
    let detector = try #require(SuspensionDetector { clock.suspended.load(ordering: .relaxed) })
    clock.suspended.add(3_600_000_000_000, ordering: .relaxed)
    #expect(detector.hasResumed())
    #expect(!detector.hasResumed())
    clock.suspended.add(200_000_000, ordering: .relaxed)
    #expect(detector.hasResumed())
  }

  @Test("45: the system's own clocks show no suspension while nothing happens")
  func systemClocks() throws {
    let detector = try #require(SuspensionDetector())
    #expect(!detector.hasResumed())
  }

  /// It is a part of the time since the system has started (proc_uptime(5)).
  @Test("the time suspended is less than the time since the start")
  func suspendedIsPartOfUptime() throws {
    let suspended = TimeSource.suspended()
    let uptime = try #require(SystemFile.text(at: "/proc/uptime").flatMap { Double($0.prefix { $0 != " " }) })
    #expect(Double(suspended) < uptime * 1e9, "\(suspended) ns of \(uptime) s")
  }

  /// What was announced meanwhile is lost, and so is what the network's name servers said.
  @Test("45: after a suspension routes are asked for again, and names looked up", .enabled(if: NetworkLab.isAvailable))
  func everythingIsInQuestionAfterASuspension() throws {
    let lab = try NetworkLab()
    let clock = Clock()
    try lab.run {
      // Without a poll each descriptor is taken to be ready.
      let network = LinuxNetwork(suspended: { clock.suspended.load(ordering: .relaxed) })
      var before = NetworkChange()
      network.drain(into: &before)
      #expect(!before.touchesNames)
      clock.suspended.add(3_600_000_000_000, ordering: .relaxed)
      var change = NetworkChange()
      network.drain(into: &change)
      #expect(change.touchesNames && change.touchesEverything)
    }
  }
}
#endif
