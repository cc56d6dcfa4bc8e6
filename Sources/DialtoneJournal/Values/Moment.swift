// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone

/// A point in time by all clocks that an event is written with, in microseconds.
///
/// Lengths are differences of `clock`, less differences of `slept`: a step of the wall clock changes none. `wall` only
/// says where they lie in the calendar.
package struct Moment: Equatable, Sendable, BitwiseCopyable {
  /// Since 1970-01-01T00:00:00Z, by a clock that somebody may set.
  package var wall: Int64
  /// Since the machine started, time asleep included: CLOCK_BOOTTIME.
  package var clock: Int64
  /// How much of that the machine was suspended.
  package var slept: Int64

  /// Returns where the wall clock of this moment puts an earlier moment of the same boot.
  package func wall(of earlier: Moment) -> Int64 { wall - max(0, clock - earlier.clock) }

  /// Returns how long the machine was awake since an earlier moment of the same boot.
  package func awake(since earlier: Moment) -> Int64 {
    max(0, clock - earlier.clock - max(0, slept - earlier.slept))
  }

  /// Returns the moment this much earlier, of one in which the machine did not sleep meanwhile.
  package func earlier(by microseconds: Int64) -> Moment {
    Moment(wall: wall - microseconds, clock: clock - microseconds, slept: slept)
  }
}

/// The clocks of a recorder: the system's, or those that a test moves.
package struct JournalClock: Sendable {
  package let now: @Sendable () -> Moment

  package init(now: @escaping @Sendable () -> Moment) { self.now = now }

  package static let system = JournalClock(.system) { TimeSource.suspended() / 1_000 }

  /// The clocks of an engine, and how long it has been suspended, in microseconds.
  package init(_ time: TimeSource, slept: @escaping @Sendable () -> Int64 = { 0 }) {
    now = { Moment(wall: time.realtime() / 1_000, clock: time.now() / 1_000, slept: slept()) }
  }
}

/// Days and times of day of a wall clock.
package enum WallTime {
  package static let second: Int64 = 1_000_000
  package static let day: Int64 = 86_400 * second

  /// As RFC 3339 has it: "2026-01-31T12:00:00.000001Z".
  package static func text(_ wall: Int64) -> String {
    UTCTimestamp(durationSince1970: .microseconds(wall)).description
  }

  /// Reads what `text` writes; `nil` if it is something else.
  package static func microseconds(_ text: some StringProtocol) -> Int64? {
    guard let (seconds, attoseconds) = UTCTimestamp(text)?.durationSince1970.components else { return nil }
    return seconds * second + attoseconds / 1_000_000_000_000
  }

  /// The day in UTC: "2026-01-31".
  package static func dayText(_ wall: Int64) -> String { String(text(wall).prefix(10)) }

  /// Seconds by which this machine's clock is ahead of UTC then.
  package static func offset(_ wall: Int64) -> Int {
    var time = time_t(wall.floorDivided(by: second))
    // A tm has a pointer to the zone's name, which is not used. localtime_r(3) reads `time` and fills `parts`.
    var parts = unsafe tm()
    _ = unsafe localtime_r(&time, &parts)
    return unsafe parts.tm_gmtoff
  }

  /// What a wall clock in UTC would show when the one of this machine shows the same.
  package static func local(_ wall: Int64) -> Int64 { wall + Int64(offset(wall)) * second }

  /// The local day: "2026-01-31".
  package static func localDay(_ wall: Int64) -> String { dayText(local(wall)) }

  /// The local day and time of day: "2026-01-31 12:00:00".
  package static func localText(_ wall: Int64) -> String {
    String(text(local(wall)).prefix(19)).replacing("T", with: " ")
  }
}

extension Int64 {
  package func floorDivided(by divisor: Int64) -> Int64 { self >= 0 ? self / divisor : (self - divisor + 1) / divisor }
}
