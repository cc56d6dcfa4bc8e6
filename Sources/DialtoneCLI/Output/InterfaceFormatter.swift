// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Lists interfaces: name, kind, state and addresses.
struct InterfaceFormatter {
  let style: Style
  /// How many columns the terminal has; `nil` if there is none. On a terminal, each address gets a line of its own.
  let columns: Int?

  func lines(for interfaces: [InterfaceStatus]) -> [String] {
    let rows = interfaces.map { interface in
      (
        name: TerminalText.visible(interface.interface.name), kind: interface.interface.kind.description,
        state: Self.state(of: interface), isOperating: interface.isOperating,
        addresses: interface.addresses.map { TerminalText.visible("\($0.address)/\($0.prefixLength)") }
      )
    }
    let nameColumns = rows.map { TerminalText.columns($0.name) }.max() ?? 0
    let kindColumns = rows.map { TerminalText.columns($0.kind) }.max() ?? 0
    let stateColumns = rows.map { TerminalText.columns($0.state) }.max() ?? 0
    let start = nameColumns + kindColumns + stateColumns + 6
    let longest = rows.flatMap(\.addresses).map { TerminalText.columns($0) }.max() ?? 0
    // If the columns leave too little room, the addresses stand further left, each below the interface.
    let isBelow = columns.map { start + longest > $0 } ?? false
    let indent = String(repeating: " ", count: isBelow ? min(4, max(0, (columns ?? 0) - longest)) : start)
    return rows.flatMap { row -> [String] in
      let look = row.isOperating ? Style.Look.good : .bad
      let head =
        TerminalText.padded(row.name, to: nameColumns) + "  " + TerminalText.padded(row.kind, to: kindColumns) + "  "
        + style.text(row.state, look)
      guard let first = row.addresses.first else { return [head] }
      let padding = String(repeating: " ", count: stateColumns - TerminalText.columns(row.state) + 2)
      if columns == nil { return [head + padding + row.addresses.joined(separator: " ")] }
      if isBelow { return [head] + row.addresses.map { indent + $0 } }
      return [head + padding + first] + row.addresses.dropFirst().map { indent + $0 }
    }
  }

  /// The object of one interface, always with all keys.
  static func json(for interface: InterfaceStatus) -> String {
    JSONWriter.object { writer in
      writer.field("name", interface.interface.name)
      writer.field("index", interface.interface.index)
      writer.field("kind", interface.interface.kind.identifier)
      writer.field("up", interface.isUp)
      writer.field("operating", interface.isOperating)
      writer.field("reason", interface.reason?.identifier)
      writer.field("addresses", interface.addresses.map { "\($0.address)/\($0.prefixLength)" })
    }
  }

  private static func state(of interface: InterfaceStatus) -> String {
    if interface.isOperating { return "up" }
    return interface.reason?.identifier ?? (interface.isUp ? "not-operating" : "link-down")
  }
}
