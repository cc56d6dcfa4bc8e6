// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// When the next explanation may begin: at most one a minute and twenty an hour for a machine, and for one outage twice
/// as long after each. Pure; times are microseconds of one clock.
package struct ExplainBudget: Sendable {
  private static let minute = 60 * WallTime.second
  private static let hour = 60 * minute
  private static let limit = 20

  /// The beginnings in the last hour, at most.
  private var starts: [Int64] = []

  package init() {}

  /// The earliest time at which another one may begin.
  package func next(after now: Int64) -> Int64 {
    var next = now
    if let last = starts.last { next = max(next, last + Self.minute) }
    if starts.count >= Self.limit { next = max(next, starts[starts.count - Self.limit] + Self.hour) }
    return next
  }

  package mutating func begin(at now: Int64) {
    starts.append(now)
    if starts.count > Self.limit { starts.removeFirst() }
  }

  /// How long an outage that was explained `count` times waits for the next explanation: a minute, two, four, at most
  /// an hour.
  package static func pause(after count: Int) -> Int64 { min(hour, minute << Int64(min(max(count, 1) - 1, 6))) }
}
