// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// A line about a site for a person: time, URL, verdict, and what led to it.
struct SiteTextFormatter: ReportFormatter {
  private let names: ShortenedNames
  /// What the lines are written to, as it is now.
  private let screen: () -> Screen
  private let showsTime: Bool
  /// Whether any answer of the site's own makes it available.
  private let anyAnswerCounts: Bool

  init(urls: [String], screen: @escaping () -> Screen, showsTime: Bool, anyAnswerCounts: Bool = false) {
    names = ShortenedNames(urls)
    self.screen = screen
    self.showsTime = showsTime
    self.anyAnswerCounts = anyAnswerCounts
  }

  func line(for report: StateReport<SiteVerdict>) -> String {
    let verdict = report.state
    let screen = screen()
    // Where a redirect leads is a stranger's text, and may be long.
    let details = (screen.columns == nil ? [nil] : [60, 40, 24]).map {
      Self.details(of: verdict, locationLimit: $0, anyAnswerCounts: anyAnswerCounts)
    }
    var wordings: [TerminalLine.Wording] = details.map { ($0, nil) }
    if let former = report.former { wordings.insert((details[0], Self.words(for: former, before: verdict)), at: 0) }
    let line = TerminalLine(
      time: showsTime ? TimeText.local(verdict.timestamp ?? .now, isForPerson: screen.columns != nil) : nil,
      target: report.target, status: verdict.kind.identifier, look: Self.look(of: verdict.kind),
      statusColumns: "available".count, wordings: wordings)
    return line.text(names: names, on: screen)
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

  static func words(for verdict: SiteVerdict) -> String {
    let details = details(of: verdict)
    return details.isEmpty ? verdict.kind.identifier : "\(verdict.kind.identifier), \(details)"
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
