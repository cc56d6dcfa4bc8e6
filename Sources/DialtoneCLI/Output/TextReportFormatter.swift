// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A line for a person: time, target, status, the way or why there is none, and how long it had been otherwise.
///
/// Columns are as wide as the widest text in them; two spaces stand between.
struct TextReportFormatter: ReportFormatter {
  /// The most columns that a target takes on a terminal.
  static let targetLimit = 24
  /// The columns that every terminal has.
  private static let lineLimit = 80

  private let names: [String]
  private let nameColumns: Int
  /// Whether the target is one that any wired or Wi-Fi interface would do for.
  private let takesAnyInterface: [Bool]
  private let style: Style
  private let isTerminal: Bool
  private let showsTime: Bool
  /// Grows where a longer word comes, which is seldom.
  private var statusColumns = "unreachable".count

  /// On a terminal, names are cut to what it has room for, and the day is left out of the time.
  ///
  /// `interface` is the one asked for.
  init(targets: [WatchedTarget], interface: String? = nil, style: Style, isTerminal: Bool, showsTime: Bool) {
    takesAnyInterface = targets.map { $0.target == .localNetwork && interface == nil }
    names = targets.map { target in
      let name = TerminalText.visible(target.typed)
      return isTerminal ? TerminalText.fitted(name, to: Self.targetLimit) : name
    }
    nameColumns = names.map { TerminalText.columns($0) }.max() ?? 0
    self.style = style
    self.isTerminal = isTerminal
    self.showsTime = showsTime
  }

  mutating func line(for report: Report) -> String {
    let state = report.state
    let status = state.status.identifier
    statusColumns = max(statusColumns, status.count)

    let takesAny = takesAnyInterface[report.target]
    let full = Self.details(of: state, takesAnyInterface: takesAny)
    let line = line(for: report, status: status, details: full, isBrief: false)
    guard isTerminal, line.columns > Self.lineLimit, let former = report.former else { return line.styled }
    // Of all that is said, the gateway is missed least, unless nothing else is new; then what it was before, which
    // stands in a line further up.
    let details = Self.details(
      of: state, takesAnyInterface: takesAny, withGateway: !Self.isOtherWay(former.state, state))
    let shorter = self.line(for: report, status: status, details: details, isBrief: false)
    if shorter.columns <= Self.lineLimit { return shorter.styled }
    return self.line(for: report, status: status, details: details, isBrief: true).styled
  }

  /// The line, and how many columns it takes; a brief one does not say what the former state was.
  private func line(
    for report: Report, status: String, details: String, isBrief: Bool
  ) -> (styled: String, columns: Int) {
    let state = report.state
    var parts: [(text: String, look: Style.Look?)] = []
    if showsTime { parts.append((TimeText.local(state.timeSince1970, withDay: !isTerminal), .faint)) }
    parts.append((TerminalText.padded(names[report.target], to: nameColumns), nil))
    parts.append((status, Self.look(of: state.status)))
    if !details.isEmpty {
      let padding = String(repeating: " ", count: statusColumns - status.count)
      parts.append((padding + TerminalText.visible(details), nil))
    }
    if let former = report.former {
      let lasted = "after \(DurationText.words(former.lasted))"
      parts.append((isBrief ? lasted : Self.words(for: former, before: state), .faint))
    }
    let styled = parts.map { part in part.look.map { style.text(part.text, $0) } ?? part.text }.joined(separator: "  ")
    return (styled, TerminalText.columns(parts.map(\.text).joined(separator: "  ")))
  }

  private static func look(of status: Reachability.Status) -> Style.Look {
    switch status {
    case .reachable: .good
    case .unreachable: .bad
    case .requiresConnection, .undetermined: .middling
    }
  }

  /// The way to the target, or why there is none, such as "wired (eth0), no carrier".
  static func details(
    of state: Reachability, takesAnyInterface: Bool = false, withGateway showsGateway: Bool = true
  ) -> String {
    var details: [String] = []
    if let interface = state.interface { details.append((state.isReachable ? "via " : "") + interface.description) }
    if let reason = state.reason { details.append(words(for: reason, takesAnyInterface: takesAnyInterface)) }
    if state.flags.contains(.isLocalAddress) {
      details.append("this machine")
    } else if let gateway = state.gateway {
      if showsGateway { details.append("gateway \(gateway)") }
    } else if showsGateway, state.isReachable, state.flags.contains(.isDirect) {
      details.append("direct")
    }
    if details.isEmpty, !state.isReachable { details.append("no answer yet") }
    return details.joined(separator: ", ")
  }

  /// Whether more than the gateway is new.
  private static func isOtherWay(_ former: Reachability, _ state: Reachability) -> Bool {
    former.status != state.status || former.interface != state.interface
  }

  /// The reason up to where its explanation begins: "no carrier".
  static func words(for reason: Reachability.Reason, takesAnyInterface: Bool) -> String {
    if takesAnyInterface, reason == .noInterface { return "there is no wired or Wi-Fi interface" }
    return String(reason.description.prefix { $0 != ":" })
  }

  /// How long it had been otherwise: "after 3 min 12 s unreachable", or "after 5 s via eth0" where only the way changed.
  static func words(for former: Report.Former, before state: Reachability) -> String {
    let lasted = "after \(DurationText.words(former.lasted))"
    if former.state.status != state.status {
      return "\(lasted) \(former.state.status.identifier)"
    }
    if let interface = former.state.interface, interface != state.interface {
      return "\(lasted) via \(TerminalText.visible(interface.name))"
    }
    return lasted
  }
}
