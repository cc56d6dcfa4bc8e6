// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What `watch` says at its end of each target: how long it was watched, how much of that it was fine, and its outages.
///
/// For any thread: Control-C is taken on one of its own.
final class WatchSummary: Sendable {
  /// How many targets get a line.
  private static let limit = 10

  private let names: [String]
  private let word: String
  private let records: Lock<[WatchRecord]>

  /// `word` is what a target is that is fine: "reachable".
  init(names: [String], word: String) {
    self.names = names
    self.word = word
    records = Lock(Array(repeating: WatchRecord(), count: names.count))
  }

  func note(_ holds: TruthValue, of target: Int, at now: Duration) {
    records.withLock { $0[target].note(holds, at: now) }
  }

  /// A line for each target, up to a limit.
  func lines(at now: Duration) -> [String] {
    let records = records.withLock { $0 }
    let lines = zip(names, records).prefix(Self.limit).map { name, record in
      "\(TerminalText.visible(name)): \(record.words(word, at: now))"
    }
    return names.count > lines.count ? lines + ["… and \(names.count - lines.count) more"] : lines
  }
}

/// What is known of one target. Pure; times are those of one monotonic clock.
struct WatchRecord: Equatable, Sendable {
  private var state = TruthValue.unknown
  private var since = Duration.zero
  /// For how long it was fine, and not, up to `since`.
  private var fine = Duration.zero
  private var lost = Duration.zero
  private(set) var outages = 0
  private var longest = Duration.zero
  private var outageStart: Duration?

  mutating func note(_ holds: TruthValue, at now: Duration) {
    self = at(now)
    if holds == .fails, outageStart == nil {
      outages += 1
      outageStart = now
    } else if holds != .fails {
      outageStart = nil
    }
    state = holds
  }

  /// The same, with the time up to now.
  private func at(_ now: Duration) -> WatchRecord {
    var record = self
    if state == .holds { record.fine += now - since }
    if state == .fails { record.lost += now - since }
    if let outageStart { record.longest = max(longest, now - outageStart) }
    record.since = now
    return record
  }

  /// Such as "reachable 99.8 % of 2 h 5 min; 2 outages, the longest 12 s". The share is rounded down: it is 100 % only
  /// if there was no outage.
  func words(_ word: String, at now: Duration) -> String {
    let record = at(now)
    let known = record.fine + record.lost
    if state == .unknown, known == .zero { return "not known yet" }
    let thousandths = known == .zero ? (outages == 0 ? 1000 : 0) : Int(record.fine / known * 1000)
    let share = thousandths % 10 == 0 ? "\(thousandths / 10)" : "\(thousandths / 10).\(thousandths % 10)"
    let end =
      switch outages {
      case 0: "no outage"
      case 1: "1 outage of \(DurationText.words(record.longest))"
      default: "\(outages) outages, the longest \(DurationText.words(record.longest))"
      }
    return "\(word) \(share) % of \(DurationText.words(known)); \(end)"
  }
}
