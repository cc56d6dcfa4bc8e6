// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Time that passes only when a test says so.
public final class ManualClock: Sendable {
  // Far from zero, so that differences with earlier times stay positive.
  private let nanoseconds = Lock<Int64>(1_000_000_000_000)
  private let wake = Lock<[@Sendable () -> Void]>([])

  /// A clock that stands still.
  public init() {}

  /// Moves the time on; whatever is due by then is done soon after, on another thread.
  ///
  /// - Parameter duration: How far. Time never goes back: negative counts as zero. The clock stops after 292 years.
  public func advance(by duration: Duration) {
    nanoseconds.withLock { $0 = $0.addingClamped(max(0, duration.nanosecondsClamped)) }
    for wake in wake.withLock({ $0 }) { wake() }
  }

  var now: Int64 { nanoseconds.withLock { $0 } }

  func onAdvance(_ action: @escaping @Sendable () -> Void) { wake.withLock { $0.append(action) } }
}
