// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// A line about a site for a person: time, URL, verdict, and what led to it.
struct SiteTextFormatter: ReportFormatter {
  private let names: ShortenedNames
  private let style: Style
  /// How many columns the terminal has; `nil` if there is none.
  private let columns: (() -> Int)?
  private let showsTime: Bool
  /// Whether any answer of the site's own makes it available.
  private let anyAnswerCounts: Bool
  /// Grows if a longer word comes, which is seldom.
  private var verdictColumns = "available".count

  init(
    urls: [String], style: Style, columns: (() -> Int)?, showsTime: Bool, anyAnswerCounts: Bool = false
  ) {
    names = ShortenedNames(urls)
    self.style = style
    self.columns = columns
    self.showsTime = showsTime
    self.anyAnswerCounts = anyAnswerCounts
  }

  mutating func line(for report: StateReport<SiteVerdict>) -> String {
    let verdict = report.state
    verdictColumns = max(verdictColumns, verdict.kind.identifier.count)
    let room = columns?()
    // Where a redirect leads is a stranger's text, and may be long.
    let details = (room == nil ? [nil] : [60, 40, 24]).map {
      Self.details(of: verdict, locationLimit: $0, anyAnswerCounts: anyAnswerCounts)
    }
    let former = report.former.map { [Self.words(for: $0, before: verdict), nil] } ?? [nil]
    let line = TerminalLine(
      time: showsTime ? TimeText.local(verdict.timestamp ?? .now, withDay: room == nil) : nil, target: report.target,
      status: verdict.kind.identifier, look: Self.look(of: verdict.kind), statusColumns: verdictColumns,
      wordings: former.flatMap { former in details.map { ($0, former) } }, leastName: 20)
    return line.text(names: names, columns: room, style: style)
  }

  private static func words(for former: StateReport<SiteVerdict>.Former, before verdict: SiteVerdict) -> String {
    let word = former.state.kind == verdict.kind ? "" : " \(former.state.kind.identifier)"
    return "after \(DurationText.words(former.lasted))\(word)"
  }

  private static func look(of kind: SiteVerdict.Kind) -> Style.Look {
    switch kind {
    case .available: .good
    case .partial, .undetermined: .middling
    default: .bad
    }
  }

  /// Such as "200 in 12 ms, via Wi-Fi (wlan0)", "302 to http://login.example/ in 3 ms", "connect: connection refused,
  /// to 192.0.2.7, via wired (eth0)", "wired (eth0), no carrier".
  static func details(of verdict: SiteVerdict, locationLimit: Int? = nil, anyAnswerCounts: Bool = false) -> String {
    var answer = verdict.status.map { "\($0)" } ?? ""
    if anyAnswerCounts, verdict.isAvailable, verdict.status ?? 0 >= 400 {
      answer += " (an error; see --expect success)"
    }
    if let location = verdict.location {
      let shown = TerminalText.visible(location)
      answer += " to \(locationLimit.map { TerminalText.fitted(shown, to: $0) } ?? shown)"
    }
    if verdict.status != nil, let total = verdict.timings.total { answer += " in \(DurationText.words(total))" }
    let interface = verdict.interface.map { TerminalText.visible($0.description) }
    var parts: [String] = []
    // Nothing was sent: no packet went over the interface.
    if verdict.kind == .offline, let interface { parts.append(interface) }
    if let error = verdict.error {
      if !answer.isEmpty { answer += ": " }
      answer += (verdict.stage.map { "\($0.identifier): " } ?? "") + TerminalText.visible(error.message)
    }
    if !answer.isEmpty { parts.append(answer) }
    // If there was an answer, it came from there.
    if verdict.error != nil, verdict.kind != .offline, verdict.status == nil, let address = verdict.address {
      parts.append("to \(TerminalText.visible("\(address)"))")
    }
    if verdict.kind != .offline, let interface { parts.append("via \(interface)") }
    return parts.joined(separator: ", ")
  }
}
