// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A line for a person: time, target, status, the way or why there is none, and how long the former state lasted. See
/// `TerminalLine`.
struct TextReportFormatter: ReportFormatter {
  private let names: ShortenedNames
  /// Whether any wired or Wi-Fi interface would do for the target.
  private let takesAnyInterface: [Bool]
  /// What the lines are written to, as it is now: its size may change.
  private let screen: () -> Screen
  private let showsTime: Bool

  /// `interface` is the one asked for.
  init(targets: [WatchedTarget], interface: String? = nil, screen: @escaping () -> Screen, showsTime: Bool) {
    takesAnyInterface = targets.map { $0.takesAnyInterface && interface == nil }
    names = ShortenedNames(targets.map(\.typed))
    self.screen = screen
    self.showsTime = showsTime
  }

  func line(for report: Report) -> String {
    let state = report.state
    let screen = screen()
    let details = Self.details(of: state, takesAnyInterface: takesAnyInterface[report.target])
    // The former state has a line further up.
    let former = report.former.map { [Self.words(for: $0, before: state), Self.words(for: $0), nil] } ?? [nil]
    let line = TerminalLine(
      time: showsTime ? TimeText.local(state.timestamp ?? .now, isForPerson: screen.columns != nil) : nil,
      target: report.target, status: state.status.identifier, look: Self.look(of: state.status),
      statusColumns: "unreachable".count, wordings: former.map { (details, $0) })
    return line.text(names: names, on: screen)
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
    if reason.isDenial, let shortage = Shortage.now() { return shortage }
    return String(reason.description.prefix { $0 != ":" })
  }

  /// How long the former state lasted: "after 3 min 12 s unreachable", or "after 5 s via eth0" if only the way changed.
  static func words(for former: Report.Former, before state: Reachability) -> String {
    let lasted = words(for: former)
    if former.state.status != state.status { return "\(lasted) \(former.state.status.identifier)" }
    if former.state.isReachable, let interface = former.state.interface, interface != state.interface {
      return "\(lasted) via \(TerminalText.visible(interface.name))"
    }
    return lasted
  }

  /// How long the former state lasted, and no more: "after 3 min 12 s".
  private static func words(for former: Report.Former) -> String { "after \(DurationText.words(former.lasted))" }
}
