// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The days of a report, a week a row from Monday on.
extension ReportPage {
  /// More days than that show no more.
  private static let limit: Int64 = 400

  func writeDays(_ html: inout HTML) {
    let lost = data.lostByDay
    // Days since 1970, by the clock here.
    let days = [data.since, data.until - 1].map { WallTime.local($0).floorDivided(by: WallTime.day) }
    let (start, last) = (max(days[0], days[1] - Self.limit), days[1])
    html.element("section") { html in
      html.element("h2", "Days")
      html.element("div", class: "calendar") { html in
        for name in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] { html.element("span", class: "head", name) }
        // 1970-01-01 was a Thursday. A day before it has a negative number.
        for _ in 0..<((start + 3) % 7 + 7) % 7 { html.element("span", class: "day blank", "") }
        for day in start...last { write(day, isFirst: day == start, lost, &html) }
      }
    }
    html.markup("\n")
  }

  private func write(_ number: Int64, isFirst: Bool, _ lost: [String: Int64], _ html: inout HTML) {
    let key = WallTime.dayText(number * WallTime.day)
    let label = Self.label(ofDay: key)
    let name = isFirst || key.hasSuffix("-01") ? label : String(label.prefix { $0 != " " })
    guard let day = data.days[key], day.up + day.down > 0 else {
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
