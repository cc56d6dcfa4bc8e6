// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if HTTPClient
internal import AsyncHTTPClient
internal import DialtoneNIO
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
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

/// A request that may be sent more than once.
struct RepeatedRequest {
  let request: HTTPClientRequest
  let deadline: NIODeadline
  let policy: HTTPPathPolicy
  private var attempts = 1

  init(_ request: HTTPClientRequest, _ deadline: NIODeadline, _ policy: HTTPPathPolicy) {
    self.request = request
    self.deadline = deadline
    self.policy = policy
  }

  var remaining: Duration { .nanoseconds(max((deadline - .now()).nanoseconds, 0)) }

  /// Returns whether it may be sent again, and counts that.
  mutating func mayRepeat(after error: any Error) -> Bool {
    guard remaining > .zero, attempts < policy.maximumAttempts else { return false }
    let isUnsent = Self.isUnsent(error)
    let isReadable = request.body == nil || policy.bodyCanBeReadAgain
    guard isUnsent || policy.mayRepeat(request), isReadable, policy.budget.spend() else { return false }
    attempts += 1
    return true
  }

  /// Whether no connection was made, so that nothing was sent. Where the client does not say, something was.
  private static func isUnsent(_ error: any Error) -> Bool {
    if let error = error as? HTTPClientError {
      return error == .connectTimeout || error == .getConnectionFromPoolTimeout
    }
    return error is NIOConnectionError
  }
}
#endif
