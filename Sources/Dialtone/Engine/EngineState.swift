// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// All that the engine knows: which targets there are, what they ask, what was answered. Used under the engine's lock.
///
/// Invariants: of two targets that ask the same, one query is asked; after a turn every query that the events read could have
/// touched has been asked since they were read, and every state that depends on it is stored; nothing is decided while
/// events wait to be read, for as long as that ends within ``roundLimit`` rounds.
final class EngineState {
  /// What a turn leaves to do outside the lock.
  struct Outcome {
    /// Monitors whose receivers may have something new.
    var touched: [any StateSource] = []
    /// Timers whose time has come.
    var fired: [EngineTimer] = []
    /// Whether events may be left, and another turn is due at once.
    var isUnfinished = false
  }

  enum TimerEvent {
    case call(EngineTimer)
    case settle(TargetRecord)
    case settlePath(PathRecord)
    case askPaths
    case lookUp(NameRecord)
    case overdue(NameRecord)
  }

  /// How often events are read and queries asked again before states are told all the same: where events never end.
  static let roundLimit = 8
  /// So many queries are asked at a time.
  private static let batchSize = 256
  /// For so many addresses it pays to name them to the source.
  private static let announcementLimit = 16

  let source: any NetworkSource
  /// Starts to look a name up; the answer comes as a command with the same number.
  let lookUp: (NameRecord.Key, _ serial: UInt64) -> NameLookupPool.Ticket
  var records: [ObjectIdentifier: TargetRecord] = [:]
  private var nodes: Set<DestinationNode> = []
  private var index = DestinationIndex()
  var names: [NameRecord.Key: NameRecord] = [:]
  var paths = Paths()
  var timers = TimerQueue<TimerEvent>()
  private var forgottenTimers = 0

  private var staleNodes: [DestinationNode] = []
  var staleRecords: [TargetRecord] = []
  var areNamesStale = false
  var lookupSerial: UInt64 = 0
  private var areAnnouncementsStale = true
  private var areNamesAnnounced = false

  init(
    source: any NetworkSource,
    lookUp: @escaping (NameRecord.Key, _ serial: UInt64) -> NameLookupPool.Ticket
  ) {
    self.source = source
    self.lookUp = lookUp
  }

  deinit {
    // The last monitor's withdrawal may have come too late to be performed. Records, nodes and names hold each other, and
    // look-ups that wait for a thread have to be withdrawn.
    for record in Array(records.values) { remove(record) }
  }

  /// What the timer was last set to.
  var armedDeadline: Int64?
  /// Which of the source's sets of descriptors is awaited; `nil` where that failed.
  var registeredRevision: Int?

  /// What makes another engine watch the same and keep the same time.
  var commands: [EngineCommand] {
    let watched = records.values.map { EngineCommand.add($0.storage, $0.target, $0.epoch) }
    let paths = paths.records.values.map { EngineCommand.addPath($0.storage, $0.configuration, $0.epoch) }
    let calls = timers.events.compactMap { event -> EngineCommand? in
      if case .call(let timer) = event { .schedule(timer) } else { nil }
    }
    return watched + paths + calls
  }

  /// When the next turn is due, whatever happens.
  var deadline: Int64? {
    guard let timer = timers.next, let poll = source.nextPoll else { return timers.next ?? source.nextPoll }
    return min(timer, poll)
  }

  // MARK: A turn

  /// Does what `commands` say, reads what is ready, asks what may have changed, and stores the states.
  func turn(_ commands: [EngineCommand], ready: UInt64, now: Int64) -> Outcome {
    var outcome = Outcome()
    // When the events are read; every state that comes of them carries this time.
    let realtime = EngineClock.realtime()
    for command in commands { perform(command, now: now) }
    var change = NetworkChange()
    while let event = timers.popDue(now) { fire(event, now: now, outcome: &outcome) }
    if let poll = source.nextPoll, poll <= now { source.poll(into: &change) }

    var rounds = 0
    repeat {
      source.drain(ready: ready, into: &change)
      mark(change)
      outcome.isUnfinished = change.isUnfinished
      change = NetworkChange()
      if staleNodes.isEmpty, !paths.isDueWithTargets { break }
      announce()
      ask()
      if paths.isDueWithTargets { askPaths(now: now) }
      settleTranslations(now: now)
      rounds += 1
    } while rounds < Self.roundLimit
    if rounds == Self.roundLimit { outcome.isUnfinished = true }

    decidePaths(realtime: realtime, now: now, outcome: &outcome)
    decide(realtime: realtime, now: now, outcome: &outcome)
    askManyPaths(realtime: realtime, now: now, outcome: &outcome)
    startLookups(now: now)
    announce()
    return outcome
  }

  private func perform(_ command: EngineCommand, now: Int64) {
    switch command {
    case .add(let storage, let target, let epoch):
      add(TargetRecord(storage, target, epoch), now: now)
    case .remove(let storage):
      if let record = records.removeValue(forKey: ObjectIdentifier(storage)) { remove(record) }
    case .addPath(let storage, let configuration, let epoch):
      addPath(storage, configuration, epoch)
    case .removePath(let storage):
      removePath(storage)
    case .schedule(let timer):
      timers.add(.call(timer), at: timer.deadline)
    case .forgetTimer:
      forgetTimers(1)
    case .lookupEnded(let key, let serial, let result):
      finishLookup(key, serial, result, now: now)
    }
  }

  private func fire(_ event: TimerEvent, now: Int64, outcome: inout Outcome) {
    switch event {
    case .call(let timer):
      outcome.fired.append(timer)
    case .settle(let record):
      record.hasSettlingTimer = false
      switch record.machine.settle(now: now) {
      case .deliver:
        record.storage.release(record.epoch)
        outcome.touched.append(record.storage)
      case .holdBack(let until):
        record.hasSettlingTimer = true
        timers.add(.settle(record), at: until)
      case .ignore, .store: break
      }
    case .settlePath(let record):
      settle(record, now: now, outcome: &outcome)
    case .askPaths:
      paths.hasTimer = false
    case .lookUp(let name):
      if let refresh = name.refresh, refresh <= now {
        name.refresh = nil
        markStale(name)
      }
    case .overdue(let name):
      if name.becomeOverdue() { name.users.forEach(touch) }
    }
  }

  /// So many timers are of no use any more. They are taken out when they are the larger part, so that it costs little for each.
  func forgetTimers(_ count: Int) {
    forgottenTimers += count
    if forgottenTimers <= 64 || forgottenTimers * 2 <= timers.count { return }
    forgottenTimers = 0
    timers.removeAll { event in
      switch event {
      case .call(let timer): timer.isCancelled
      case .settle(let record): records[ObjectIdentifier(record.storage)] !== record
      case .settlePath(let record): !isCurrent(record)
      case .askPaths: false
      case .lookUp(let name), .overdue(let name): names[name.key] !== name
      }
    }
  }

  // MARK: Targets and their queries

  private func add(_ record: TargetRecord, now: Int64) {
    records[ObjectIdentifier(record.storage)] = record
    record.nodes = attach(record.initialQueries, to: record)
    switch record.target.storage {
    case .host(let host):
      record.pathNodes = attach(record.internetQueries, to: record)
      attachName(NameRecord.Key(host: host.folded, family: record.configuration.family), to: record, now: now)
    case .address(let address) where record.usesTranslation(address):
      record.pathNodes = attach(
        record.internetQueries.filter { $0.address?.family == .ipv6 }, to: record)
    case .internet, .localNetwork, .address, .pair: break
    }
    touch(record)
  }

  private func remove(_ record: TargetRecord) {
    detach(record.nodes + record.pathNodes + record.translatedNodes, from: record)
    detachName(from: record)
  }

  func attach(_ queries: [PathQuery], to record: TargetRecord) -> [DestinationNode] {
    queries.map { query in
      let node = node(of: query)
      node.add(record)
      return node
    }
  }

  /// The query's node, made where there is none; the caller gives it a user.
  func node(of query: PathQuery) -> DestinationNode {
    let (isNew, node) = nodes.insert(DestinationNode(query))
    if isNew {
      if let address = query.address { index.add(node, at: address.bits) }
      areAnnouncementsStale = true
      touch(node)
    }
    return node
  }

  func detach(_ released: [DestinationNode], from record: TargetRecord) {
    for node in released {
      node.remove(record)
      removeIfUnused(node)
    }
  }

  func removeIfUnused(_ node: DestinationNode) {
    if node.hasUsers { return }
    nodes.remove(node)
    if let address = node.query.address { index.remove(node, at: address.bits) }
    areAnnouncementsStale = true
  }

  private func touch(_ node: DestinationNode) {
    if node.isOfPaths { paths.areStale = true }
    if node.isStale { return }
    node.isStale = true
    staleNodes.append(node)
  }

  func touch(_ record: TargetRecord) {
    if record.isStale { return }
    record.isStale = true
    staleRecords.append(record)
  }

  private func mark(_ change: NetworkChange) {
    if change.touchesNames { names.values.forEach(markStale) }
    markPaths(change)
    if change.touchesEverything {
      nodes.forEach(touch)
    } else {
      for prefix in change.prefixes { index.forEach(in: prefix, touch) }
      if change.touchesUnreachable {
        for node in nodes where node.answer?.status != .reachable { touch(node) }
      }
    }
  }

  /// Asks what is stale, in batches, and marks the targets whose answer is another.
  private func ask() {
    let stale = staleNodes.filter { $0.hasUsers }
    for node in staleNodes { node.isStale = false }
    staleNodes.removeAll(keepingCapacity: true)
    var start = 0
    while start < stale.count {
      let batch = stale[start..<min(stale.count, start + Self.batchSize)]
      source.answer(batch.map(\.query)) { position, answer in
        let node = batch[start + position]
        if let old = node.answer, old.isIdentical(to: answer) { return }
        node.answer = answer
        node.forEachUser { user in
          touch(user)
          // The path that the user's name is looked up over has changed.
          if let name = user.name, user.pathNodes.contains(where: { $0 === node }) { markStale(name) }
        }
      }
      start += Self.batchSize
    }
  }

  /// Asks these, which are nobody's but the caller's, at once.
  func ask(_ nodes: [DestinationNode]) {
    source.answer(nodes.map(\.query)) { position, answer in nodes[position].answer = answer }
  }

  /// Reads what waits, and marks what it touches for the next turn. Answers whether there was anything.
  func readEvents() -> Bool {
    var change = NetworkChange()
    source.drain(ready: .max, into: &change)
    mark(change)
    return !change.isEmpty
  }

  /// Whether queries of targets are to be asked.
  var hasStaleNodes: Bool { !staleNodes.isEmpty }

  /// The name's record, if a monitor has asked for it.
  func name(_ key: NameRecord.Key) -> NameRecord? { names[key] }

  private func announce() {
    if areAnnouncementsStale {
      areAnnouncementsStale = false
      source.announceRoutes(to: index.count <= Self.announcementLimit ? index.addresses : nil)
    }
    let isWanted = !names.isEmpty || !paths.records.isEmpty
    if areNamesAnnounced != isWanted {
      areNamesAnnounced = isWanted
      source.announceNameConfiguration(areNamesAnnounced)
    }
  }

  private func decide(realtime: Int64, now: Int64, outcome: inout Outcome) {
    for record in staleRecords {
      record.isStale = false
      guard records[ObjectIdentifier(record.storage)] === record, var new = record.decide() else { continue }
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
          timers.add(.settle(record), at: until)
        }
      }
    }
    staleRecords.removeAll(keepingCapacity: true)
  }
}
