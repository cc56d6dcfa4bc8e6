// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if HTTPClient
internal import Synchronization

/// What requests may repeat together, so that a network that fails again and again is not asked ever more often.
///
/// Each request earns a fifth of a repeat, up to the maximum. Copies of a policy share one budget.
public final class RepeatBudget: Sendable {
  private let maximum: Double
  private let tokens: Mutex<Double>

  /// Creates a full budget.
  ///
  /// - Parameter maximum: How many requests may be repeated at a time, at most.
  public init(maximum: Int = 100) {
    self.maximum = Double(max(maximum, 0))
    tokens = Mutex(self.maximum)
  }

  func earn() { tokens.withLock { $0 = min($0 + 0.2, maximum) } }

  func spend() -> Bool {
    tokens.withLock { tokens in
      if tokens < 1 { return false }
      tokens -= 1
      return true
    }
  }
}
#endif
