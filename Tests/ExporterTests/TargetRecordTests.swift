// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneExporter

/// What is told of a target that is watched, as Exporter.md has it: the samples of each metric, as text.
struct TargetRecordTests {
  private var record = TargetRecord(at: 0)

  /// Takes a state at this second.
  private mutating func take(_ status: String, _ isUp: Bool?, _ cause: String = "x", at second: Int64) -> Bool {
    record.take(
      status, isUp: isUp, cause: cause, at: second * 1_000_000_000, UTCTimestamp(durationSince1970: .seconds(second)))
  }

  /// What is told at this second, without the labels' target.
  private func samples(at second: Int64) -> [String] {
    let families = TargetRecord.families(of: [("a", record)], at: second * 1_000_000_000)
    return Exposition.openMetrics.text(of: families).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
      String($0).replacing("target=\"a\",", with: "").replacing("{target=\"a\"}", with: "").replacing(
        "dialtone_", with: "")
    }
  }

  @Test mutating func whatIsNotKnownIsNotTold() {
    #expect(!take("undetermined", nil, at: 3))
    #expect(samples(at: 5) == ["state_changes_total 0", "state_seconds_total{status=\"undetermined\"} 5"])
  }

  @Test mutating func changesAreCountedAndTimed() {
    // What is found out first is no change.
    #expect(!take("reachable", true, at: 2))
    #expect(
      samples(at: 5) == [
        "last_change_timestamp_seconds 2", "reachable 1", "state_changes_total 0",
        "state_seconds_total{status=\"reachable\"} 3", "state_seconds_total{status=\"undetermined\"} 2",
      ])
    // The same again, over another interface.
    #expect(!take("reachable", true, at: 6))
    #expect(take("unreachable", false, "no-route", at: 7))
    #expect(
      samples(at: 7) == [
        "last_change_timestamp_seconds 7", "outage_cause_info{cause=\"no-route\"} 1", "reachable 0",
        "state_changes_total 1", "state_seconds_total{status=\"reachable\"} 5",
        "state_seconds_total{status=\"undetermined\"} 2", "state_seconds_total{status=\"unreachable\"} 0",
      ])
    // Not known any more, and known again: two changes.
    #expect(!take("undetermined", nil, at: 10))
    #expect(!take("reachable", true, at: 11))
    #expect(
      samples(at: 14) == [
        "last_change_timestamp_seconds 11", "reachable 1", "state_changes_total 3",
        "state_seconds_total{status=\"reachable\"} 8", "state_seconds_total{status=\"undetermined\"} 3",
        "state_seconds_total{status=\"unreachable\"} 3",
      ])
  }

  private func cause() -> String? { samples(at: 100).first { $0.hasPrefix("outage_cause") } }

  /// The reason, and then the cause that is found: a later reason of the same outage does not take its place.
  @Test mutating func anOutageHasOneCause() {
    #expect(take("unreachable", false, "no-route", at: 1))
    #expect(cause() == "outage_cause_info{cause=\"no-route\"} 1")
    record.take(diagnosed: "gateway-silent")
    #expect(cause() == "outage_cause_info{cause=\"gateway-silent\"} 1")
    #expect(!take("requires-connection", false, "dormant", at: 2))
    #expect(cause() == "outage_cause_info{cause=\"gateway-silent\"} 1")
    #expect(!take("reachable", true, at: 3))
    #expect(cause() == nil)
    // Too late.
    record.take(diagnosed: "gateway-silent")
    #expect(cause() == nil)
    #expect(take("unreachable", false, "no-carrier", at: 4))
    #expect(cause() == "outage_cause_info{cause=\"no-carrier\"} 1")
  }
}
