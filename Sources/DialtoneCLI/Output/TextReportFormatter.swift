// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A line for a person: time, target, status, the way or why there is none, and how long the former state lasted.
///
/// Columns are as wide as the widest text in them; two spaces stand between. See `TerminalLine`.
struct TextReportFormatter: ReportFormatter {
  private let names: ShortenedNames
  /// Whether any wired or Wi-Fi interface would do for the target.
  private let takesAnyInterface: [Bool]
  private let style: Style
  /// How many columns the terminal has; `nil` if there is none.
  private let columns: (() -> Int)?
  private let showsTime: Bool
  /// Grows if a longer word comes, which is seldom.
  private var statusColumns = "unreachable".count

  /// On a terminal, names are cut to what it has room for, and the day is left out of the time.
  ///
  /// `interface` is the one asked for.
  init(
    targets: [WatchedTarget], interface: String? = nil, style: Style, columns: (() -> Int)?, showsTime: Bool
  ) {
    takesAnyInterface = targets.map { $0.takesAnyInterface && interface == nil }
    names = ShortenedNames(targets.map(\.typed))
    self.style = style
    self.columns = columns
    self.showsTime = showsTime
  }

  mutating func line(for report: Report) -> String {
    let state = report.state
    let status = state.status.identifier
    statusColumns = max(statusColumns, status.count)
    let details = Self.details(of: state, takesAnyInterface: takesAnyInterface[report.target])
    // The former state has a line further up.
    let former = report.former.map { [Self.words(for: $0, before: state), Self.words(for: $0), nil] } ?? [nil]
    let line = TerminalLine(
      time: showsTime ? TimeText.local(state.timestamp ?? .now, withDay: columns == nil) : nil, target: report.target,
      status: status, look: Self.look(of: state.status), statusColumns: statusColumns,
      wordings: former.map { (details, $0) }, leastName: 12)
    return line.text(names: names, columns: columns?(), style: style)
  }

  private static func look(of status: Reachability.Status) -> Style.Look {
    switch status {
    case .reachable: .good
    case .unreachable: .bad
    case .requiresConnection, .undetermined: .middling
    }
  }

  /// The way to the target, or why there is none, such as "wired (eth0), no carrier".
  static func details(of state: Reachability, takesAnyInterface: Bool = false) -> String {
    var details: [String] = []
    if let interface = state.interface { details.append((state.isReachable ? "via " : "") + interface.description) }
    if let reason = state.reason { details.append(words(for: reason, takesAnyInterface: takesAnyInterface)) }
    if state.flags.contains(.isLocalAddress) {
      details.append("this machine")
    } else if let gateway = state.gateway {
      details.append("gateway \(gateway)")
    } else if state.isReachable, state.flags.contains(.isDirect) {
      details.append("direct")
    }
    if details.isEmpty, !state.isReachable { details.append("no answer yet") }
    return TerminalText.visible(details.joined(separator: ", "))
  }

  /// The reason up to where its explanation begins: "no carrier".
  static func words(for reason: Reachability.Reason, takesAnyInterface: Bool) -> String {
    if takesAnyInterface, reason == .noInterface { return "there is no wired or Wi-Fi interface" }
    if reason == .denied, let shortage = Shortage.now() { return shortage }
    return String(reason.description.prefix { $0 != ":" })
  }

  /// How long the former state lasted: "after 3 min 12 s unreachable", or "after 5 s via eth0" if only the way changed.
  static func words(for former: Report.Former, before state: Reachability) -> String {
    let lasted = words(for: former)
    if former.state.status != state.status {
      return "\(lasted) \(former.state.status.identifier)"
    }
    if let interface = former.state.interface, interface != state.interface {
      return "\(lasted) via \(TerminalText.visible(interface.name))"
    }
    return lasted
  }
  /// How long the former state lasted, and no more: "after 3 min 12 s".
  private static func words(for former: Report.Former) -> String { "after \(DurationText.words(former.lasted))" }
}
