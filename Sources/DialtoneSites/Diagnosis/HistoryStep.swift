// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The rule about what changed lately. Pure.
enum HistoryStep {
  private static let limit: Int64 = 60

  /// Returns the step about states that were seen; `nil` if none was given.
  static func step(_ states: [Reachability], now: UTCTimestamp) -> DiagnosisStep? {
    if states.isEmpty { return nil }
    var changes: [String] = []
    for state in states {
      guard let time = state.timestamp else { continue }
      let age = (now.durationSince1970 - time.durationSince1970).secondsClamped
      if (0...limit).contains(age) { changes.append("\(age) s ago: \(state)") }
    }
    let facts = [DiagnosisEvidence("changes", list: changes)]
    guard let last = changes.last else {
      return DiagnosisStep(.history, .ok, "nothing has changed in the last minute", evidence: facts)
    }
    return DiagnosisStep(.history, .ok, last, evidence: facts)
  }
}
