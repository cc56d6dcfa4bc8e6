// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whether something holds, as far as is known (Kleene's three values).
enum TruthValue: Equatable, Sendable {
  case holds
  case fails
  case unknown

  init(_ holds: Bool) { self = holds ? .holds : .fails }

  /// One that fails decides; otherwise an unknown one leaves it open.
  static func all(_ values: some Sequence<TruthValue>) -> TruthValue {
    var result = TruthValue.holds
    for value in values where value != .holds {
      if value == .fails { return .fails }
      result = .unknown
    }
    return result
  }

  /// One that holds decides; otherwise an unknown one leaves it open.
  static func any(_ values: some Sequence<TruthValue>) -> TruthValue {
    var result = TruthValue.fails
    for value in values where value != .fails {
      if value == .holds { return .holds }
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
