// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whether something holds of each target: kept as that changes, so that to ask about all of them takes no longer with
/// more.
struct Tally {
  private var verdicts: [Verdict]
  private var holding = 0
  private var failing = 0

  /// Nothing is known of any of them yet.
  init(count: Int) { verdicts = Array(repeating: .unknown, count: count) }

  subscript(position: Int) -> Verdict {
    get { verdicts[position] }
    set {
      count(verdicts[position], by: -1)
      count(newValue, by: 1)
      verdicts[position] = newValue
    }
  }

  /// Whether it holds of all of them.
  var all: Verdict { failing > 0 ? .fails : holding < verdicts.count ? .unknown : .holds }

  /// Whether it holds of any of them.
  var any: Verdict { holding > 0 ? .holds : failing < verdicts.count ? .unknown : .fails }

  /// The positions of those of which it is not known to hold.
  var open: [Int] { verdicts.indices.filter { verdicts[$0] != .holds } }

  /// The positions of those of which nothing is known.
  var unknown: [Int] { verdicts.indices.filter { verdicts[$0] == .unknown } }

  var unknownCount: Int { verdicts.count - holding - failing }

  private mutating func count(_ verdict: Verdict, by step: Int) {
    switch verdict {
    case .holds: holding += step
    case .fails: failing += step
    case .unknown: break
    }
  }
}
