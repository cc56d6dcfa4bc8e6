// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone

/// A point in time as RFC 3339 writes it, in UTC and whole seconds: `2026-01-31T12:00:00Z`.
package enum UniversalTime {
  package static func text(_ timeSince1970: Duration) -> String {
    var time = time_t(timeSince1970.secondsClamped)
    // A tm has a pointer to the zone's name, which is not used. gmtime_r(3) reads the one and fills the other.
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&time, &parts)
    let day = unsafe [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }
    return "\(day.joined(separator: "-"))T\(clock.joined(separator: ":"))Z"
  }

  private static func padded(_ number: CInt, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
