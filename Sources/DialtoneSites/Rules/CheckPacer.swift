// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Keeps monitors from beginning their checks in one burst: those that were made together, or share a path that has changed.
struct CheckPacer {
  /// So many checks at once are no burst.
  private static let burst: Int64 = 16
  /// Beyond those, 500 a second.
  private static let pause: Int64 = 2_000_000

  /// When the next check is due, less the burst.
  private var next = Int64.min

  /// How long the check of one of so many monitors has to wait, beyond what it waits for anyway.
  ///
  /// No longer than a turn of all of them takes: where a path comes and goes faster than that, the order is left to chance.
  mutating func delay(now: Int64, monitors: Int, random: Double) -> Int64 {
    let turn = max(0, Int64(monitors) - Self.burst).multipliedClamped(by: Self.pause)
    if turn == 0 { return 0 }
    next = max(next, now - Self.burst * Self.pause).addingClamped(Self.pause)
    let delay = max(0, next - now)
    if delay <= turn { return delay }
    // Whoever comes later need not wait for turns that nobody takes.
    next = now.addingClamped(turn)
    return Int64(exactly: (Double(turn) * random).rounded()) ?? .max
  }
}
