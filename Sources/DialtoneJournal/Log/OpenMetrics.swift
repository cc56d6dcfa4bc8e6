// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A journal as OpenMetrics with time stamps, for `promtool tsdb create-blocks-from openmetrics`: what a scrape each
/// minute would have got, and a sample at each change. Where nobody watched, there is none.
///
/// The samples of a series stand together, and a journal tells of all targets in the order of time. So its spans are
/// kept: they take far less room than its lines.
package struct OpenMetrics {
  /// Prometheus takes a sample for the present one for five minutes.
  private static let interval = 60 * WallTime.second
  private static let heads = [
    [
      "# HELP dialtone_reachable Whether packets for the target could leave.",
      "# TYPE dialtone_reachable gauge",
    ],
    [
      "# HELP dialtone_outage_cause Why packets for the target could not leave.",
      "# TYPE dialtone_outage_cause info",
    ],
  ]

  /// In the order in which they are written.
  private struct Series: Hashable, Comparable {
    var target: String
    /// `nil` for the series that says whether the target was reachable.
    var cause: String?

    var labels: String {
      let target = "target=\"\(escaped(target))\""
      return cause.map { "dialtone_outage_cause_info{\(target),cause=\"\(escaped($0))\"}" }
        ?? "dialtone_reachable{\(target)}"
    }

    static func < (a: Series, b: Series) -> Bool {
      (a.cause == nil ? 0 : 1, a.target, a.cause ?? "") < (b.cause == nil ? 0 : 1, b.target, b.cause ?? "")
    }
  }

  private struct Span {
    var value: Int
    var from: Int64
    var to: Int64
  }

  private let since: Int64
  private let until: Int64
  private var kept: [Series: [Span]] = [:]

  package init(since: Int64, until: Int64) {
    self.since = since
    self.until = until
  }

  package mutating func take(_ finding: OutageLog.Finding) {
    switch finding {
    case .watched(let target, let state, let from, let to) where state != .unknown:
      let span = Span(value: state == .up ? 1 : 0, from: max(from, since), to: min(to, until))
      kept[Series(target: target), default: []].append(span)
    case .outage(let outage):
      let spans = outage.seen.map { Span(value: 1, from: max($0.lowerBound, since), to: min($0.upperBound, until)) }
      kept[Series(target: outage.target, cause: outage.causeIdentifier ?? "unknown"), default: []] += spans
    case .watched, .path, .asleep: break
    }
  }

  package func write<Failure: Error>(_ line: (String) throws(Failure) -> Void) throws(Failure) {
    var heads = Self.heads[...]
    for (series, spans) in kept.sorted(by: { $0.key < $1.key }) {
      while heads.count > (series.cause == nil ? 1 : 0) { for text in heads.removeFirst() { try line(text) } }
      let labels = series.labels
      // A clock that was set back gives times twice.
      let samples = spans.flatMap { span in
        stride(from: span.from, to: span.to, by: Int64.Stride(Self.interval)).map { (time: $0, value: span.value) }
      }
      var last: Int64 = -1
      for (time, value) in samples.sorted(by: { $0.time < $1.time }) {
        // They must grow, and Prometheus has no smaller unit than a millisecond.
        last = max(time / 1_000, last + 1)
        try line("\(labels) \(value) \(last / 1_000).\(UTCTimestamp.padded(last % 1_000, 3))")
      }
    }
    for text in heads.joined() { try line(text) }
    try line("# EOF")
  }
}

private func escaped(_ label: String) -> String {
  // Not by characters: a mark behind a sign makes another character of it.
  label.unicodeScalars.reduce(into: "") { text, scalar in
    switch scalar {
    case "\n": text += "\\n"
    case "\"", "\\": text += "\\\(scalar)"
    default: text.unicodeScalars.append(scalar)
    }
  }
}
