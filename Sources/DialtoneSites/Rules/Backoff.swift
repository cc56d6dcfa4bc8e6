// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// When the next check comes. Jitter keeps monitors that began together from staying in step.
struct Backoff: Equatable, Sendable {
  /// The pause after the failure with this number in a row, counted from one. It doubles each time, up to the longest,
  /// and is up to a fifth shorter or longer. `random` is from 0 up to 1.
  static func retryDelay(failure: Int, configuration: SiteMonitorConfiguration, random: Double) -> Int64 {
    let first = configuration.retryDelay.nanosecondsClamped
    let longest = configuration.maximumRetryDelay.nanosecondsClamped
    let doublings = max(0, failure - 1)
    let shift = min(doublings, 62)
    let delay = first > longest >> Int64(shift) ? longest : first << Int64(shift)
    return jittered(delay, by: 0.2, random: random)
  }

  /// The pause after a check that found the site available, up to a tenth shorter or longer.
  static func interval(_ interval: Duration, random: Double) -> Int64 {
    jittered(interval.nanosecondsClamped, by: 0.1, random: random)
  }

  private static func jittered(_ delay: Int64, by part: Double, random: Double) -> Int64 {
    let factor = 1 - part + 2 * part * random
    return Int64(exactly: (Double(delay) * factor).rounded()) ?? .max
  }
}

/// Keeps monitors from beginning their checks in one burst, if they were made together or share a path that has
/// changed.
struct CheckPacer {
  /// This many checks at once are no burst.
  private static let burst: Int64 = 16
  /// Beyond those, 500 a second.
  private static let pause: Int64 = 2_000_000

  /// When the next check is due, less the burst.
  private var next = Int64.min

  /// How long the check of one of these monitors has to wait, beyond what it waits for anyway.
  ///
  /// It is no longer than a turn of all of them takes. If a path comes and goes faster than that, the order is left to
  /// chance.
  mutating func delay(now: Int64, monitors: Int, random: Double) -> Int64 {
    let turn = max(0, Int64(monitors) - Self.burst).multipliedClamped(by: Self.pause)
    if turn == 0 { return 0 }
    next = max(next, now - Self.burst * Self.pause).addingClamped(Self.pause)
    let delay = max(0, next - now)
    if delay <= turn { return delay }
    // Later checks need not wait for turns that nobody takes.
    next = now.addingClamped(turn)
    return Int64(exactly: (Double(turn) * random).rounded()) ?? .max
  }
}
