// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// A line about a site for a person: time, URL, verdict, and what led to it.
struct SiteTextFormatter: ReportFormatter {
  /// The most columns that a URL takes on a terminal.
  private static let nameLimit = 40
  /// The most columns that a redirect's target takes on a terminal.
  private static let locationLimit = 60

  private let names: [String]
  private let nameColumns: Int
  private let style: Style
  private let isTerminal: Bool
  private let showsTime: Bool
  /// Grows where a longer word comes, which is seldom.
  private var verdictColumns = "available".count

  init(urls: [String], style: Style, isTerminal: Bool, showsTime: Bool) {
    names = urls.map { url in
      let name = TerminalText.visible(url)
      return isTerminal ? TerminalText.fitted(name, to: Self.nameLimit) : name
    }
    nameColumns = names.map { TerminalText.columns($0) }.max() ?? 0
    self.style = style
    self.isTerminal = isTerminal
    self.showsTime = showsTime
  }

  mutating func line(for report: StateReport<SiteVerdict>) -> String {
    let verdict = report.state
    let word = verdict.kind.identifier
    verdictColumns = max(verdictColumns, word.count)
    var parts: [String] = []
    if showsTime {
      parts.append(style.text(TimeText.local(verdict.timeSince1970, withDay: !isTerminal), .faint))
    }
    parts.append(TerminalText.padded(names[report.target], to: nameColumns))
    parts.append(
      style.text(word, Self.look(of: verdict.kind)) + String(repeating: " ", count: verdictColumns - word.count))
    let details = details(of: verdict)
    if !details.isEmpty { parts.append(details) }
    if let former = report.former {
      let words = former.state.kind == verdict.kind ? "" : " \(former.state.kind.identifier)"
      parts.append(style.text("after \(DurationText.words(former.lasted))\(words)", .faint))
    }
    return parts.joined(separator: "  ")
  }

  private static func look(of kind: SiteVerdict.Kind) -> Style.Look {
    switch kind {
    case .available: .good
    case .partial, .undetermined: .middling
    default: .bad
    }
  }

  /// Such as "200 in 12 ms, via Wi-Fi (wlan0)", "302 to http://login.example/ in 3 ms", "connect: connection refused".
  private func details(of verdict: SiteVerdict) -> String {
    var details = ""
    if let status = verdict.status { details = "\(status)" }
    if let location = verdict.location {
      let shown = TerminalText.visible(location)
      details += " to \(isTerminal ? TerminalText.fitted(shown, to: Self.locationLimit) : shown)"
    }
    if let error = verdict.error {
      if !details.isEmpty { details += ": " }
      details += (verdict.stage.map { "\($0.identifier): " } ?? "") + TerminalText.visible(error.message)
    }
    if verdict.status != nil, let total = verdict.timings.total { details += " in \(DurationText.words(total))" }
    if let interface = verdict.interface, verdict.status != nil {
      details += ", via \(TerminalText.visible(interface.description))"
    }
    return details
  }
}
