// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneJournal

/// What `interfaces` says of one.
struct InterfaceFacts: Sendable {
  let status: InterfaceStatus
  /// Whether packets for the Internet that are bound to no interface leave by it, or would with its carrier.
  var isDefault = false
  /// The routers that lead from it to the Internet.
  var gateways: [IPAddress] = []
  /// In Mbit/s; `nil` if the driver does not say.
  var speed: UInt32?
  /// Whether it is a bridge, whose carrier is that of its ports: without one, it is idle.
  var isBridge = false
}

/// A table of interfaces, with a header. A column of which nothing is known of any interface is left out.
///
/// On a terminal, each address gets a line of its own: in the last column, or below the interface if the terminal is
/// narrow. In a pipe or a file, each interface has one line.
struct InterfaceFormatter {
  let screen: Screen
  /// Whether IPv6's link-local addresses are listed, which every interface has.
  var showsAll = false

  private struct Row {
    let cells: [String]
    let look: Style.Look?
    let addresses: [String]
  }

  private static let empty = "-"
  private static let gap = "  "
  private static let stateColumn = 2

  func lines(for interfaces: [InterfaceFacts]) -> [String] {
    if interfaces.isEmpty { return [] }
    let header = ["NAME", "KIND", "STATE", "SPEED", "GATEWAY"]
    let rows = interfaces.map(row)
    let shown = header.indices.filter { column in column < 3 || rows.contains { $0.cells[column] != Self.empty } }
    let widths = shown.map { column in
      ([header[column]] + rows.map { $0.cells[column] }).map { TerminalText.columns($0) }.max() ?? 0
    }
    let start = widths.reduce(0) { $0 + $1 + Self.gap.count }
    let longest = rows.flatMap(\.addresses).map { TerminalText.columns($0) }.max() ?? 0
    // Where not even the columns before the addresses have room, cells follow each other, without a header.
    let isNarrow = screen.columns.map { start - Self.gap.count > $0 } ?? false
    let isBelow = screen.columns.map { start + longest > $0 } ?? false
    let indent = String(repeating: " ", count: isBelow ? 4 : start)

    func line(_ cells: [String], _ look: Style.Look? = nil, last: String? = nil) -> String {
      var parts: [[Screen.Span]] = []
      for (column, width) in zip(shown, widths) where !isNarrow || cells[column] != Self.empty {
        let isLast = last == nil && column == shown.last
        let padding = isNarrow || isLast ? 0 : width - TerminalText.columns(cells[column])
        parts.append([
          Screen.Span(cells[column], column == Self.stateColumn ? look : nil),
          Screen.Span(String(repeating: " ", count: padding)),
        ])
      }
      if let last { parts.append([Screen.Span(last)]) }
      return screen.paragraph(Array(parts.joined(separator: [Screen.Span(Self.gap)])))
    }
    var lines = isNarrow ? [] : [line(header, last: isBelow || longest == 0 ? nil : "ADDRESSES")]
    for row in rows {
      if screen.columns == nil {
        lines.append(
          line(row.cells, row.look, last: row.addresses.isEmpty ? nil : row.addresses.joined(separator: " ")))
      } else {
        lines.append(line(row.cells, row.look, last: isBelow ? nil : row.addresses.first))
        lines += row.addresses.dropFirst(isBelow ? 0 : 1).map { screen.paragraph(indent + $0, hanging: 6) }
      }
    }
    return lines
  }

  private func row(_ facts: InterfaceFacts) -> Row {
    let status = facts.status
    let gateways = facts.gateways.map { TerminalText.visible("\($0)") }.joined(separator: " ")
    let (state, look) = Self.state(of: facts)
    let addresses = status.addresses.filter { showsAll || $0.address.family == .ipv4 || !$0.address.isLinkLocal }
    return Row(
      cells: [
        TerminalText.visible(status.interface.name) + (facts.isDefault ? " *" : ""),
        status.interface.kind.description, state, facts.speed.map(Self.words) ?? Self.empty,
        gateways.isEmpty ? Self.empty : gateways,
      ], look: look, addresses: addresses.map { TerminalText.visible("\($0.address)/\($0.prefixLength)") })
  }

  /// A fault is red where it matters: on the way to the Internet.
  private static func state(of facts: InterfaceFacts) -> (String, Style.Look) {
    let status = facts.status
    if status.isOperating { return ("up", .good) }
    if facts.isBridge, status.reason == .noCarrier { return ("idle", .faint) }
    let word = status.reason?.identifier ?? (status.isUp ? "not-operating" : "link-down")
    return (word, facts.isDefault ? .bad : status.isUp ? .middling : .faint)
  }

  /// Such as "100 Mbit/s", "2.5 Gbit/s".
  static func words(_ speed: UInt32) -> String {
    if speed < 1000 { return "\(speed) Mbit/s" }
    let rest = speed % 1000 / 100
    return "\(speed / 1000)\(rest == 0 ? "" : ".\(rest)") Gbit/s"
  }

  /// The object of one interface, always with all keys.
  static func json(for facts: InterfaceFacts) -> String {
    let interface = facts.status
    return JSONText.line { writer in
      writer.field("name", interface.interface.name)
      writer.field("index", interface.interface.index)
      writer.field("kind", interface.interface.kind.identifier)
      writer.field("up", interface.isUp)
      writer.field("operating", interface.isOperating)
      writer.field("reason", interface.reason?.identifier)
      writer.field("default", facts.isDefault)
      writer.field("gateways", facts.gateways.map(\.description))
      writer.field("speed", facts.speed)
      writer.field("addresses", interface.addresses.map { "\($0.address)/\($0.prefixLength)" })
    }
  }
}
