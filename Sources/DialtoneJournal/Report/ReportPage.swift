// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A report as one page of HTML. It needs nothing from elsewhere, and its Content-Security-Policy lets it ask for
/// nothing.
package struct ReportPage {
  package let data: ReportData
  package let host: String
  package let directory: String
  package let version: String
  package let skippedLines: Int
  /// Which of the targets asked for nobody recorded, in words.
  package var unseen: String?
  /// How a span of microseconds reads.
  package let words: (Int64) -> String

  package init(
    _ data: ReportData, host: String, directory: String, version: String, skippedLines: Int,
    words: @escaping (Int64) -> String
  ) {
    self.data = data
    self.host = host
    self.directory = directory
    self.version = version
    self.skippedLines = skippedLines
    self.words = words
  }

  package var source: String {
    var html = HTML()
    html.markup(
      """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">

      """)
    html.element("title", "Outages of \(host)")
    html.element("style") { $0.markup(ReportStyle.sheet) }
    html.markup("</head>\n<body><main>\n")
    writeHead(&html)
    if data.sums.targets.isEmpty || unseen != nil {
      html.element("section") { $0.element("p", unseen ?? "Nobody watched in this time.") }
    }
    if !data.sums.targets.isEmpty {
      writeBands(&html)
      writeDays(&html)
      writeLayers(&html)
      writeWorst(&html)
    }
    writeFoot(&html)
    html.markup("</main></body></html>\n")
    return html.source
  }

  private func writeHead(_ html: inout HTML) {
    html.element("header") { html in
      html.element("h1", "Outages of \(host)")
      html.element("p", class: "soft", "\(minute(data.since)) to \(minute(data.until)), \(summary)")
    }
    html.markup("\n")
  }

  private var summary: String {
    let count = data.sums.targets.values.reduce(0) { $0 + $1.outages }
    let longest = data.worst.first.map { ", the longest \($0.outage.lasted(in: words))" } ?? ""
    let events = OutageLayer.allCases.reduce(0) { $0 + data.sums.events(in: $1).count }
    if data.sums.targets.isEmpty { return "nothing recorded" }
    return count == 0 ? "no outages" : "\(Self.words(events, count))\(longest)"
  }

  /// "3 outages"; "1 event, 5 outages" if several targets were lost at the same time.
  private static func words(_ events: Int, _ outages: Int) -> String {
    let words = "\(outages) outage\(outages == 1 ? "" : "s")"
    return events == outages ? words : "\(events) event\(events == 1 ? "" : "s"), \(words)"
  }

  private func minute(_ wall: Int64) -> String { String(WallTime.localText(wall).dropLast(3)) }

  // MARK: Bands

  private func writeBands(_ html: inout HTML) {
    html.element("section") { html in
      html.element("h2", "Targets")
      for (name, sum) in data.sums.targets.sorted(by: { $0.key < $1.key }) {
        html.element("div", class: "row") { writeTarget(name, sum, &$0) }
      }
      writeLegend(targetLegend, &html)
      html.element("div", class: "row path") { html in
        html.element("div", class: "title") { $0.element("span", class: "name", "Way to the Internet") }
        writeBand(
          data.paths.map { ways in ways.max { ($0.value, $0.key) < ($1.value, $1.key) } }, "way", &html
        ) { look in Self.pathWords.first(where: { $0.key == look })?.words ?? look }
        writeAxis(&html)
        let kinds = Set(data.paths.flatMap(\.keys))
        writeLegend(Self.pathWords.filter { kinds.contains($0.key) }, &html)
      }
    }
    html.markup("\n")
  }

  private func writeTarget(_ name: String, _ sum: OutageSums.Target, _ html: inout HTML) {
    let available = sum.availability.map { OutageJSON.decimals($0 * 100, 3) + " %" } ?? "not watched"
    html.element("div", class: "title") { html in
      html.element("span", class: "name", name)
      html.element("span", class: "figure", available)
    }
    writeBand((data.bands[name] ?? []).map(Self.look), name, &html) { look in
      OutageLayer(rawValue: look).map { "down: \($0.words)" } ?? look
    }
    let outages = "\(sum.outages) outage\(sum.outages == 1 ? "" : "s")"
    let down =
      sum.outages == 0 ? "no outages" : "\(outages), \(words(sum.down)) down, the longest \(words(sum.longest))"
    html.element("p", class: "soft", "\(down); watched for \(words(sum.up + sum.down))")
  }

  /// What a cell looks like, and how long that lasted; `nil` if nobody watched.
  private static func look(_ cell: ReportData.Cell) -> (key: String, value: Int64)? {
    if let layer = cell.layer { return (layer.rawValue, cell.down.max() ?? 0) }
    return cell.up > 0 ? ("up", cell.up) : cell.asleep > 0 ? ("asleep", cell.asleep) : nil
  }

  /// When it was that something lasted so long. Cells are drawn whole, and mostly more than what was in them.
  private func when(_ cells: Range<Int>, _ lasted: Int64) -> String {
    let (start, end) = (data.start(of: cells.lowerBound), data.start(of: cells.upperBound))
    if lasted >= end - start { return "\(minute(start)) to \(minute(end))" }
    return "\(words(lasted)) between \(minute(start)) and \(minute(end + 60 * WallTime.second - 1))"
  }

  /// Cells of the same look are one rectangle, whose tooltip says when.
  private func writeBand(
    _ looks: [(key: String, value: Int64)?], _ name: String, _ html: inout HTML, words: (String) -> String
  ) {
    let size = "0 0 \(ReportData.cellCount) 10"
    html.element(
      "svg", class: "band",
      [("viewBox", size), ("preserveAspectRatio", "none"), ("role", "img"), ("aria-label", "states of \(name)")]
    ) { html in
      // What is down is drawn over the rest, with a line around it: a second of a month is seen, too.
      for isDown in [false, true] {
        var start = 0
        while start < looks.count {
          let end = looks[start...].firstIndex { $0?.key != looks[start]?.key } ?? looks.count
          if let look = looks[start]?.key, isDown == (look == "none" || OutageLayer(rawValue: look) != nil) {
            let lasted = looks[start..<end].reduce(0) { $0 + ($1?.value ?? 0) }
            let title = "\(words(look)), \(when(start..<end, lasted))"
            let attributes: [(name: StaticString, value: String)] = [
              ("x", "\(start)"), ("width", "\(end - start)"), ("height", "10"), ("style", "--look:var(--\(look))"),
            ]
            html.element("rect", class: isDown ? "down" : nil, attributes) { $0.element("title", title) }
          }
          start = end
        }
      }
    }
  }

  private static let pathWords: [(key: String, words: String)] = [
    ("wired", "wired"), ("wifi", "Wi-Fi"), ("cellular", "cellular"), ("tunnel", "tunnel"), ("other", "another way"),
    ("none", "no way"),
  ]

  /// Some days below a band, or round times of day if it is short.
  private func writeAxis(_ html: inout HTML) {
    html.element("div", class: "axis soft") { html in
      for (number, wall) in ticks.enumerated() {
        // A day is told by its noon: midnight is left out where the clock changes then.
        let label =
          isShort
          ? String(minute(wall).suffix(5)) : Self.label(ofDay: WallTime.localDay(wall + WallTime.day / 2))
        // A label is centred below its time, where it has room for that.
        let style = "--at:\(OutageJSON.decimals(data.position(of: wall) * 100, 1))%"
        html.element("span", class: number % 2 == 1 ? "minor" : "major", [("style", style)]) {
          $0.text(label)
        }
      }
    }
  }

  private var isShort: Bool { data.until - data.since < 2 * WallTime.day }

  /// The local midnight that is nearest.
  private static func midnight(near wall: Int64) -> Int64 {
    let local = WallTime.local(wall)
    return wall - local + (local + WallTime.day / 2).floorDivided(by: WallTime.day) * WallTime.day
  }

  /// Times to write below a band: eight at most.
  private var ticks: [Int64] {
    let minutes: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360]
    let steps = minutes.map { $0 * 60 * WallTime.second }
    let times: [Int64]
    if isShort, let step = steps.first(where: { (data.until - data.since) / $0 < 8 }) {
      let local = WallTime.local(data.since)
      let first = data.since - local + (local + step - 1).floorDivided(by: step) * step
      times = Array(stride(from: first, to: data.until, by: Int64.Stride(step)))
    } else {
      // Where the clock changes, a day is longer or shorter.
      let step = ((data.until - data.since) / (8 * WallTime.day) + 1) * WallTime.day
      let first = Self.midnight(near: data.since + WallTime.day / 2 - WallTime.second)
      times = stride(from: first, to: data.until, by: Int64.Stride(step)).map { Self.midnight(near: $0) }
    }
    return times.filter { data.position(of: $0) < 0.94 }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// "2026-01-31" as "31 Jan".
  static func label(ofDay day: String) -> String {
    let numbers = day.split(separator: "-").compactMap { Int($0) }
    return "\(numbers[2]) \(months[numbers[1] - 1])"
  }

  private var targetLegend: [(key: String, words: String)] {
    var entries = [(key: "up", words: "reachable")]
    entries += OutageLayer.allCases.filter { data.sums.layers[$0] != nil }.map { ($0.rawValue, "down: \($0.words)") }
    if data.bands.values.contains(where: { $0.contains { $0.asleep > 0 } }) { entries.append(("asleep", "asleep")) }
    return entries + [("void", "not watched")]
  }

  private func writeLegend(_ entries: [(key: String, words: String)], _ html: inout HTML) {
    html.element("ul", class: "legend soft") { html in
      for (key, words) in entries {
        html.element("li") { html in
          html.element("span", class: "key", [("style", "background:var(--\(key))")]) { _ in }
          html.text(words)
        }
      }
    }
  }

  // MARK: Causes

  private func writeLayers(_ html: inout HTML) {
    let layers = data.sums.layers.map {
      (layer: $0.key, outages: $0.value.outages, events: data.sums.events(in: $0.key))
    }
    .sorted { ($1.events.lasted, $0.layer.rawValue) < ($0.events.lasted, $1.layer.rawValue) }
    guard let most = layers.first?.events.lasted else { return }
    html.element("section") { html in
      html.element("h2", "Where the causes were")
      for (layer, outages, events) in layers {
        html.element("div", class: "bar") { html in
          html.element("span", layer.words)
          html.element("span", class: "track") { html in
            let share = most == 0 ? 0 : Double(events.lasted) / Double(most) * 100
            let style = "width:\(OutageJSON.decimals(share, 2))%;background:var(--\(layer.rawValue))"
            html.element("span", [("style", style)]) { _ in }
          }
          html.element("span", class: "figure") { html in
            html.text(words(events.lasted))
            html.element("span", class: "soft", " in \(Self.words(events.count, outages))")
          }
        }
      }
    }
    html.markup("\n")
  }

  private func writeWorst(_ html: inout HTML) {
    if data.worst.isEmpty { return }
    html.element("section", class: "long") { html in
      html.element("h2", data.worst.count == 1 ? "The outage" : "The longest outages")
      for (outage, targets) in data.worst {
        html.element("div", class: "worst") { write(outage, others: targets.count - 1, &$0) }
      }
    }
    html.markup("\n")
  }

  private func write(_ outage: Outage, others: Int, _ html: inout HTML) {
    html.element("div", class: "title") { html in
      html.element("span", class: "name tag") { html in
        html.element("span", class: "key", [("style", "background:var(--\(outage.layer.rawValue))")]) { _ in }
        html.text(outage.causeWords)
      }
      html.element("span", class: "figure", outage.lasted(in: words))
    }
    html.element("p", class: "soft", story(outage, others))
    if let steps = outage.explanation?.steps, !steps.isEmpty {
      html.element("ul") { html in
        for step in steps {
          let family = step.family.map { $0 == "ipv4" ? " (IPv4)" : " (IPv6)" } ?? ""
          html.element("li", "\(step.step)\(family): \(step.text)")
        }
      }
    }
    if let advice = outage.explanation?.advice { html.element("p", class: "advice", advice) }
  }

  private func story(_ outage: Outage, _ others: Int) -> String {
    let more = others == 0 ? "" : " and \(others) other target\(others == 1 ? "" : "s")"
    var parts = [outage.target + more, "\(outage.wasFirst ? "at or before " : "")\(WallTime.localText(outage.began))"]
    switch outage.ending {
    case .over(let how): parts.append("then \(how)")
    case .open: parts.append("not over yet")
    case .cut: parts.append("nobody saw its end")
    }
    parts.append("where: \(outage.layer.words)")
    if let words = outage.confidenceWords { parts.append(words) }
    if outage.unwatched > 0 { parts.append("nobody watched for \(words(outage.unwatched)) of it") }
    if outage.slept > WallTime.second { parts.append("\(words(outage.slept)) of sleep left out") }
    return parts.joined(separator: " · ")
  }

  private func writeFoot(_ html: inout HTML) {
    html.element("footer") { html in
      html.text("Made by dialtone \(version), of the journal in \(directory).")
      html.text(" Time in which nobody watched, or the machine slept, counts neither way.")
      if skippedLines > 0 {
        html.text(" \(skippedLines) line\(skippedLines == 1 ? "" : "s") of the journal could not be read.")
      }
    }
  }
}
