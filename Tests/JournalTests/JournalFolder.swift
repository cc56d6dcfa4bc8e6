// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Foundation
import Testing

@testable import DialtoneJournal

/// A folder for a journal, which goes with this object.
final class JournalFolder: Sendable {
  let path: String
  var directory: JournalDirectory { JournalDirectory(path) }

  init() throws {
    path = "/tmp/dialtone-journal-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit {
    // Nobody is there to be told.
    _ = try? FileManager.default.removeItem(atPath: path)
  }

  func names() throws -> [String] { try directory.files().map(\.name) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

  /// The bytes of all files, in their order.
  func bytes() throws -> [UInt8] {
    try directory.files().flatMap { try SystemFile.bytes(at: directory.path(of: $0), limit: 1 << 26) }
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  func events() throws -> (events: [JournalEvent], skipped: Int) {
    var reader = JournalReader(directory)
    var events: [JournalEvent] = []
    try reader.read { events.append($0) }
    return (events, reader.skippedLines)
  }
}

/// A moment this many seconds after 2026-11-01T00:00:00Z, with clocks that began a thousand seconds before.
func moment(_ seconds: Double, slept: Double = 0, step: Double = 0) -> Moment {
  let microseconds = Int64(seconds * 1_000_000)
  return Moment(
    wall: 1_793_491_200_000_000 + microseconds + Int64(step * 1_000_000), clock: 1_000_000_000 + microseconds,
    slept: Int64(slept * 1_000_000))
}

extension Outage {
  /// One that was seen from its beginning to its end.
  init(_ outage: OpenOutage, at end: Moment, _ ending: Ending) {
    let began = outage.began.clock
    self.init(outage, at: end, ending, seen: [began..<max(began, end.clock)])
  }

  /// One that was seen in these spans, in seconds.
  init(_ outage: OpenOutage, at end: Moment, _ ending: Ending, seenIn spans: [Range<Double>]) {
    self.init(outage, at: end, ending, seen: spans.map { moment($0.lowerBound).clock..<moment($0.upperBound).clock })
  }
}

extension OutageLog {
  /// What events tell. Without `now` nobody is there any more.
  static func findings(_ events: [JournalEvent], now: Moment? = nil) -> [Finding] {
    var findings: [Finding] = []
    var log = OutageLog { findings.append($0) }
    for event in events { log.take(event) }
    log.finish(now: now)
    return findings
  }

  static func outages(_ events: [JournalEvent], now: Moment? = nil) -> [Outage] {
    findings(events, now: now).compactMap { if case .outage(let outage) = $0 { outage } else { nil } }
  }
}
