// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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
      let span = Span(value: 1, from: max(outage.began, since), to: min(outage.ended, until))
      kept[Series(target: outage.target, cause: outage.causeIdentifier ?? "unknown"), default: []].append(span)
    case .watched, .path, .asleep: break
    }
  }

  /// Gives the lines.
  package func write<Failure: Error>(_ line: (String) throws(Failure) -> Void) throws(Failure) {
    var heads = Self.heads[...]
    for (series, spans) in kept.sorted(by: { $0.key < $1.key }) {
      while heads.count > (series.cause == nil ? 1 : 0) { for text in heads.removeFirst() { try line(text) } }
      var time = Int64.min
      let labels = series.labels
      for span in spans {
        try samples(span.from, span.to, after: &time) { milliseconds throws(Failure) in
          try line("\(labels) \(span.value) \(Self.seconds(milliseconds))")
        }
      }
    }
    for text in heads.joined() { try line(text) }
    try line("# EOF")
  }

  /// The beginning, each minute, and the end, as milliseconds that grow: Prometheus has no smaller unit.
  private func samples<Failure: Error>(
    _ from: Int64, _ to: Int64, after last: inout Int64, _ sample: (Int64) throws(Failure) -> Void
  ) throws(Failure) {
    var time = from
    while time < to {
      let milliseconds = max(time / 1_000, last == .min ? .min : last + 1)
      if milliseconds * 1_000 < to || time == from {
        try sample(milliseconds)
        last = milliseconds
      }
      time += Self.interval
    }
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    "\(milliseconds / 1_000).\(WallTime.padded(Int(milliseconds % 1_000), 3))"
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
