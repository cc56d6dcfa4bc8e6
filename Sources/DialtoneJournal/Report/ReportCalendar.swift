// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The days of a report, a week a row from Monday on.
struct ReportCalendar {
  let days: [String: ReportData.Day]
  let lost: [String: Int64]
  let since: Int64
  let until: Int64
  let words: (Int64) -> String

  /// More days than that show no more.
  private static let limit = 400

  func write(_ html: inout HTML) {
    let (first, last) = (dayNumber(since), dayNumber(until - 1))
    let start = max(first, last - Int64(Self.limit))
    html.element("section") { html in
      html.element("h2", "Days")
      html.element("div", class: "calendar") { html in
        for name in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] { html.element("span", class: "head", name) }
        // 1970-01-01 was a Thursday. A day before it has a negative number.
        for _ in 0..<((start + 3) % 7 + 7) % 7 { html.element("span", class: "day blank", "") }
        for day in start...last { write(day, isFirst: day == start, &html) }
      }
    }
    html.markup("\n")
  }

  /// Days since 1970 of the local day.
  private func dayNumber(_ wall: Int64) -> Int64 {
    let time = WallTime.local(wall)
    return UTCTimestamp.days(year: Int64(time.year), month: Int64(time.month), day: Int64(time.day))
  }

  private func write(_ number: Int64, isFirst: Bool, _ html: inout HTML) {
    let key = WallTime.dayText(number * WallTime.day)
    let parts = key.split(separator: "-").compactMap { Int($0) }
    let name = parts[2] == 1 || isFirst ? "\(parts[2]) \(ReportPage.months[parts[1] - 1])" : "\(parts[2])"
    guard let day = days[key], day.up + day.down > 0 else {
      return html.element("div", class: "day", [("title", "\(key): not watched")]) { $0.element("b", name) }
    }
    if day.outages == 0, day.down == 0 {
      return html.element("div", class: "day fine", [("title", "\(key): no outages")]) { $0.element("b", name) }
    }
    // A second is seen, and an hour of all targets together is as bad as it looks.
    let share = 22 + min(48, Int64(Double(day.down) / Double(day.up + day.down) * 600))
    let outages = "\(day.outages) outage\(day.outages == 1 ? "" : "s")"
    let down = words(lost[key] ?? 0)
    html.element(
      "div", class: "day bad", [("style", "--share:\(share)%"), ("title", "\(key): \(outages), \(down) down")]
    ) { html in
      html.element("b", name)
      // The larger unit is enough where there is little room.
      html.element("i", down.split(separator: " ").prefix(2).joined(separator: " "))
    }
  }
}
