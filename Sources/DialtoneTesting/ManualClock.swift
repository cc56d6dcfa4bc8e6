// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Time that passes only when a test says so.
///
/// It is the clock of a ``ScriptedNetwork``'s monitors. It is also a `Clock` of the standard library, so that the code
/// under test can sleep by the same time:
///
/// ```swift
/// let clock = ManualClock()
/// let network = ScriptedNetwork(clock: clock)
/// let polling = Task { try await clock.sleep(for: .seconds(60)) }
/// clock.advance(by: .seconds(60))  // also ends a sleep that has begun by now
/// ```
///
/// You can use it from any thread.
public final class ManualClock: Clock {
  /// A time of a manual clock. Times of different clocks have nothing to do with each other.
  public struct Instant: InstantProtocol, BitwiseCopyable {
    let nanoseconds: Int64

    /// Returns the time `duration` later, or earlier if it is negative: at most 292 years from the clock's beginning.
    public func advanced(by duration: Duration) -> Instant {
      Instant(nanoseconds: nanoseconds.addingClamped(duration.nanosecondsClamped))
    }

    /// Returns how long `other` lies after this time; negative if it lies before.
    public func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds) }

    /// Returns whether `a` lies before `b`.
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
  }

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    // Far from zero, so that differences with earlier times stay positive.
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// In the order in which they began to sleep.
    var sleepers: [Sleeper] = []
    var nextNumber = 0
    var woken: [Woken] = []
  }

  private struct Woken {
    weak var provider: EngineProvider?
  }

  private let state = Lock(State())

  /// Creates a clock that stands still.
  public init() {}

  /// The present time of this clock.
  public var now: Instant { state.withLock { $0.now } }

  /// A nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Moves the time on. What is due by then happens soon after, on other threads.
  ///
  /// - Parameter duration: How far to move it. Time never goes back: a negative duration means zero. The clock stops
  ///   after 292 years.
  public func advance(by duration: Duration) {
    let (due, woken) = state.withLock { state in
      state.now = state.now.advanced(by: max(.zero, duration))
      let now = state.now
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      state.sleepers.removeAll { $0.deadline <= now }
      return (due, state.woken)
    }
    for sleeper in due { sleeper.continuation.resume() }
    for woken in woken { woken.provider?.runningEngine?.wake() }
  }

  /// Waits until ``advance(by:)`` has moved the time to `deadline`; returns at once if it has already.
  ///
  /// Sleepers that are due by one advance wake in the order of their deadlines.
  ///
  /// - Parameters:
  ///   - deadline: When to go on.
  ///   - tolerance: It has no effect, since the time is exact.
  /// - Throws: `CancellationError` if the task is cancelled, even before the call.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          // A cancellation before this lock is seen here; one after it finds the sleeper.
          if Task.isCancelled { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          state.sleepers.append(Sleeper(number: number, deadline: deadline, continuation: continuation))
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Has the provider's engine look at the time after each advance.
  func wakes(_ provider: EngineProvider) {
    state.withLock { state in
      state.woken.removeAll { $0.provider == nil }
      state.woken.append(Woken(provider: provider))
    }
  }
}
