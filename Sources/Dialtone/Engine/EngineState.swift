// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// All that the engine knows: which targets and paths there are, what they ask, what was answered. Used under the
/// engine's lock.
///
/// Invariants:
/// - Two targets that ask the same share one query.
/// - After a turn, every query that an event may have touched was asked after the event was read. Every state that
///   depends on it is stored.
/// - Nothing is decided while events wait to be read, as long as that ends within ``roundLimit`` rounds.
/// - Nothing is asked or decided while the source's answers are in doubt, as long as ``roundLimit`` polls end that.
///
/// It is a value in one place, ``NetworkEngine/Opened``, so that a turn takes access to it once, and not to each part.
struct EngineState {
  /// What a turn leaves to do outside the lock.
  struct Outcome {
    /// The cells whose receivers may find something new.
    var targets = Few<StateCell<Reachability>>()
    var paths: [StateCell<NetworkPath>] = []
    /// Timers whose time has come.
    var timers: [DeliveryTimer] = []
    /// Whether events may be left, and another turn is due at once.
    var isUnfinished = false
  }

  private enum Deadline {
    case call(DeliveryTimer)
    case settleTarget(TargetRecord)
    case settlePath(PathRecord)
  }

  /// How many rounds of reading and asking a turn has at most. Then states are told even if events never end. So they
  /// are after as many polls if events are lost over and over.
  static let roundLimit = 8

  let source: any NetworkSource
  let time: TimeSource
  /// In the order of their identifiers.
  private var targets: [TargetRecord] = []
  private var queries = QueryTable()
  private(set) var names: NameTable<TargetRecord>
  private var paths = PathTable()
  private var timers = TimerQueue<Deadline>()
  /// Targets whose state is to be decided in this turn.
  private var staleTargets = Few<TargetRecord>()
  private var announced: NetworkInterest?
  /// Whether the last turn left something undecided, since answers were in doubt.
  private var isHeldBack = false
  private var isFirstTurn = true
  /// How many polls in a row have not ended the doubt.
  private var pollsInDoubt = 0
  /// What the waiter's deadline was last set to.
  private var armedDeadline: Int64?

  /// `lookUp` begins to look up a name. The answer comes as a command with the same number.
  init(
    _ source: any NetworkSource, _ time: TimeSource,
    lookUp: @escaping (NameQuestion, _ serial: UInt64) -> NameLookupPool.Ticket
  ) {
    self.source = source
    self.time = time
    names = NameTable(lookUp: lookUp)
  }

  /// Ends what it holds. The last monitor's withdrawal may have come too late to be performed. Records, queries and
  /// names hold each other, and lookups that wait for a thread have to be withdrawn.
  mutating func removeAll() {
    for record in targets { remove(record) }
  }

  /// The commands that make another engine watch the same and keep the same timers.
  var commands: [EngineCommand] {
    let calls = timers.events.compactMap { event -> EngineCommand? in
      if case .call(let timer) = event { .schedule(timer) } else { nil }
    }
    return targets.compactMap(\.command) + paths.commands + calls
  }

  /// When the next turn is due at the latest.
  var deadline: Int64? {
    var deadline = min(timers.next ?? .max, names.deadline ?? .max)
    deadline = min(deadline, source.nextPoll ?? .max)
    if !isHeldBack { deadline = min(deadline, paths.deadline ?? .max) }
    return deadline == .max ? nil : deadline
  }

  /// When a turn is due that may decide what the last one could not; `nil` if it left nothing.
  var nextDecision: Int64? { isHeldBack ? source.nextPoll : nil }

  /// Has the waiter wake a thread when the next turn is due. If it cannot, nor can the next wait.
  mutating func setDeadline(_ waiter: any EventWaiter) {
    let deadline = deadline
    if !time.passes || deadline == armedDeadline { return }
    armedDeadline = deadline
    waiter.setDeadline(deadline)
  }

  // MARK: A turn

  /// Performs `commands`, reads what is ready, asks what may have changed, and publishes the states.
  mutating func turn(_ commands: Few<EngineCommand>) -> Outcome {
    let now = time.now()
    var outcome = Outcome()
    defer { isFirstTurn = false }
    for position in commands.indices { perform(commands[position], now: now) }
    passDeadlines(now: now, outcome: &outcome)

    var change = NetworkChange()
    var isPolled = false
    if let poll = source.nextPoll, poll <= now {
      source.poll(into: &change)
      isPolled = true
    }
    var rounds = 0
    isHeldBack = false
    repeat {
      source.drain(into: &change)
      outcome.isUnfinished = change.isUnfinished
      if !change.isEmpty {
        mark(change)
        isHeldBack = change.isInDoubt && !(isPolled && pollsInDoubt == Self.roundLimit)
        change = NetworkChange()
        if isHeldBack { break }
      }
      settleFurtherQueries(now: now)
      if !queries.isStale, !paths.isDueWithTargets { break }
      announce(&outcome)
      for node in queries.ask(source) {
        for user in node.users.objects {
          touch(user)
          // The path that the user's name is looked up over has changed.
          if let name = user.name, user.pathNodes.contains(where: { $0 === node }) { names.markStale(name) }
        }
      }
      if paths.isDueWithTargets { paths.ask(source, &queries, now: now) }
      rounds += 1
    } while rounds < Self.roundLimit
    if rounds == Self.roundLimit {
      settleFurtherQueries(now: now)
      outcome.isUnfinished = true
    }
    if !isHeldBack { pollsInDoubt = 0 }
    if isHeldBack {
      if isPolled { pollsInDoubt += 1 }
      paths.withdrawAnswers()
      names.startLookups(now: now)
      return outcome
    }

    // Every state that follows from the events read now carries this time, which no event was after.
    let realtime = time.realtime()
    decidePaths(realtime: realtime, now: now, outcome: &outcome)
    decideTargets(realtime: realtime, now: now, outcome: &outcome)
    askManyPaths(realtime: realtime, now: now, outcome: &outcome)
    names.startLookups(now: now)
    announce(&outcome)
    return outcome
  }

  private mutating func perform(_ command: EngineCommand, now: Int64) {
    switch command {
    case .watch(.target(let question, let cell), let epoch):
      add(TargetRecord(question, cell, epoch), now: now)
    case .watch(.path(let configuration, let cell), let epoch):
      paths.add(PathRecord(configuration, cell, epoch), &queries)
    case .unwatch(let subject):
      let (position, isTaken) = targets.place(of: subject.identifier) { $0.identifier }
      if isTaken {
        let record = targets.remove(at: position)
        record.isWatched = false
        remove(record)
      }
      // A timer may be left that would ask whether it has settled.
      if let record = paths.remove(subject.identifier, &queries), record.publication.isSettling { forgetTimer() }
    case .schedule(let timer):
      timers.add(.call(timer), at: timer.deadline)
    case .forgetTimer:
      forgetTimer()
    case .lookupEnded(let question, let serial, let result):
      guard let name = names.finish(question, serial: serial, result, now: now) else { return }
      for user in name.users.objects { adopt(name, for: user) }
    }
  }

  private mutating func passDeadlines(now: Int64, outcome: inout Outcome) {
    while let deadline = timers.popDue(now) {
      switch deadline {
      case .call(let timer): outcome.timers.append(timer)
      case .settleTarget(let record):
        guard let effect = record.publication?.settle(now: now) else { continue }
        follow(effect, of: record, &outcome)
      case .settlePath(let record): follow(record.publication.settle(now: now), of: record, &outcome)
      }
    }
    for name in names.passDeadlines(now: now) {
      for user in name.users.objects { touch(user) }
    }
  }

  /// A timer is of no use any more.
  private mutating func forgetTimer() {
    timers.forget { [paths] deadline in
      switch deadline {
      case .call(let timer): timer.isCancelled
      case .settleTarget(let record): !record.isWatched
      case .settlePath(let record): !paths.contains(record)
      }
    }
  }

  /// Reads events, and marks what they touch for the next turn. Returns whether there was anything to read.
  private mutating func readEvents() -> Bool {
    var change = NetworkChange()
    source.drain(into: &change)
    isHeldBack = change.isInDoubt
    if change.isEmpty { return false }
    mark(change)
    return true
  }

  /// Marks what the change may have touched for the next turn.
  mutating func mark(_ change: NetworkChange) {
    if change.touchesNames { names.markAllStale() }
    let arePathsTouched = queries.mark(change)
    paths.mark(change, isTouched: arePathsTouched)
    if !change.touchesNames, !change.touchesNameServers { return }
    for record in targets where record.needsNameServers {
      detachServers(from: record)
      touch(record)
    }
  }

  /// Tells the source what is asked about. If it announces everything until then, a program's first state does not wait
  /// for that: the next turn does it.
  private mutating func announce(_ outcome: inout Outcome) {
    let includesNames = !names.isEmpty || !paths.isEmpty
    if !queries.isInterestStale, announced?.includesNames == includesNames { return }
    if isFirstTurn, !includesNames, source.announcesAllAtFirst {
      outcome.isUnfinished = true
      return
    }
    queries.isInterestStale = false
    let interest = NetworkInterest(destinations: queries.interest, includesNames: includesNames)
    if interest != announced { source.watch(interest) }
    announced = interest
  }

  // MARK: Targets

  private mutating func add(_ record: TargetRecord, now: Int64) {
    let (position, isTaken) = targets.place(of: record.identifier) { $0.identifier }
    if isTaken {
      targets[position].isWatched = false
      targets[position] = record
    } else {
      targets.insert(record, at: position)
    }
    record.isWatched = true
    record.nodes = queries.attach(record.initialQueries, to: record)
    record.pathNodes = queries.attach(record.initialPathQueries, to: record)
    if case .host(let host) = record.target.storage {
      attachName(NameQuestion(name: host.ascii, family: record.configuration.family), to: record, now: now)
    }
    touch(record)
  }

  private mutating func remove(_ record: TargetRecord) {
    queries.detach(record.nodes + record.pathNodes + record.translatedNodes, from: record)
    detachServers(from: record)
    detachName(from: record)
    // A timer may be left that would ask whether it has settled.
    if record.publication?.isSettling ?? false { forgetTimer() }
  }

  private mutating func touch(_ record: TargetRecord) {
    if record.isStale { return }
    record.isStale = true
    staleTargets.append(record)
  }

  private mutating func decideTargets(realtime: Int64, now: Int64, outcome: inout Outcome) {
    for record in staleTargets {
      record.isStale = false
      guard record.isWatched, let state = record.decide(), let publication = record.publication else { continue }
      follow(publication.publish(state, realtime: realtime, now: now), of: record, &outcome)
    }
    staleTargets.removeAll()
  }

  private mutating func follow(
    _ effect: Publication<Reachability>.Effect, of record: TargetRecord, _ outcome: inout Outcome
  ) {
    if effect.isTold, let cell = record.publication?.cell { outcome.targets.append(cell) }
    if let time = effect.settleAt { timers.add(.settleTarget(record), at: time) }
  }

  // MARK: Names

  private mutating func attachName(_ question: NameQuestion, to record: TargetRecord, now: Int64) {
    let name = names.attach(record, to: question, now: now)
    record.name = name
    adopt(name, for: record)
  }

  private mutating func detachName(from record: TargetRecord) {
    guard let name = record.name else { return }
    record.name = nil
    names.detach(record, from: name)
  }

  /// Makes `record` ask about the addresses that the name has now.
  private mutating func adopt(_ name: TargetName, for record: TargetRecord) {
    touch(record)
    // The new ones are attached before the old ones are detached, so that a query in both keeps its answer.
    if case .address(let address) = record.target.storage {
      let old = record.translatedNodes
      let translated = NAT64Prefix.prefixes(in: name.addresses).map { $0.embed(address.unmapped) }
      record.translatedNodes = queries.attach(translated.map(record.query), to: record)
      queries.detach(old, from: record)
    } else {
      let old = record.nodes
      record.nodes = queries.attach(record.allowed(name.addresses).map(record.query), to: record)
      queries.detach(old, from: record)
    }
  }

  private mutating func detachServers(from record: TargetRecord) {
    queries.detach(record.serverNodes ?? [], from: record)
    record.serverNodes = nil
  }

  /// Asks for the network's NAT64 prefix if an IPv4 address has come to need it, and about name servers if a host has.
  /// Forgets both when they are not needed any more.
  private mutating func settleFurtherQueries(now: Int64) {
    for record in staleTargets where record.isWatched {
      if record.needsNameServers, record.serverNodes == nil, let servers = source.nameServers {
        record.serverNodes = queries.attach(record.serverQueries(servers), to: record)
      } else if !record.needsNameServers {
        detachServers(from: record)
      }
      guard record.isTranslatable, record.needsTranslation != (record.name != nil) else { continue }
      if record.needsTranslation {
        attachName(NAT64Prefix.discoveryName, to: record, now: now)
      } else {
        detachName(from: record)
        queries.detach(record.translatedNodes, from: record)
        record.translatedNodes = []
      }
    }
  }

  // MARK: Paths

  /// Asks for paths, if that takes many queries: after the receivers of targets were told, and not too soon after the
  /// last time.
  private mutating func askManyPaths(realtime: Int64, now: Int64, outcome: inout Outcome) {
    switch paths.turnOfMany(now: now, areTargetsTold: !outcome.targets.isEmpty) {
    case .notDue: return
    case .afterTargets: outcome.isUnfinished = true
    case .due:
      paths.ask(source, &queries, now: now)
      // An answer found while something changed may be true of no moment: ask once more.
      if readEvents(), paths.isStale { paths.ask(source, &queries, now: now) }
      outcome.isUnfinished = outcome.isUnfinished || readEvents() || queries.isStale
      if isHeldBack { return paths.withdrawAnswers() }
      decidePaths(realtime: realtime, now: now, outcome: &outcome)
    }
  }

  private mutating func decidePaths(realtime: Int64, now: Int64, outcome: inout Outcome) {
    for (record, path) in paths.takeAnswers() {
      follow(record.publication.publish(path, realtime: realtime, now: now), of: record, &outcome)
    }
  }

  private mutating func follow(
    _ effect: Publication<NetworkPath>.Effect, of record: PathRecord, _ outcome: inout Outcome
  ) {
    if effect.isTold { outcome.paths.append(record.publication.cell) }
    if let time = effect.settleAt { timers.add(.settlePath(record), at: time) }
  }
}
