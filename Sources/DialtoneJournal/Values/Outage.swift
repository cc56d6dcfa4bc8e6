// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An outage as the journal tells it, in microseconds.
package struct Outage: Equatable, Sendable {
  package enum Ending: Equatable, Sendable {
    /// The target came back, in words.
    case over(String)
    /// It goes on.
    case open
    /// Nobody watched any more.
    case cut
  }

  package var target: String
  /// By the wall clock as it was at the end.
  package var began: Int64
  package var ended: Int64
  /// Awake and watched.
  package var lasted: Int64
  package var slept: Int64
  package var unwatched: Int64
  package var reason: String?
  package var words: String
  package var wasFirst: Bool
  package var layer: OutageLayer
  package var explanation: Explanation?
  package var unexplained: OpenOutage.Unexplained?
  package var ending: Ending

  package init(_ outage: OpenOutage, at end: Moment, _ ending: Ending) {
    target = outage.target
    began = end.wall(of: outage.began)
    ended = end.wall
    slept = max(0, end.slept - outage.began.slept)
    unwatched = outage.unwatched
    lasted = max(0, end.awake(since: outage.began) - outage.unwatched)
    reason = outage.reason
    words = outage.words
    wasFirst = outage.wasFirst
    layer = outage.layer
    explanation = outage.explanation
    unexplained = outage.unexplained
    self.ending = ending
  }

  /// Outages that begin within this time may have one cause.
  package static let together = 10 * WallTime.second

  /// The cause for certain or likely, or why none is known.
  package var confidenceWords: String? {
    if let explanation { return explanation.cause.map { "\($0), \(explanation.confidence)" } ?? "no cause found" }
    switch unexplained {
    case .over: return "over before its cause was found"
    case .limit: return "not explained, since others were: at most one a minute"
    case nil: return nil
    }
  }

  /// The cause in words, as far as it is known.
  package var causeWords: String { explanation.map(\.summary) ?? words }

  /// The identifier of the cause, or of the reason; `nil` if neither is known.
  package var causeIdentifier: String? { explanation?.cause ?? reason }

  /// How much of it lies in a span of the wall clock. Sleep and what nobody watched are spread evenly.
  package func lasted(from start: Int64, to end: Int64) -> Int64 {
    let (first, last) = (max(began, start), min(ended, end))
    if first == began, last == ended { return lasted }
    if first >= last || ended <= began { return 0 }
    return Int64(Double(lasted) * Double(last - first) / Double(ended - began))
  }
}
