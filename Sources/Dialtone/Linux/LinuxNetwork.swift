// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

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
  private let suspended: () -> Int64
  /// What the engine's threads sleep on; `nil` if it can await no descriptors, so that everything is polled.
  private let poll: EventPoll?
  /// `nil` if netlink is refused.
  private(set) var queries: KernelQueries?
  /// `nil` if announcements are refused.
  private var events: KernelEvents?
  private var radios: RadioSwitches?
  private var suspension: SuspensionDetector?
  private(set) var nameConfiguration: NameConfiguration

  let tables = KernelTables()
  var decision: RouteDecision { tables.decision }
  private let lookups: RouteLookups
  /// An empty array that keeps its memory from one batch of queries to the next.
  private var spareLookups: [ConnectLookup] = []
  /// Whether questions can be answered, and when to read the tables anew or to look for what was not announced.
  private(set) var schedule = ReadingSchedule()
  /// The destinations whose routes are announced, as the engine last asked.
  private var announced: [IPAddressBits]?

  var nextPoll: Int64? {
    // In doubt nothing is asked before the tables are read anew.
    let next = min(schedule.isInDoubt ? .max : lookups.deadline ?? .max, schedule.deadline)
    return next == .max ? nil : next
  }

  /// How many announcements were read.
  private(set) var messageCount = 0
  /// How many destinations the kernel was asked about; each is a pair of queries.
  var queryCount: Int { queries?.destinationCount ?? 0 }
  /// How many datagrams of other processes were dropped.
  var foreignCount: UInt64 { events?.foreignCount ?? 0 }

  /// Opens its sockets in the network namespace of the calling thread.
  ///
  /// - Parameters:
  ///   - waiter: Where events are awaited, if it is an ``EventPoll``. Otherwise the kernel is polled.
  ///   - time: The clock of deadlines.
  ///   - root: The folder that contains `etc`, for tests.
  ///   - readNameServers: Reads the name servers, for tests; `nil` to read resolv.conf.
  ///   - suspended: Returns how long the system has been suspended so far, in nanoseconds; for tests.
  init(
    _ waiter: (any EventWaiter)? = nil, time: TimeSource = .system, nameConfigurationRoot root: String = "",
    readNameServers: (@Sendable () -> [IPAddress])? = nil, suspended: @escaping () -> Int64 = TimeSource.suspended
  ) {
    poll = waiter as? EventPoll
    self.time = time
    self.suspended = suspended
    lookups = RouteLookups(time)
    // A poll awaits the descriptor of news. Any other waiter is woken, or a path would be known only after a poll.
    let woken = poll == nil ? waiter : nil
    nameConfiguration = NameConfiguration(
      root: root, readServers: readNameServers ?? { NameServers.configured(root: root) }, hasNews: { woken?.wake() })
    connect()
    if schedule.isPolled { pollAgain() }
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
      schedule.openingFailed(for: Reachability.Reason(shortage: error.errno))
    }
    // Somebody else may have closed a descriptor. Its number may be another file's by now, which is not to be awaited.
    if !(suspension?.isOpen ?? false) { suspension = SuspensionDetector(suspended: suspended) }
    if !(radios?.isOpen ?? false) {
      radios = RadioSwitches()
      decision.isBlocked = { [radios] in radios?.isBlocked($0) ?? false }
    }
    tables.kinds.open()
    awaitEvents()
    synchronise()
  }

  /// Makes the poll await every descriptor. What has no descriptor is polled.
  private func awaitEvents() {
    // The configuration of names is not counted here: it says itself whether it has to be polled.
    var isComplete =
      queries != nil && events != nil && suspension != nil && (radios != nil || !RadioSwitches.mayBeRead)
    awaited { role, descriptor in
      do throws(SystemError) {
        if let poll { try poll.add(descriptor, bit: role.rawValue) } else { isComplete = false }
      } catch {
        // The system has no memory left for that (epoll_ctl(2), ENOMEM or ENOSPC). The next poll tries again.
        isComplete = false
      }
    }
    schedule.awaitingBegins(isComplete: isComplete)
  }

  /// Calls `body` with each descriptor to await. If there is one for announcements, it is the first.
  private func awaited(_ body: (Role, CInt) -> Void) {
    let names = nameConfiguration.awaited
    if let events, events.isOpen { body(.events, events.descriptor) }
    if let suspension { body(.clock, suspension.descriptor) }
    if let radios { body(.radios, radios.descriptor) }
    if let watched = names.watched { body(.names, watched) }
    if let finished = names.finished { body(.namesRead, finished) }
  }

  /// The descriptors to await, in the same order.
  var descriptors: [CInt] {
    var found: [CInt] = []
    awaited { found.append($1) }
    return found
  }

  /// Gives up the socket of queries, if somebody else has closed it. A failed query is the sign of that. Another one is
  /// opened at once, but not over and over.
  private func giveUpLostQueries() {
    if queries?.client.isOpen ?? true { return }
    queries = nil
    schedule.queriesWereLost(at: time.now())
  }

  // MARK: NetworkSource

  /// What the other descriptors tell concerns no answer.
  func catchUp(into change: inout NetworkChange) {
    poll?.markReady(Role.radios.bit)
    drain(into: &change)
  }

  /// Reads the events of links, addresses and routes, and those of the other descriptors that are ready.
  func drain(into change: inout NetworkChange) {
    // What has no descriptor in the poll is looked at by `poll(into:)`. Without a poll, everything is taken to be
    // ready.
    let ready = poll?.takeReady() ?? .max
    if !readEvents(&change), schedule.announcementsWereLost(at: time.now()) {
      synchronise()
      change.markEverything()
    }
    if schedule.isInDoubt { change.isInDoubt = true }
    if change.touchesIPv6Routes { lookups.gateways.routesHaveChanged() }
    func isReady(_ role: Role) -> Bool { ready & role.bit != 0 }
    if isReady(.clock), suspension?.hasResumed() ?? false {
      change.markEverything()
      change.touchesNames = true
    }
    if isReady(.radios), radios?.read() ?? false {
      decision.searches.removeAll()
      change.touchesUnreachable = true
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
    schedule.pollBegins(isLost: !readEvents(&change))
    // A question may come from a thread in another network namespace: sockets made there would be of that one.
    if lookups.probe.namespace.isCurrent { connect() } else { synchronise() }
    if nameConfiguration.hasToBePolled {
      // There may be a descriptor by now.
      if let new = nameConfiguration.replacement() {
        nameConfiguration = new
        awaitEvents()
        change.touchesNames = true
      }
      nameConfiguration.look()
    }
    if schedule.isPolled {
      // What could not be registered tells nothing by itself.
      if suspension?.hasResumed() ?? false { change.touchesNames = true }
      if radios?.read() ?? false { decision.searches.removeAll() }
    }
    if schedule.isPolled || nameConfiguration.hasToBePolled { pollAgain() }
    change.markEverything()
  }

  /// Has `poll` called in some seconds, or before.
  func pollAgain() { schedule.poll(from: time.now()) }

  var nameServers: [IPAddress]? { nameConfiguration.servers }

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
    case .known: change.touchesNameServers = true
    case .changed: change.touchesNames = true
    }
    // By now it is known whether all files can be watched.
    if nameConfiguration.hasToBePolled { pollAgain() }
  }

  func answer(_ asked: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    guard queries != nil, schedule.isReady else {
      for position in asked.indices { receive(position, .denied(for: schedule.denial)) }
      pollAgain()
      return
    }
    var open = spareLookups
    spareLookups = []
    // Those that the answer to another one may answer, by the position of that one.
    var followers: [(lookup: ConnectLookup, leader: Int)] = []
    for position in asked.indices {
      switch tables.prepare(asked[position]) {
      case .answer(let answer): receive(position, answer)
      case .ask(let target, let destination):
        let lookup = ConnectLookup(target, destination, number: position)
        if let source = destination.source, !source.isIPv6, let leader = asked.sameWithoutSource(at: position) {
          followers.append((lookup, leader))
        } else {
          open.append(lookup)
        }
      }
    }
    if !followers.isEmpty { for position in open.indices { open[position].hasFollowers = true } }
    lookUp(&open)
    for position in open.indices { receive(open[position].number, open[position].state) }
    if !followers.isEmpty { follow(open, followers, asked, receive) }
    open.removeAll(keepingCapacity: true)
    spareLookups = open
  }

  /// Answers what follows from a lookup that was made, and makes the other lookups.
  private func follow(
    _ leaders: [ConnectLookup], _ followers: [(lookup: ConnectLookup, leader: Int)], _ asked: [RouteQuery],
    _ receive: (_ position: Int, _ answer: Reachability) -> Void
  ) {
    // The socket may have been given up by now. Then the rest stays denied.
    let rules = queries.map(tables.rules)
    var found = [Int?](repeating: nil, count: asked.count)
    for position in leaders.indices { found[leaders[position].number] = position }
    var rest: [ConnectLookup] = []
    for (lookup, leader) in followers {
      if let rules, let position = found[leader], let source = asked[lookup.number].source,
        decision.addresses.isOurs(source, on: nil), let state = leaders[position].state(from: source, rules)
      {
        receive(lookup.number, state)
      } else {
        rest.append(lookup)
      }
    }
    lookUp(&rest)
    for lookup in rest { receive(lookup.number, lookup.state) }
  }

  /// Makes lookups as connect(2) would now.
  func lookUp(_ open: inout [ConnectLookup]) {
    guard let queries, !open.isEmpty else { return }
    lookups.lookUp(&open, decision, tables.rules(queries), queries, events)
    // A query that failed for lack of memory, or because it is forbidden, is asked again even if nothing changes.
    if open.contains(where: { $0.state.status == .undetermined }) {
      pollAgain()
      giveUpLostQueries()
    }
  }

  // MARK: Events

  /// Takes in the announcements that wait. Returns whether none was lost or could not be read.
  private func readEvents(_ change: inout NetworkChange) -> Bool {
    guard let events else { return true }
    var isUnderstood = true
    var hasIPv6Routes = false
    var isAdvertised = false
    let end = events.read { message, bytes in
      messageCount += 1
      let subject = message.subject
      if subject == .route, RouteMessage.isIPv6(message, in: bytes) { hasIPv6Routes = true }
      if subject == .advertisement { isAdvertised = true }
      guard subject == .neighbour else {
        if !tables.apply(message, bytes, &change) { isUnderstood = false }
        return
      }
      guard let neighbour = NeighbourMessage(message, in: bytes) else {
        isUnderstood = false
        return
      }
      if lookups.gateways.apply(neighbour, isGone: message.type == .deleteNeighbour, queries, events) {
        change.markRoute(GatewayWatch.touched)
      }
    }
    if hasIPv6Routes { lookups.ipv6RoutesWereAnnounced(change) }
    if isAdvertised { lookups.routerHasAdvertised(&change) }
    switch end {
    case .empty: return isUnderstood
    case .incomplete: return false
    case .moreWaits:
      change.isUnfinished = true
      if events.wasIncomplete { schedule.announcementsWillBeLost(at: time.now()) }
      return isUnderstood
    case .unreadable:
      // Reading is forbidden, although listening was not, or somebody has closed the socket. The kernel is polled until
      // another socket can be read.
      self.events = nil
      schedule.announcementsEnded(at: time.now())
      return false
    }
  }

  /// Reads the tables anew. Announcements that wait then are taken in afterwards.
  private func synchronise() {
    let start = time.now()
    tables.areRulesStale = true
    let reading = readTables()
    schedule.tablesAreRead(reading, from: start, until: time.now())
    switch reading {
    case .whole, .interrupted: if let events, let queries { lookups.gateways.refresh(queries, events) }
    case .failed, .refused: giveUpLostQueries()
    case .impossible: break
    }
  }

  private func readTables() -> ReadingSchedule.Reading {
    guard let queries else { return .impossible }
    do throws(NetlinkError) {
      return try tables.read(queries) ? .whole : .interrupted
    } catch {
      return error.isRefusal ? .refused : .failed
    }
  }

  /// Whether the kernel does not answer at all.
  var isDenied: Bool { !schedule.isReady }
}

extension [RouteQuery] {
  /// Returns the position of the query that asks the same as the one here, but without a source.
  /// It is looked for where queries for the same address stand together.
  fileprivate func sameWithoutSource(at position: Int) -> Int? {
    let query = self[position]
    func isSame(_ other: RouteQuery) -> Bool { other.source == nil && other.hasQuestion(of: query) }
    for other in (position + 1)..<Swift.max(count, position + 1) {
      if isSame(self[other]) { return other }
      if self[other].destination != query.destination { break }
    }
    for other in (0..<position).reversed() {
      if isSame(self[other]) { return other }
      if self[other].destination != query.destination { break }
    }
    return nil
  }
}
#endif
