// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A journal as OpenMetrics with time stamps, for `promtool tsdb create-blocks-from openmetrics`: what a scrape each
/// minute would have got, and a sample at each change. Where nobody watched, there is none.
package struct OpenMetrics {
  /// Prometheus takes a sample for the present one for five minutes.
  private static let interval = 60 * WallTime.second

  private let since: Int64
  private let until: Int64
  private var spans: [String: [(isUp: Bool, from: Int64, to: Int64)]] = [:]
  private var causes: [String: [(cause: String, from: Int64, to: Int64)]] = [:]

  package init(since: Int64, until: Int64) {
    self.since = since
    self.until = until
  }

  package mutating func take(_ finding: OutageLog.Finding) {
    switch finding {
    case .watched(let target, let state, let from, let to):
      if state != .unknown { spans[target, default: []].append((state == .up, max(from, since), min(to, until))) }
    case .outage(let outage):
      let cause = outage.causeIdentifier ?? "unknown"
      causes[outage.target, default: []].append((cause, max(outage.began, since), min(outage.ended, until)))
    case .path, .asleep: break
    }
  }

  /// Gives the lines.
  package func write<Failure: Error>(_ line: (String) throws(Failure) -> Void) throws(Failure) {
    try line("# HELP dialtone_reachable Whether packets for the target could leave.")
    try line("# TYPE dialtone_reachable gauge")
    for (target, spans) in spans.sorted(by: { $0.key < $1.key }) {
      var last = Int64.min
      for span in spans {
        try samples(span.from, span.to, after: &last) { time throws(Failure) in
          try line("dialtone_reachable{target=\"\(Self.escaped(target))\"} \(span.isUp ? 1 : 0) \(Self.seconds(time))")
        }
      }
    }
    try line("# HELP dialtone_outage_cause Why packets for the target could not leave.")
    try line("# TYPE dialtone_outage_cause info")
    for (target, causes) in causes.sorted(by: { $0.key < $1.key }) {
      // The samples of a series stand together, and in their order.
      for cause in Set(causes.map(\.cause)).sorted() {
        var last = Int64.min
        let labels = "target=\"\(Self.escaped(target))\",cause=\"\(Self.escaped(cause))\""
        for span in causes where span.cause == cause {
          try samples(span.from, span.to, after: &last) { time throws(Failure) in
            try line("dialtone_outage_cause_info{\(labels)} 1 \(Self.seconds(time))")
          }
        }
      }
    }
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

  private static func escaped(_ label: String) -> String {
    label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
