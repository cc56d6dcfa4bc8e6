// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What came of all rounds, as a table in Markdown.
struct TrialTable {
  private struct Cell {
    var recoveries: [Duration?] = []
    var lost = 0
    var closed = 0
    var wrongs = 0
  }

  private struct Row: Hashable {
    let change: String
    let kind: ClientKind
    let follows: Bool
  }

  private let limit: Duration
  private var cells: [Row: Cell] = [:]
  private var hasHead = false

  init(limit: Duration) { self.limit = limit }

  /// Connections that were closed and worked.
  var wrongs: Int { cells.values.reduce(0) { $0 + $1.wrongs } }

  mutating func add(_ results: [TrialResult], to change: String) {
    for result in results {
      let row = Row(change: change, kind: result.kind, follows: result.follows)
      cells[row, default: Cell()].recoveries.append(result.recovery)
      cells[row, default: Cell()].lost += result.lost
      cells[row, default: Cell()].closed += result.closed
      cells[row, default: Cell()].wrongs += result.closedThatWorked
    }
  }

  /// The rows of one change.
  mutating func text(of change: String) -> String {
    var lines: [String] = []
    if !hasHead {
      lines.append("| change | client | without: median, worst | lost | with: median, worst | lost | closed | worked |")
      lines.append("|---|---|---|---|---|---|---|---|")
    }
    hasHead = true
    for kind in ClientKind.allCases {
      let plain = cells[Row(change: change, kind: kind, follows: false)] ?? Cell()
      let ours = cells[Row(change: change, kind: kind, follows: true)] ?? Cell()
      lines.append(
        "| \(change) | \(kind.rawValue) | \(times(plain)) | \(plain.lost) | \(times(ours)) | \(ours.lost) "
          + "| \(ours.closed) | \(ours.wrongs) |")
    }
    return lines.joined(separator: "\n")
  }

  private func times(_ cell: Cell) -> String {
    // What was not answered within the limit comes last.
    let all = cell.recoveries.sorted { ($0 ?? limit * 2) < ($1 ?? limit * 2) }
    guard !all.isEmpty else { return "–" }
    return "\(text(all[all.count / 2])), \(text(all[all.count - 1]))"
  }

  private func text(_ time: Duration?) -> String {
    guard let time else { return "> \(limit.components.seconds) s" }
    let milliseconds = time / .milliseconds(1)
    return milliseconds < 1_000 ? "\(Int(milliseconds.rounded(.up))) ms" : "\((milliseconds / 100).rounded() / 10) s"
  }
}
#endif
