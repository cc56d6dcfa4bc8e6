// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A journal as OpenMetrics with time stamps, for `promtool tsdb create-blocks-from openmetrics`: what a scrape each
/// minute would have got, and a sample at each change. Where nobody watched, there is none.
///
/// The samples of a series stand together, and a journal tells of all targets in the order of time. So it is read again
/// for what had no room the first time: memory does not grow with its outages.
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

  /// What one reading keeps: spans from a position on, as many as have room.
  private struct Chunk {
    typealias Position = (series: Series, index: Int)

    let start: Position?
    let limit: Int
    /// What comes from here on has no room.
    var end: Position?
    var kept: [Series: [Span]] = [:]
    private var seen: [Series: Int] = [:]
    private var count = 0

    init(from start: Position?, limit: Int) {
      self.start = start
      self.limit = max(2, limit)
    }

    mutating func take(_ span: Span, of series: Series) {
      let index = seen[series, default: 0]
      seen[series] = index + 1
      if let start, (series, index) < start { return }
      if let end, (series, index) >= end { return }
      kept[series, default: []].append(span)
      count += 1
      if count > limit { makeRoom() }
    }

    /// Drops the last series, or half of it if it is a large part.
    private mutating func makeRoom() {
      guard let last = kept.keys.max(), let spans = kept[last] else { return }
      let rest = spans.count > limit / 2 ? spans.count / 2 : 0
      kept[last] = rest == 0 ? nil : Array(spans.prefix(rest))
      count -= spans.count - rest
      let first = if let start, start.series == last { start.index } else { 0 }
      end = (last, first + rest)
    }
  }

  private let since: Int64
  private let until: Int64
  private let limit: Int

  /// `limit` is how many spans are kept at a time.
  package init(since: Int64, until: Int64, limit: Int = 1 << 18) {
    self.since = since
    self.until = until
    self.limit = limit
  }

  /// Gives the lines. `read` hands over the findings, and is called as often as is needed.
  package func write<Failure: Error>(
    reading read: (_ take: @escaping (OutageLog.Finding) -> Void) throws(Failure) -> Void,
    _ line: (String) throws(Failure) -> Void
  ) throws(Failure) {
    var heads = Self.heads[...]
    var last: (series: Series, time: Int64)?
    var start: Chunk.Position?
    repeat {
      var chunk = Chunk(from: start, limit: limit)
      try read { finding in take(finding, &chunk) }
      for (series, spans) in chunk.kept.sorted(by: { $0.key < $1.key }) {
        while heads.count > (series.cause == nil ? 1 : 0) { for text in heads.removeFirst() { try line(text) } }
        var time = last.flatMap { $0.series == series ? $0.time : nil } ?? .min
        let labels = series.labels
        for span in spans {
          try samples(span.from, span.to, after: &time) { milliseconds throws(Failure) in
            try line("\(labels) \(span.value) \(Self.seconds(milliseconds))")
          }
        }
        last = (series, time)
      }
      start = chunk.end
    } while start != nil
    for text in heads.joined() { try line(text) }
    try line("# EOF")
  }

  private func take(_ finding: OutageLog.Finding, _ chunk: inout Chunk) {
    switch finding {
    case .watched(let target, let state, let from, let to) where state != .unknown:
      let span = Span(value: state == .up ? 1 : 0, from: max(from, since), to: min(to, until))
      chunk.take(span, of: Series(target: target))
    case .outage(let outage):
      let span = Span(value: 1, from: max(outage.began, since), to: min(outage.ended, until))
      chunk.take(span, of: Series(target: outage.target, cause: outage.causeIdentifier ?? "unknown"))
    case .watched, .path, .asleep: break
    }
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
  label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
}
