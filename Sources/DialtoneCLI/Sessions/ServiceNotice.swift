// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a service manager is told (sd_notify(3)): readiness once each target is known, and a status line in words.
/// Pure.
struct ServiceNotice {
  static let ready = "READY=1"

  private var words: [String?]
  private var holds: [TruthValue]
  private var isReady = false
  private let names: [String]

  init(names: [String]) {
    self.names = names
    words = Array(repeating: nil, count: names.count)
    holds = Array(repeating: .unknown, count: names.count)
  }

  /// Takes the state of a target. Returns the message to send.
  mutating func message(of target: Int, _ words: String, holds: TruthValue) -> String {
    self.words[target] = words
    self.holds[target] = holds
    var lines: [String] = []
    if !isReady, self.words.allSatisfy({ $0 != nil }) {
      isReady = true
      lines.append(Self.ready)
    }
    lines.append("STATUS=\(status)")
    return lines.joined(separator: "\n")
  }

  /// Of one target all that is known; of several how many are fine, and the first that is not.
  private var status: String {
    if names.count == 1 { return line(0) }
    let fine = holds.count { $0 == .holds }
    let count = "\(fine) of \(names.count) fine"
    guard let first = holds.firstIndex(where: { $0 != .holds }) else { return count }
    return "\(count); \(line(first))"
  }

  /// One line, since the message has one entry a line.
  private func line(_ target: Int) -> String {
    TerminalText.visible("\(names[target]): \(words[target] ?? "not known yet")")
  }
}
