// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneJournal

/// Outages and their sums for a person. Pure.
struct OutageFormatter {
  let screen: Screen

  init(screen: Screen) { self.screen = screen }

  private var targetColumns = "target".count
  private static let mostTargetColumns = 32
  private static let layerColumns = OutageLayer.allCases.map(\.words.count).max() ?? 0
  private static let spanColumns = "59 min, and on".count

  var head: String {
    let columns = [
      TerminalText.padded("when", to: "2026-11-24 12:00:00".count),
      TerminalText.padded("how long", to: Self.spanColumns),
      TerminalText.padded("target", to: targetColumns), TerminalText.padded("where", to: Self.layerColumns),
      "cause",
    ]
    return screen.paragraph(columns.joined(separator: "  "), .faint)
  }

  /// Makes the column of targets as wide as one, if it is no longer than a table bears.
  mutating func widen(for outage: Outage) {
    let target = TerminalText.visible(outage.target)
    targetColumns = max(targetColumns, min(TerminalText.columns(target), Self.mostTargetColumns))
  }

  func line(for outage: Outage) -> String {
    let target = TerminalText.visible(outage.target)
    func words(_ span: Int64) -> String { DurationText.words(.microseconds(span)) }
    var lasted = outage.lasted(in: words)
    switch outage.ending {
    case .over: break
    case .open: lasted += ", and on"
    case .cut: lasted = "≥ " + (outage.lasted < 1_000 ? "0 ms" : words(outage.lasted))
    }
    let row = [
      Screen.Span(WallTime.localText(outage.began), .faint), Screen.Span("  "),
      Screen.Span(TerminalText.padded(lasted, to: Self.spanColumns), outage.ending == .open ? .bad : nil),
      Screen.Span("  "),
      Screen.Span(TerminalText.padded(target, to: targetColumns)),
      Screen.Span("  "), Screen.Span(outage.layer.words),
    ]
    let gap = Screen.Span(String(repeating: " ", count: Self.layerColumns + 2 - outage.layer.words.count))
    let cause = TerminalText.visible(outage.causeWords + (outage.confidenceWords.map { " (\($0))" } ?? ""))
    let line = row + [gap, Screen.Span(cause)]
    if let columns = screen.columns, line.reduce(0, { $0 + TerminalText.columns($1.text) }) > columns {
      return screen.paragraph(row) + "\n" + screen.paragraph("  " + cause)
    }
    return screen.paragraph(line)
  }

  func lines(for sums: OutageSums, skippedLines: Int) -> [String] {
    var lines: [String] = []
    let layers = OutageLayer.allCases.compactMap { layer in
      sums.layers[layer].map { (layer: layer, sum: $0, events: sums.events(in: layer)) }
    }
    for (layer, sum, events) in layers.sorted(by: { $0.events.lasted > $1.events.lasted }) {
      let name = TerminalText.padded(layer.words, to: Self.layerColumns)
      lines.append(screen.paragraph("\(name)  \(Self.words(for: sum, events))"))
    }
    if !layers.isEmpty { lines.append("") }
    for (name, sum) in sums.targets.sorted(by: { $0.key < $1.key }) {
      lines.append(screen.paragraph("\(TerminalText.visible(name)): \(Self.words(for: sum, of: name))"))
    }
    if skippedLines > 0 {
      let words = skippedLines == 1 ? "1 line" : "\(skippedLines) lines"
      lines.append(screen.paragraph("left out, since unreadable: \(words) of the journal"))
    }
    return lines
  }

  /// "19 min in 3 outages"; "19 min in 1 event (3 outages of targets, 57 min in all)" if several were lost together.
  private static func words(for sum: OutageSums.Layer, _ events: (count: Int, lasted: Int64)) -> String {
    let (lasted, down) = (DurationText.words(.microseconds(events.lasted)), DurationText.words(.microseconds(sum.down)))
    let outages = "\(sum.outages) outage\(sum.outages == 1 ? "" : "s")"
    if events.count == sum.outages { return "\(lasted) in \(outages)\(down == lasted ? "" : " (\(down) in all)")" }
    return "\(lasted) in \(events.count) event\(events.count == 1 ? "" : "s") (\(outages) of targets, \(down) in all)"
  }

  /// "99.812 % available, 19 min of 7 d down, 3 outages, the longest 12 min". Only a site says that it is available; of
  /// others the kernel knows whether they are reachable.
  private static func words(for sum: OutageSums.Target, of name: String) -> String {
    guard let availability = sum.availability else { return "nobody watched" }
    let all = DurationText.words(.microseconds(sum.up + sum.down))
    let down = sum.down == 0 ? "0 s" : DurationText.words(.microseconds(sum.down))
    let word = name.contains("://") ? "available" : "reachable"
    let head = "\(OutageJSON.decimals(availability * 100, 3)) % \(word), \(down) of \(all) down"
    if sum.outages == 0 { return head }
    let longest = DurationText.words(.microseconds(sum.longest))
    return head + (sum.outages == 1 ? ", 1 outage" : ", \(sum.outages) outages, the longest \(longest)")
  }
}
