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

  var exitStatus: ExitStatus {
    switch self {
    case .holds: .holds
    case .fails: .fails
    case .unknown: .undetermined
    }
  }
}

/// Whether something holds of each target. It is kept as that changes, so that a question about all of them takes no
/// longer with more.
struct Tally {
  private var values: [TruthValue]
  private var holding = 0
  private var failing = 0

  /// Nothing is known of any of them yet.
  init(count: Int) { values = Array(repeating: .unknown, count: count) }

  subscript(position: Int) -> TruthValue {
    get { values[position] }
    set {
      count(values[position], by: -1)
      count(newValue, by: 1)
      values[position] = newValue
    }
  }

  var all: TruthValue { failing > 0 ? .fails : holding < values.count ? .unknown : .holds }

  var any: TruthValue { holding > 0 ? .holds : failing < values.count ? .unknown : .fails }

  /// The positions of the targets of which it is not known to hold.
  var open: [Int] { values.indices.filter { values[$0] != .holds } }

  /// The positions of the targets of which nothing is known.
  var unknown: [Int] { values.indices.filter { values[$0] == .unknown } }

  var unknownCount: Int { values.count - holding - failing }

  private mutating func count(_ value: TruthValue, by step: Int) {
    switch value {
    case .holds: holding += step
    case .fails: failing += step
    case .unknown: break
    }
  }
}
