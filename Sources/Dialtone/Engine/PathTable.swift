// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The path monitors. A path is made of several queries for each interface. It is asked as a whole if anything changed
/// that could touch it: any link or address, or a route to the destinations of its queries.
///
/// Mostly that takes as long as a few targets, and is done with them. With hundreds of interfaces it takes
/// milliseconds, and events come by the hundred, too. Then the targets' receivers are told first, and paths are asked
/// so seldom that they take a small part of the engine's time (``turnOfMany(now:areTargetsTold:)``).
struct PathTable {
  /// What is to be done in a turn for paths that take many queries.
  enum Turn {
    /// Nothing, or not yet.
    case notDue
    /// They are asked in the next turn: receivers of targets come first.
    case afterTargets
    case due
  }

  /// Up to this many queries take no time that matters.
  private static let fewQueries = 64
  /// The nanoseconds that have to pass before paths are asked again, for each query: some ten times what it takes.
  private static let spacingOfQuery: Int64 = 100_000
  private static let longestSpacing: Int64 = 1_000_000_000

  private var records: [ObjectIdentifier: PathRecord] = [:]
  /// The queries that make the source announce the routes that paths depend on.
  private var watched: Set<RouteQuery> = []
  private(set) var isStale = false
  /// How long to wait after they were asked; zero if that takes few queries.
  private var spacing: Int64 = 0
  /// When they may be asked again at the earliest.
  private var notBefore = Int64.min
  /// Whether they gave way to receivers of targets in the turn before.
  private var gaveWay = false

  var isEmpty: Bool { records.isEmpty }

  /// Whether they are asked together with the targets.
  var isDueWithTargets: Bool { isStale && spacing == 0 }

  /// When paths that take many queries may be asked again, if they are stale.
  var deadline: Int64? { isStale && spacing > 0 ? notBefore : nil }

  /// The commands that make another engine watch the same.
  var commands: [EngineCommand] { records.values.map(\.command) }

  func contains(_ record: PathRecord) -> Bool { records[ObjectIdentifier(record.publication.cell)] === record }

  mutating func add(_ record: PathRecord, _ queries: inout QueryTable) {
    records[ObjectIdentifier(record.publication.cell)] = record
    isStale = true
    if watched.isEmpty { watchRoutes(to: [], &queries) }
  }

  /// Returns what was removed, or `nil` if the cell with this identity is none of a path.
  mutating func remove(_ identifier: ObjectIdentifier, _ queries: inout QueryTable) -> PathRecord? {
    guard let record = records.removeValue(forKey: identifier) else { return nil }
    if records.isEmpty {
      for query in watched { queries.detachPaths(from: query) }
      self = PathTable()
    }
    return record
  }

  /// Has the source announce changes of the routes to the Internet and to these name servers.
  private mutating func watchRoutes(to servers: [IPAddress], _ queries: inout QueryTable) {
    let internet = [IPAddress.Family.ipv4, .ipv6].map(IPAddress.rootServer)
    let wanted = Set((internet + servers).map { RouteQuery(.address($0)) })
    for query in wanted.subtracting(watched) {
      queries.attachPaths(to: query)
      // A change before its announcements begin may have been missed.
      isStale = true
    }
    for query in watched.subtracting(wanted) { queries.detachPaths(from: query) }
    watched = wanted
  }

  /// Marks what the change may have touched: routes (`isTouched`), what supports DNS, or a link without a route.
  mutating func mark(_ change: NetworkChange, isTouched: Bool) {
    if isStale || records.isEmpty { return }
    isStale =
      isTouched || change.touchesEverything || change.touchesNames || change.touchesNameServers
      // An idle link is on no path, but it may be the reason why there is none.
      || change.touchesUnreachable && records.values.contains { !$0.isSatisfied }
  }

  /// Asks once for all monitors whose interfaces are the same.
  mutating func ask(_ source: any NetworkSource, _ queries: inout QueryTable, now: Int64) {
    isStale = false
    var answers: [PathConfiguration: PathAnswer] = [:]
    for record in records.values {
      let answer = answers[record.question] ?? source.path(record.question)
      answers[record.question] = answer
      if !answer.isPending { record.answer = answer.path }
    }
    let queryCount = answers.values.reduce(0) { $0 + $1.queryCount }
    spacing = queryCount <= Self.fewQueries ? 0 : min(Int64(queryCount) * Self.spacingOfQuery, Self.longestSpacing)
    notBefore = now.addingClamped(spacing)
    watchRoutes(to: answers.values.flatMap(\.nameServers), &queries)
  }

  /// Returns whether it is the turn of paths that take many queries. They give way to receivers of targets for at most
  /// one turn.
  mutating func turnOfMany(now: Int64, areTargetsTold: Bool) -> Turn {
    if !isStale || spacing == 0 || now < notBefore { return .notDue }
    if areTargetsTold, !gaveWay {
      gaveWay = true
      return .afterTargets
    }
    gaveWay = false
    return .due
  }

  /// Forgets the answers that have not been taken: they were in doubt. All paths are to be asked again.
  mutating func withdrawAnswers() {
    if records.isEmpty { return }
    isStale = true
    for record in records.values { record.answer = nil }
  }

  /// Returns each path that was answered since the last time.
  func takeAnswers() -> [(PathRecord, NetworkPath)] {
    if records.isEmpty { return [] }
    return records.values.compactMap { record in
      guard let path = record.answer else { return nil }
      record.answer = nil
      record.isSatisfied = path.status == .satisfied
      return (record, path)
    }
  }
}

/// What the engine keeps for one path monitor. Belongs to the engine's lock.
final class PathRecord {
  let configuration: PathConfiguration
  /// The configuration to ask for, without what concerns delivery alone.
  let question: PathConfiguration
  let publication: Publication<NetworkPath>
  /// The last answer; `nil` once it is decided.
  var answer: NetworkPath?
  /// Whether the path that was decided last is satisfied.
  var isSatisfied = false

  init(_ configuration: PathConfiguration, _ cell: StateCell<NetworkPath>, _ epoch: Epoch) {
    self.configuration = configuration
    var question = configuration
    question.settling = .zero
    self.question = question
    publication = Publication(cell, epoch, settling: configuration.settling)
  }

  var command: EngineCommand { .watch(.path(configuration, publication.cell), publication.epoch) }
}
