// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
// The detector is the module's own; nothing less deep can be given a clock.
@testable import Dialtone
import NetworkLab
import Synchronization
import Testing

/// Scenario 45 of linux.md. The clocks are injected: neither stepping the wall clock nor suspending is a test's
/// business.
struct SuspensionTests {
  private final class Clock: Sendable {
    let suspended = Atomic<Int64>(5_000_000_000)
  }

  @Test("45: a stepped wall clock is no wake-up: the time suspended is as before")
  func steppedClock() throws {
    let clock = Clock()
    let detector = try #require(SuspensionDetector { clock.suspended.load(ordering: .relaxed) })
    // CLOCK_BOOTTIME and CLOCK_MONOTONIC know nothing of the wall clock. The timer is cancelled all the same, so the
    // detector is asked.
    #expect(!detector.hasResumed())
    // Time passes between two readings of clocks.
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
}
#endif
