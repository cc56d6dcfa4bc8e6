// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The names of all targets, cut to the room in a line, and still told apart if possible.
final class ShortenedNames {
  /// How many columns the longest takes.
  let widest: Int
  private let names: [String]
  private var cut: [Int: [String]] = [:]

  /// Takes the names as they were typed.
  init(_ names: [String]) {
    self.names = names.map { TerminalText.visible($0) }
    widest = self.names.map { TerminalText.columns($0) }.max() ?? 0
  }

  /// The name of a target, in at most `limit` columns; without a limit, the whole.
  func name(_ target: Int, to limit: Int?) -> String {
    guard let limit, limit < TerminalText.columns(names[target]) else { return names[target] }
    if cut[limit] == nil { cut[limit] = distinct(to: limit) }
    return cut[limit]?[target] ?? names[target]
  }

  private func distinct(to limit: Int) -> [String] {
    var result = names.map { TerminalText.fitted($0, to: limit) }
    for group in alike(result) {
      let cuts = Self.cutWhereTheyDiffer(group.map { Array(names[$0]) }, to: limit)
      for (target, cut) in zip(group, cuts) { result[target] = cut }
    }
    // If even that says nothing, the position does.
    for group in alike(result) {
      for target in group {
        let number = "…#\(target + 1)"
        if number.count < limit {
          result[target] = TerminalText.taken(names[target], columns: limit - number.count) + number
        }
      }
    }
    return result
  }

  /// The targets whose texts are the same although their names differ.
  private func alike(_ texts: [String]) -> [[Int]] {
    Dictionary(grouping: texts.indices) { texts[$0] }.values.filter { group in
      group.contains { names[$0] != names[group[0]] }
    }
  }

  /// Each with its beginning, and with what follows the beginning that all of them share.
  private static func cutWhereTheyDiffer(_ names: [[Character]], to limit: Int) -> [String] {
    let shared = names.dropFirst().reduce(names[0].count) { shared, name in
      min(shared, zip(names[0], name).prefix { $0 == $1 }.count)
    }
    return names.map { name in
      let head = TerminalText.taken(name, columns: limit / 4)
      let room = limit - TerminalText.columns(head) - 1
      let tail = String(name[max(shared, head.count)...])
      if shared <= head.count || room < 2 { return TerminalText.taken(name, columns: limit - 1) + "…" }
      if TerminalText.columns(tail) > room { return head + "…" + TerminalText.taken(tail, columns: room - 1) + "…" }
      return head + "…" + String(TerminalText.taken(name.reversed(), columns: room).reversed())
    }
  }
}
