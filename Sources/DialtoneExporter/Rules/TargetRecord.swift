// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// What is told of one target that is watched: its states, and for how long it was in each. Pure.
package struct TargetRecord: Sendable {
  private(set) var status: String
  /// Whether it is reachable, or available; `nil` as long as that is not known.
  private(set) var isUp: Bool?
  package private(set) var cause: String?
  private var since: Int64
  private var seconds: [String: Double] = [:]
  private var changes = 0
  private var lastChange: UTCTimestamp?

  /// Nothing is known yet, at this uptime in nanoseconds.
  package init(at uptime: Int64) {
    status = "undetermined"
    since = uptime
  }

  /// Takes in a state. Returns whether an outage has begun.
  package mutating func take(
    _ status: String, isUp: Bool?, cause: String?, at uptime: Int64, _ time: UTCTimestamp
  ) -> Bool {
    let begins = isUp == false && self.isUp != false
    if status != self.status {
      seconds[self.status, default: 0] += Double(uptime - since) * 1e-9
      since = uptime
      // What is found out first is no change.
      if self.status != "undetermined" || changes > 0 { changes += 1 }
      lastChange = time
      self.status = status
    }
    if isUp != false || begins || self.cause == nil { self.cause = isUp == false ? cause : nil }
    self.isUp = isUp
    return begins
  }

  /// A diagnosis has found the cause of the outage, if there still is one.
  package mutating func take(diagnosed cause: String) { if isUp == false { self.cause = cause } }

  /// What is told of targets, in nanoseconds of uptime.
  static func families(of records: [(name: String, record: TargetRecord)], at uptime: Int64) -> [MetricFamily] {
    var reachable = MetricFamily(
      "dialtone_reachable", "Whether packets for the target can leave, or whether the site answers as expected")
    var changes = MetricFamily("dialtone_state_changes_total", "How often the target's status has changed", .counter)
    var times = MetricFamily("dialtone_state_seconds_total", "For how long the target had each status", .counter)
    var lastChange = MetricFamily(
      "dialtone_last_change_timestamp_seconds", "When the target's status changed last, in unixtime")
    var cause = MetricFamily("dialtone_outage_cause_info", "Why the target is not reachable", .info)
    for (name, record) in records {
      if let isUp = record.isUp { reachable.add(isUp ? 1 : 0, ["target": name]) }
      changes.add(Double(record.changes), ["target": name])
      var seconds = record.seconds
      seconds[record.status, default: 0] += Double(uptime - record.since) * 1e-9
      for (status, value) in seconds.sorted(by: { $0.key < $1.key }) {
        times.add(value, ["target": name, "status": status])
      }
      if let time = record.lastChange { lastChange.add(time.durationSince1970.inSeconds, ["target": name]) }
      if let why = record.cause { cause.add(1, ["target": name, "cause": why]) }
    }
    return [reachable, changes, times, lastChange, cause]
  }
}
