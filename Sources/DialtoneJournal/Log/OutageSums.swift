// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Sums over a span of the wall clock: how long each target was up and down, and how much of that lies in which layer.
/// Pure. Times are in microseconds.
package struct OutageSums: Equatable, Sendable {
  package struct Target: Equatable, Sendable {
    package var up: Int64 = 0
    package var down: Int64 = 0
    package var outages = 0
    package var longest: Int64 = 0

    /// From 0 to 1; `nil` if nobody watched.
    package var availability: Double? { up + down == 0 ? nil : Double(up) / Double(up + down) }
  }

  package struct Layer: Equatable, Sendable {
    package var outages = 0
    package var down: Int64 = 0
  }

  private struct Part: Equatable, Sendable {
    let target: String
    let began: Int64
    /// What was seen of it within the span.
    let seen: [Range<Int64>]
  }

  package let since: Int64
  package let until: Int64
  package private(set) var targets: [String: Target] = [:]
  package private(set) var layers: [OutageLayer: Layer] = [:]
  private var parts: [OutageLayer: [Part]] = [:]

  package init(since: Int64, until: Int64) {
    self.since = since
    self.until = until
  }

  package mutating func take(_ finding: OutageLog.Finding) {
    switch finding {
    case .watched(let target, let state, let from, let to):
      let span = min(to, until) - max(from, since)
      // What is down is counted by outages, so that both sums agree.
      if state != .down, span > 0 { targets[target, default: Target()].up += state == .up ? span : 0 }
    case .outage(let outage) where overlaps(outage):
      let seen = outage.seen.map { $0.clamped(to: since..<until) }
      let lasted = seen.reduce(0) { $0 + Int64($1.count) }
      var target = targets[outage.target, default: Target()]
      target.down += lasted
      target.outages += 1
      target.longest = max(target.longest, lasted)
      targets[outage.target] = target
      layers[outage.layer, default: Layer()].outages += 1
      layers[outage.layer, default: Layer()].down += lasted
      parts[outage.layer, default: []].append(Part(target: outage.target, began: outage.began, seen: seen))
    case .outage, .path, .asleep: break
    }
  }

  /// What has happened there, and how long some target was down by it. A pulled cable is one event, with all targets
  /// that go down with it; a target that goes down once more is another one.
  package func events(in layer: OutageLayer) -> (count: Int, lasted: Int64) {
    let parts = parts[layer] ?? []
    var count = 0
    var (start, targets) = (Int64(0), Set<String>())
    for part in parts.sorted(by: { $0.began < $1.began }) {
      if count == 0 || part.began - start > Outage.together || targets.contains(part.target) {
        count += 1
        (start, targets) = (part.began, [])
      }
      targets.insert(part.target)
    }
    // What several have lost at the same time counts once.
    return (count, RangeSet(parts.flatMap(\.seen)).ranges.reduce(0) { $0 + Int64($1.count) })
  }

  package func overlaps(_ outage: Outage) -> Bool { outage.ended >= since && outage.began <= until }
}
