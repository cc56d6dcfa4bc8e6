// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// When work that failed for want of a network is run again; see
/// ``withReachability(of:over:retrying:_:)``.
///
/// ```swift
/// var policy = RetryPolicy.default
/// policy.tries = 10
/// policy.shouldRetry = { !($0 is DecodingError) }
/// ```
public struct RetryPolicy: Sendable {
  /// Three tries, at most five minutes of waiting, whatever the error.
  public static let `default` = RetryPolicy()

  /// How often the work is run at most, the first time included; less than one counts as one. Three, unless set.
  public var tries = 3

  /// How long the path is waited for at most, all waits together; `nil` for as long as it takes. Five minutes, unless set.
  ///
  /// With zero or less nothing is waited for: the work is run again only where there is a path already, another one. The time
  /// that the work takes does not count. It is measured by the environment's clock, which goes on while the system is suspended.
  public var waitLimit: Duration? = .seconds(300)

  /// Whether work that failed with this error may be run again. Yes, unless set.
  ///
  /// Called where the work was run, while there are tries left, before the path is looked at. Never called for a
  /// `CancellationError`, nor once the task is cancelled: then the work is not run again in any case.
  public var shouldRetry: @Sendable (any Error) -> Bool = { _ in true }

  /// As ``default``.
  public init() {}
}
