// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Says on standard error why a wait goes on, if no terminal shows it in place: each reason once, and a few in all.
struct Obstacles {
  /// The limit for all targets together, however often they change.
  private static let limit = 10

  private var told: Set<String> = []

  /// The line to write; `nil` if that reason has been told.
  mutating func note(_ name: String, _ goal: String, _ words: String) -> String? {
    guard told.count < Self.limit, told.insert(words).inserted else { return nil }
    return "dialtone: waiting for \(TerminalText.visible(name)) \(goal): \(words)\n"
  }

  var isComplete: Bool { told.count >= Self.limit }
}
