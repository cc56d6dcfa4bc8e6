// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a report shows of a journal, however long that is: sums, bands of a fixed number of cells, days, and the worst
/// outages. Pure.
package struct ReportData: Sendable {
  package static let cellCount = 400
  private static let worstCount = 10

  /// A part of a band: how long what lasted in it, in microseconds.
  package struct Cell: Equatable, Sendable {
    package var up: Int64 = 0
    package var asleep: Int64 = 0
    /// By the position of the layer among all.
    package var down = [Int64](repeating: 0, count: OutageLayer.allCases.count)

    /// The layer of most of what was down; `nil` if nothing was.
    package var layer: OutageLayer? {
      guard let most = down.max(), most > 0 else { return nil }
      return zip(OutageLayer.allCases, down).first { $0.1 == most }?.0
    }
  }

  /// Of all targets together.
  package struct Day: Equatable, Sendable {
    package var up: Int64 = 0
    package var down: Int64 = 0
    package var outages = 0
  }

  package let since: Int64
  package let until: Int64
  package private(set) var sums: OutageSums
  package private(set) var bands: [String: [Cell]] = [:]
  /// How long packets left by which kind of interface, in each cell; "none" if by none.
  package private(set) var paths: [[String: Int64]]
  package private(set) var days: [String: Day] = [:]
  /// When any target was down: what several lose at the same time is lost once.
  private var lost: [Range<Int64>] = []
  /// The longest, the longest first, each with all targets that the same cause took at the same time.
  package private(set) var worst: [(outage: Outage, targets: Set<String>)] = []

  package init(since: Int64, until: Int64) {
    self.since = since
    self.until = max(until, since + 1)
    sums = OutageSums(since: since, until: self.until)
    paths = Array(repeating: [:], count: Self.cellCount)
  }

  package mutating func take(_ finding: OutageLog.Finding) {
    sums.take(finding)
    switch finding {
    case .watched(let target, let state, let from, let to):
      if bands[target] == nil { bands[target] = Self.emptyBand }
      if state == .up {
        spread(from, to) { bands[target]?[$0].up += $1 }
        spreadDays(from, to) { days[$0, default: Day()].up += $1 }
      }
    case .path(let summary, let from, let to):
      let kind = summary.kind ?? "none"
      spread(from, to) { paths[$0][kind, default: 0] += $1 }
    case .asleep(let from, let to):
      for target in bands.keys { spread(from, to) { bands[target]?[$0].asleep += $1 } }
    case .outage(let outage): take(outage)
    }
  }

  private static var emptyBand: [Cell] { Array(repeating: Cell(), count: cellCount) }

  private mutating func take(_ outage: Outage) {
    let layer = OutageLayer.allCases.firstIndex(of: outage.layer) ?? 0
    if bands[outage.target] == nil { bands[outage.target] = Self.emptyBand }
    // An outage of no length is one, too.
    let spans = outage.seen.isEmpty ? [outage.began..<outage.began + 1] : outage.seen
    for span in spans {
      spread(span.lowerBound, span.upperBound) { bands[outage.target]?[$0].down[layer] += $1 }
      spreadDays(span.lowerBound, span.upperBound) { days[$0, default: Day()].down += $1 }
    }
    lost += spans
    days[WallTime.localDay(max(outage.began, since)), default: Day()].outages += 1
    var row = (outage: outage, targets: Set([outage.target]))
    if let index = worst.firstIndex(where: { $0.outage.isTwin(of: outage) }) {
      let twin = worst.remove(at: index)
      row.targets.formUnion(twin.targets)
      if twin.outage.lasted >= outage.lasted { row.outage = twin.outage }
    }
    let position = worst.firstIndex { $0.outage.lasted < row.outage.lasted } ?? worst.count
    worst.insert(row, at: position)
    if worst.count > Self.worstCount { worst.removeLast() }
  }

  /// How long some target was down, by local days.
  package var lostByDay: [String: Int64] {
    var days: [String: Int64] = [:]
    for span in RangeSet(lost).ranges { spreadDays(span.lowerBound, span.upperBound) { days[$0, default: 0] += $1 } }
    return days
  }

  /// Where a time lies in a band, from 0 to 1.
  package func position(of wall: Int64) -> Double { Double(wall - since) / Double(until - since) }

  package func start(of cell: Int) -> Int64 {
    since + Int64(Double(until - since) * Double(cell) / Double(Self.cellCount))
  }

  private func spread(_ from: Int64, _ to: Int64, _ add: (Int, Int64) -> Void) {
    let (from, to) = (max(from, since), min(to, until))
    if from >= to { return }
    var cell = min(Self.cellCount - 1, Int(position(of: from) * Double(Self.cellCount)))
    var start = from
    while start < to, cell < Self.cellCount {
      let end = min(to, self.start(of: cell + 1))
      if end > start { add(cell, end - start) }
      start = max(start, end)
      cell += 1
    }
  }

  /// By local days, which have 23 to 25 hours. Where the clock changes at midnight, no midnight may be there, or two.
  private func spreadDays(_ from: Int64, _ to: Int64, _ add: (String, Int64) -> Void) {
    var start = max(from, since)
    let last = min(to, until)
    while start < last {
      let day = WallTime.localDay(start)
      var end = min(last, start + WallTime.day)
      if WallTime.localDay(end) != day {
        var known = start
        while end - known > 1 {
          let middle = known + (end - known) / 2
          if WallTime.localDay(middle) == day { known = middle } else { end = middle }
        }
      }
      add(day, end - start)
      start = end
    }
  }
}
