// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Netlink

/// The network as the Linux kernel tells it, over rtnetlink (rtnetlink(7)).
///
/// Invariant: after `drain` the tables are what the announcements read so far say. Routes are not kept, but asked for
/// each time. If announcements were lost, the tables are read anew, at most ten times a second. Until then they are in
/// doubt, and `drain` says so.
final class LinuxNetwork: NetworkSource {
  /// The descriptors that are awaited. The number is the descriptor's bit in `EventPoll.takeReady`.
  private enum Role: Int {
    case events, clock, radios, names, namesRead

    var bit: UInt64 { 1 << UInt64(rawValue) }
  }

  private let time: TimeSource
  /// What the engine's threads sleep on; `nil` if it can await no descriptors, so that everything is polled.
  private let poll: EventPoll?
  /// `nil` if netlink is refused.
  private(set) var queries: KernelQueries?
  /// Why nothing can be known, while nothing can.
  private(set) var denial = Reachability.Reason.denied
  /// `nil` if announcements are refused.
  private var events: KernelEvents?
  private var radios: RadioSwitches?
  private var suspension: SuspensionDetector?
  private(set) var nameConfiguration: NameConfiguration

  let tables = KernelTables()
  private let lookups: RouteLookups
  private(set) var isSynchronised = false
  /// When to read the tables anew, and when to look for changes that were not announced.
  private var schedule = ReadingSchedule()
  private var isPolled = false
  /// The destinations whose routes are announced, as the engine last asked.
  private var announced: [IPAddressBits]?

  var nextPoll: Int64? {
    // In doubt nothing is asked before the tables are read anew.
    let next = min(schedule.isInDoubt ? .max : lookups.deadline ?? .max, schedule.deadline)
    return next == .max ? nil : next
  }

  /// How often the tables were read anew because announcements were lost.
  var resynchronisationCount: Int { schedule.rereadCount }
  /// How many announcements were read.
  private(set) var messageCount = 0
  /// How many destinations the kernel was asked about; each is a pair of queries.
  var queryCount: Int { queries?.destinationCount ?? 0 }
  /// How often the links were searched for the reason why there is no route.
  var searchCount: Int { tables.searches.count }
  /// How many datagrams of other processes were dropped.
  var foreignCount: UInt64 { events?.foreignCount ?? 0 }

  /// Opens its sockets in the network namespace of the calling thread.
  ///
  /// - Parameters:
  ///   - waiter: Where events are awaited, if it is an ``EventPoll``. Otherwise the kernel is polled.
  ///   - time: The clock of deadlines.
  ///   - root: The folder that contains `etc`, for tests.
  ///   - readNameServers: Reads the name servers, for tests; `nil` to read resolv.conf.
  init(
    _ waiter: (any EventWaiter)? = nil, time: TimeSource = .system, nameConfigurationRoot root: String = "",
    readNameServers: (@Sendable () -> [IPAddress])? = nil
  ) {
    poll = waiter as? EventPoll
    self.time = time
    lookups = RouteLookups(time)
    // A poll awaits the descriptor of news. Any other waiter is woken, or a path would be known only after a poll.
    let woken = poll == nil ? waiter : nil
    nameConfiguration = NameConfiguration(
      root: root, readServers: readNameServers ?? { NameServers.configured(root: root) }, hasNews: { woken?.wake() })
    connect()
    if isPolled { pollAgain() }
  }

  /// Has the descriptor awaited, if it is not already.
  private func register(_ descriptor: CInt, _ role: Role) {
    guard let poll else {
      isPolled = true
      return
    }
    do throws(SystemError) {
      try poll.add(descriptor, bit: role.rawValue)
    } catch {
      // The system has no memory left for that (epoll_ctl(2), ENOMEM or ENOSPC). The next poll tries again.
      isPolled = true
    }
  }

  /// Opens what is not open: at first, and if descriptors or memory were short until now.
  private func connect() {
    do throws(NetlinkError) {
      if queries == nil { queries = try KernelQueries() }
      // Listening begins before the tables are read, so that no change falls between.
      if events == nil {
        let new = try KernelEvents()
        new.announceRoutes(to: announced)
        events = new
      }
    } catch {
      // What could be opened stays open. Monitors read why nothing is known, or the kernel is polled.
      denial = Reachability.Reason(shortage: error.errno)
    }
    // Somebody else may have closed a descriptor. Its number may be another file's by now, which is not to be awaited.
    if !(suspension?.isOpen ?? false) { suspension = SuspensionDetector() }
    if !(radios?.isOpen ?? false) {
      radios = RadioSwitches()
      tables.forgetDecision()
    }
    awaitEvents()
    synchronise()
  }

  /// Has all descriptors awaited. What has none is polled.
  private func awaitEvents() {
    // The configuration of names is not counted here: it says itself whether it has to be polled.
    isPolled = queries == nil || events == nil || suspension == nil || (radios == nil && RadioSwitches.mayBeRead)
    for (role, descriptor) in awaited { register(descriptor, role) }
  }

  private var awaited: [(role: Role, descriptor: CInt)] {
    let names = nameConfiguration.awaited
    let descriptors: [(Role, CInt?)] = [
      (.events, events.flatMap { $0.isOpen ? $0.descriptor : nil }), (.clock, suspension?.descriptor),
      (.radios, radios?.descriptor), (.names, names.watched), (.namesRead, names.finished),
    ]
    return descriptors.compactMap { role, descriptor in descriptor.map { (role, $0) } }
  }

  /// The descriptors to await. If there is one for announcements, it is the first.
  var descriptors: [CInt] { awaited.map(\.descriptor) }

  /// Gives up the socket of queries, if somebody else has closed it. A failed query is the sign of that. Another one is
  /// opened at once, but not over and over.
  private func giveUpLostQueries() {
    if queries?.isOpen ?? true { return }
    queries = nil
    isPolled = true
    schedule.queriesWereLost(at: time.now())
  }

  // MARK: NetworkSource

  func drain(into change: inout NetworkChange) {
    // What has no descriptor in the poll is looked at by `poll(into:)`. Without a poll, everything counts as ready.
    read(poll?.takeReady() ?? .max, into: &change)
  }

  /// What the other descriptors tell concerns no answer.
  func catchUp(into change: inout NetworkChange) {
    read((poll?.takeReady() ?? .max) | Role.radios.bit, into: &change)
  }

  /// Reads the events of links, addresses and routes, and those of the other descriptors that are ready, a bit each.
  private func read(_ ready: UInt64, into change: inout NetworkChange) {
    readEvents(into: &change)
    func isReady(_ role: Role) -> Bool { ready & role.bit != 0 }
    if isReady(.clock), suspension?.hasResumed() ?? false {
      change.markEverything()
      change.markNames()
    }
    if isReady(.radios), radios?.read() ?? false {
      tables.searches.removeAll()
      change.markIdleLink()
    }
    if isReady(.names) { nameConfiguration.eventsAreReady() }
    readNews(into: &change)
  }

  func poll(into change: inout NetworkChange) {
    let now = time.now()
    let isLookupDue = lookups.deadline.map { $0 <= now } ?? false
    for prefix in lookups.passDeadlines(queries, events, now: now) { change.markRoute(prefix) }
    // Nothing else is due.
    if isLookupDue, schedule.deadline > now, !schedule.isInDoubt { return }
    // What waits is older than the tables will be, and leaves room for what is announced while they are read.
    schedule.pollBegins(isLost: !takeInEvents(&change))
    connect()
    if nameConfiguration.hasToBePolled {
      // There may be a descriptor by now.
      if let new = nameConfiguration.replacement() {
        nameConfiguration = new
        awaitEvents()
        change.markNames()
      }
      nameConfiguration.poll()
    }
    if isPolled {
      // What could not be registered tells nothing by itself.
      if suspension?.hasResumed() ?? false { change.markNames() }
      if radios?.read() ?? false { tables.searches.removeAll() }
    }
    if isPolled || nameConfiguration.hasToBePolled { pollAgain() }
    change.markEverything()
  }

  /// Has `poll` called in some seconds, or before.
  func pollAgain() { schedule.poll(from: time.now()) }

  /// The decision by the tables as they are now.
  var decision: RouteDecision {
    tables.knownDecision ?? tables.makeDecision { [radios] in radios?.isBlocked($0) ?? false }
  }

  func watch(_ interest: NetworkInterest) {
    announced = interest.destinations?.map(\.bits)
    events?.announceRoutes(to: announced)
    if let destinations = interest.destinations, !destinations.contains(where: { $0.family == .ipv6 }) {
      lookups.gateways.forget(events)
    }
    nameConfiguration.want(interest.includesNames)
    if nameConfiguration.hasToBePolled { pollAgain() }
  }

  private func readNews(into change: inout NetworkChange) {
    guard let news = nameConfiguration.takeNews() else { return }
    switch news {
    case .known: change.markNameServers()
    case .changed: change.markNames()
    }
    // By now it is known whether all files can be watched.
    if nameConfiguration.hasToBePolled { pollAgain() }
  }

  func answer(_ asked: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    guard queries != nil, isSynchronised else {
      for position in asked.indices { receive(position, .denied(for: denial)) }
      pollAgain()
      return
    }
    let decision = decision
    // Mostly it is one; no array is made for it.
    if asked.count == 1 { return receive(0, answer(asked[0], decision)) }
    var open: [ConnectLookup] = []
    for (position, query) in asked.enumerated() {
      switch tables.prepare(query, decision) {
      case .answer(let answer): receive(position, answer)
      case .ask(let target, let destination):
        open.append(ConnectLookup(target, destination, number: position))
      }
    }
    lookUp(&open, decision)
    for lookup in open { receive(lookup.number, lookup.state) }
  }

  func answer(_ query: RouteQuery) -> Reachability {
    if queries != nil, isSynchronised { return answer(query, decision) }
    pollAgain()
    return .denied(for: denial)
  }

  private func answer(_ query: RouteQuery, _ decision: RouteDecision) -> Reachability {
    switch tables.prepare(query, decision) {
    case .answer(let answer): return answer
    case .ask(let target, let destination):
      var lookup = ConnectLookup(target, destination)
      if let queries {
        lookups.lookUp(&lookup, decision, tables.rules(queries), queries, events)
        if lookup.state.status == .undetermined { askAgainLater() }
      }
      return lookup.state
    }
  }

  /// Makes lookups as connect(2) would now.
  func lookUp(_ open: inout [ConnectLookup], _ decision: RouteDecision) {
    guard let queries, !open.isEmpty else { return }
    lookups.lookUp(&open, decision, tables.rules(queries), queries, events)
    if open.contains(where: { $0.state.status == .undetermined }) { askAgainLater() }
  }

  /// A query that failed for lack of memory, or because it is forbidden, is asked again even if nothing changes.
  private func askAgainLater() {
    pollAgain()
    giveUpLostQueries()
  }

  // MARK: Events

  private func readEvents(into change: inout NetworkChange) {
    if !takeInEvents(&change) {
      if schedule.announcementsWereLost(at: time.now()) {
        synchronise()
        change.markEverything()
      }
    }
    if schedule.isInDoubt { change.markInDoubt() }
    if change.touchesIPv6Routes { lookups.gateways.routesHaveChanged() }
  }

  /// Takes in the announcements that wait. Returns whether none was lost or could not be read.
  private func takeInEvents(_ change: inout NetworkChange) -> Bool {
    guard let events else { return true }
    var isUnderstood = true
    let end = events.read { message, bytes in
      if !apply(message, bytes, events, &change) { isUnderstood = false }
    }
    switch end {
    case .empty: return isUnderstood
    case .incomplete: return false
    case .moreWaits:
      change.markUnfinished()
      if events.wasIncomplete { schedule.announcementsWillBeLost(at: time.now()) }
      return isUnderstood
    case .unreadable:
      // Reading is forbidden, although listening was not, or somebody has closed the socket. The kernel is polled until
      // another socket can be read.
      self.events = nil
      isPolled = true
      pollAgain()
      return false
    }
  }

  /// Takes in a message. Returns whether it could be read.
  private func apply(
    _ message: NetlinkMessage, _ bytes: RawSpan, _ events: KernelEvents, _ change: inout NetworkChange
  ) -> Bool {
    messageCount += 1
    guard case .neighbour = message.subject else { return tables.apply(message, bytes, &change) }
    guard let neighbour = NeighbourMessage(message, in: bytes) else { return false }
    if lookups.gateways.apply(neighbour, isGone: message.type == .deleteNeighbour, queries, events) {
      change.markRoute(GatewayWatch.touched)
    }
    return true
  }

  /// Reads the tables anew. Announcements that wait then are taken in afterwards.
  private func synchronise() {
    let now = time.now()
    schedule.readingBegins(at: now)
    tables.markRulesStale()
    guard let queries else {
      isSynchronised = false
      return
    }
    do throws(NetlinkError) {
      let areWhole = try tables.read(queries)
      isSynchronised = true
      if let events { lookups.gateways.refresh(queries, events) }
      if !areWhole { schedule.readingWasInterrupted(at: now) }
    } catch {
      // If it is refused, nothing is known. If memory lacked for a moment, the tables before are the best there is.
      if error.isRefusal {
        isSynchronised = false
        denial = .denied
      }
      pollAgain()
      giveUpLostQueries()
    }
  }

  /// Whether the kernel does not answer at all.
  var isDenied: Bool { !isSynchronised }
}
#endif
