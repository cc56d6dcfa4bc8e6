// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import Synchronization

/// The system's clock, which a test can move forward. An engine with this clock does nothing merely because time
/// passes.
final class SteppedClock: Sendable {
  private let offset = Atomic<Int64>(0)
  private let start: Int64?

  /// - Parameter isStill: Whether it stands still between two steps, instead of going on like the system's.
  init(isStill: Bool = false) { start = isStill ? TimeSource.system.now() : nil }

  var now: Int64 { (start ?? TimeSource.system.now()) + offset.load(ordering: .sequentiallyConsistent) }

  var source: TimeSource { TimeSource(passes: false) { self.now } }

  /// Moves the time forward.
  func advance(by duration: Duration) { offset.add(duration.nanosecondsClamped, ordering: .sequentiallyConsistent) }

  /// Moves the time forward, and lets the engine look at it.
  func advance(by duration: Duration, _ environment: ReachabilityEnvironment) {
    advance(by: duration)
    environment.provider.runningEngine?.wake()
  }

  /// Monitors in the lab that use this clock, and keep its engine.
  func monitors(
    _ lab: NetworkLab, waiter: LabWaiter = .chosen, source: @escaping EngineProvider.MakeSource
  ) throws -> LabMonitors {
    try LabMonitors(lab, waiter: waiter, clock: self.source, source: source)
  }
}
#endif
