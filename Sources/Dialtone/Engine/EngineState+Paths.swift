// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Path monitors. A path is made of several queries for each interface, so it is asked as a whole whenever anything changed that
/// could touch it: any link or address, and the routes to where its queries go.
///
/// Mostly that takes as long as a few targets take, and is done with them. Where there are interfaces by the hundred it takes
/// milliseconds, and the events that have it done come by the hundred, too. Then the targets' receivers are told first, and paths
/// are asked so seldom that they take a small part of the engine's time (``EngineState/askManyPaths(realtime:now:outcome:)``).
extension EngineState {
  /// What is kept for path monitors.
  struct Paths {
    fileprivate(set) var records: [ObjectIdentifier: PathRecord] = [:]
    /// What has the routes that paths depend on announced.
    fileprivate var watched: Set<PathQuery> = []
    /// Whether they are to be asked.
    var areStale = false
    /// How long to wait after they were asked; zero where that takes few queries.
    fileprivate var spacing: Int64 = 0
    /// Not to be asked before.
    fileprivate var notBefore = Int64.min
    /// Whether they gave way to receivers of targets in the turn before.
    fileprivate var gaveWay = false
    var hasTimer = false

    /// Whether they are asked together with the targets.
    var isDueWithTargets: Bool { areStale && spacing == 0 }
  }

  /// So many queries take no longer than is negligible.
  private static let fewQueries = 64
  /// For each query so many nanoseconds have to pass before paths are asked again: some ten times what it takes.
  private static let spacingOfQuery: Int64 = 100_000
  private static let longestSpacing: Int64 = 1_000_000_000

  func addPath(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration, _ epoch: Epoch) {
    paths.records[ObjectIdentifier(storage)] = PathRecord(storage, configuration, epoch)
    paths.areStale = true
    if paths.watched.isEmpty { watchRoutes(to: []) }
  }

  func removePath(_ storage: ValueStorage<NetworkPath>) {
    paths.records[ObjectIdentifier(storage)] = nil
    if !paths.records.isEmpty { return }
    unwatch(paths.watched)
    paths = Paths()
  }

  func isCurrent(_ record: PathRecord) -> Bool { paths.records[ObjectIdentifier(record.storage)] === record }

  /// Has changes of the routes announced that lead to the Internet and to these name servers.
  private func watchRoutes(to servers: [IPAddress]) {
    let internet = [IPAddress.Family.ipv4, .ipv6].map(TargetRecord.rootServer)
    let wanted = Set((internet + servers).map { PathQuery(.address($0)) })
    for query in wanted.subtracting(paths.watched) {
      node(of: query).isOfPaths = true
      // What changed before it is announced was perhaps not seen.
      paths.areStale = true
    }
    unwatch(paths.watched.subtracting(wanted))
    paths.watched = wanted
  }

  private func unwatch(_ queries: Set<PathQuery>) {
    for query in queries {
      let node = node(of: query)
      node.isOfPaths = false
      removeIfUnused(node)
    }
  }

  /// Marks what the change may have touched beside the nodes: what supports DNS, or a link without a route.
  func markPaths(_ change: NetworkChange) {
    if change.touchesEverything || change.touchesNames || change.touchesNameServers {
      paths.areStale = !paths.records.isEmpty
    } else if change.touchesUnreachable, !paths.areStale {
      // A link that carries nothing is on no path; it may be the reason why there is none.
      paths.areStale = paths.records.values.contains { !$0.isSatisfied }
    }
  }

  /// Asks once for all monitors whose interfaces are the same.
  func askPaths(now: Int64) {
    paths.areStale = false
    var answers: [PathConfiguration: PathAnswer] = [:]
    for record in paths.records.values {
      let answer = answers[record.question] ?? source.path(record.question)
      answers[record.question] = answer
      if !answer.isPending { record.answer = answer.path }
    }
    let queryCount = answers.values.reduce(0) { $0 + $1.queryCount }
    paths.spacing =
      queryCount <= Self.fewQueries ? 0 : min(Int64(queryCount) * Self.spacingOfQuery, Self.longestSpacing)
    paths.notBefore = now.addingClamped(paths.spacing)
    watchRoutes(to: answers.values.flatMap(\.nameServers))
  }

  /// Asks where that takes many queries: after the receivers of targets have been told, and not too soon after the last time.
  func askManyPaths(realtime: Int64, now: Int64, outcome: inout Outcome) {
    if !paths.areStale || paths.spacing == 0 { return }
    if now < paths.notBefore { return setPathTimer() }
    if !outcome.touched.isEmpty, !paths.gaveWay {
      paths.gaveWay = true
      outcome.isUnfinished = true
      return
    }
    paths.gaveWay = false
    askPaths(now: now)
    // What was answered while something changed may be true of no moment: it is asked once more.
    if readEvents(), paths.areStale { askPaths(now: now) }
    outcome.isUnfinished = outcome.isUnfinished || readEvents() || hasStaleNodes
    if paths.areStale { setPathTimer() }
    decidePaths(realtime: realtime, now: now, outcome: &outcome)
  }

  private func setPathTimer() {
    if paths.hasTimer { return }
    paths.hasTimer = true
    timers.add(.askPaths, at: paths.notBefore)
  }

  func decidePaths(realtime: Int64, now: Int64, outcome: inout Outcome) {
    for record in paths.records.values {
      guard var new = record.answer else { continue }
      record.answer = nil
      record.isSatisfied = new.status == .satisfied
      let storage = record.storage
      let old = storage.current
      new.realtime = new == old ? old.realtime : realtime
      switch record.machine.decided(new, after: old, now: now) {
      case .ignore: break
      case .store: _ = storage.store(new, of: record.epoch)
      case .deliver:
        // Where it is of an earlier epoch, the record of the present one is on its way.
        if !storage.store(new, of: record.epoch) { continue }
        storage.release(record.epoch)
        outcome.touched.append(storage)
      case .holdBack(let until):
        if !storage.store(new, of: record.epoch, holdingBack: true) { continue }
        // A receiver that has had nothing yet need not wait.
        outcome.touched.append(storage)
        if !record.hasSettlingTimer {
          record.hasSettlingTimer = true
          timers.add(.settlePath(record), at: until)
        }
      }
    }
  }

  func settle(_ record: PathRecord, now: Int64, outcome: inout Outcome) {
    record.hasSettlingTimer = false
    switch record.machine.settle(now: now) {
    case .deliver:
      record.storage.release(record.epoch)
      outcome.touched.append(record.storage)
    case .holdBack(let until):
      record.hasSettlingTimer = true
      timers.add(.settlePath(record), at: until)
    case .ignore, .store: break
    }
  }
}
