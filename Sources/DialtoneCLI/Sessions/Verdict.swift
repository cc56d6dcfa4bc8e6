// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whether something holds, as far as is known (Kleene's three values).
enum Verdict: Equatable, Sendable {
  case holds
  case fails
  case unknown

  init(_ holds: Bool) { self = holds ? .holds : .fails }

  /// One that fails decides; else one that is unknown leaves it open.
  static func all(_ verdicts: some Sequence<Verdict>) -> Verdict {
    var result = Verdict.holds
    for verdict in verdicts where verdict != .holds {
      if verdict == .fails { return .fails }
      result = .unknown
    }
    return result
  }

  /// One that holds decides; else one that is unknown leaves it open.
  static func any(_ verdicts: some Sequence<Verdict>) -> Verdict {
    var result = Verdict.fails
    for verdict in verdicts where verdict != .fails {
      if verdict == .holds { return .holds }
      result = .unknown
    }
    return result
  }

  var exitStatus: ExitStatus {
    switch self {
    case .holds: .holds
    case .fails: .fails
    case .unknown: .undetermined
    }
  }
}
