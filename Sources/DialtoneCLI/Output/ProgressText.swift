// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The line that says what is being waited for.
enum ProgressText {
  /// Such as "waiting for example.com to be reachable, 12 s of 30 s".
  static func line(_ waiting: Waiting, names typed: [String], elapsed: Duration, limit: Duration?) -> String {
    let names = waiting.targets.prefix(2).map { position in
      TerminalText.fitted(TerminalText.visible(typed[position]), to: TextReportFormatter.targetLimit)
    }
    let more = waiting.targets.count - names.count
    let list =
      more > 0 ? names.joined(separator: ", ") + " and \(more) more" : names.joined(separator: " and ")
    // Whole seconds: it is written once a second.
    let time = DurationText.words(.seconds(max(1, elapsed.secondsClamped)))
    let end = limit.map { " of \(DurationText.words($0))" } ?? ""
    return "waiting for \(list) \(waiting.goal), \(time.replacing(".0", with: ""))\(end)"
  }
}
