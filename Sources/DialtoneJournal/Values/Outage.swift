// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An outage as the journal tells it, in microseconds: what is known of it, and how it ended.
@dynamicMemberLookup
package struct Outage: Equatable, Sendable {
  package enum Ending: Equatable, Sendable {
    /// The target came back, in words.
    case over(String)
    /// It goes on.
    case open
    /// Nobody watched any more.
    case cut
  }

  private let known: OpenOutage
  /// By the wall clock as it was at the end.
  package let began: Int64
  package let ended: Int64
  /// Awake and watched.
  package let lasted: Int64
  package let slept: Int64
  package let ending: Ending
  /// When it was seen to be there, by the wall clock as it was at the end: what a span has of it is a part of these.
  package let seen: [Range<Int64>]

  /// `seen` is by `Moment.clock`.
  package init(_ outage: OpenOutage, at end: Moment, _ ending: Ending, seen: [Range<Int64>]) {
    known = outage
    began = end.wall(of: outage.began)
    ended = end.wall
    slept = max(0, end.slept - outage.began.slept)
    lasted = max(0, end.awake(since: outage.began) - outage.unwatched)
    self.ending = ending
    let shift = end.wall - end.clock
    self.seen = Array(RangeSet(seen.map { $0.lowerBound + shift..<$0.upperBound + shift }).ranges)
  }

  package subscript<Value>(dynamicMember path: KeyPath<OpenOutage, Value>) -> Value { known[keyPath: path] }

  /// Outages that begin within this time may have one cause.
  package static let together = 10 * WallTime.second

  /// The cause for certain or likely, or why none is known.
  package var confidenceWords: String? {
    if let explanation = known.explanation {
      return explanation.cause.map { "\($0), \(explanation.confidence)" } ?? "no cause found"
    }
    switch known.unexplained {
    case .over: return "over before its cause was found"
    case .limit: return "not explained, since others were: at most one a minute"
    case nil: return nil
    }
  }

  /// The cause in words, as far as it is known.
  package var causeWords: String { known.explanation?.summary ?? known.words }

  /// The identifier of the cause, or of the reason; `nil` if neither is known.
  package var causeIdentifier: String? { known.explanation?.cause ?? known.reason }

  /// Whether another one began with it by the same cause.
  package func isTwin(of other: Outage) -> Bool {
    causeIdentifier == other.causeIdentifier && known.layer == other.layer
      && abs(began - other.began) <= WallTime.second
  }

  /// How long it lasted, in words. It may have been over while nobody watched.
  package func lasted(in words: (Int64) -> String) -> String {
    known.unwatched > 0 ? "≤ " + words(lasted + known.unwatched) : words(lasted)
  }
}
