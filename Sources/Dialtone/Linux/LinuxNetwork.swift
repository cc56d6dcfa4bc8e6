// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink
internal import Netlink

/// The network as the Linux kernel tells it, over rtnetlink (rtnetlink(7)).
///
/// Invariant: after `drain` the tables are what the announcements read so far say; nothing is kept of routes, which are asked
/// for each time. Where announcements were lost, the tables are read anew, at most ten times a second: until then, answers
/// may go by tables that are up to 100 ms old.
package final class LinuxNetwork: NetworkSource {
  /// How often to look where the kernel does not announce changes, or refuses altogether.
  static let pollInterval: Int64 = 5_000_000_000
  /// Tables are read anew at most so often.
  private static let resynchronisationSpacing: Int64 = 100_000_000

  /// What is awaited. The number is the bit among what the poll says is ready.
  private enum Role: Int {
    case events, clock, radios, names, namesRead
  }

  private let time: TimeSource
  /// What the engine's threads sleep on; `nil` if nothing can be awaited there, and all is looked for from time to time.
  private let poll: EventPoll?
  /// `nil` where netlink is refused.
  private(set) var queries: KernelQueries?
  /// `nil` where announcements are refused, too.
  private var events: KernelEvents?
  private let kinds = LinkClassifier()
  private var radios: RadioSwitches?
  private var suspension: SuspensionDetector?
  private let probe = ConnectProbe()
  private(set) var nameConfiguration: NameConfiguration

  private(set) var links = LinkTable() { didSet { searches.removeAll() } }
  private var addresses = AddressTable() { didSet { searches.removeAll() } }
  private let searches = ReasonSearches()
  private var gateways = GatewayTable()
  /// When there were more gateways than can be watched, and all were forgotten.
  private var lastGatewayReset: Int64?
  private var rules = RuleTable()
  private var areRulesStale = true
  private(set) var isSynchronised = false
  private var lastSynchronisation: Int64?
  private var isPolled = false
  /// Whose routes are announced, as it was asked for last.
  private var announced: [IPAddressBits]?
  /// Announcements were lost, and the tables are to be read anew with the next poll.
  private var isResynchronisationPending = false

  /// When routes that answers go by have ended.
  private var expiries = RouteExpiries()
  /// When to look for what was not announced.
  private var pollDeadline: Int64?

  package var nextPoll: Int64? {
    guard let ended = expiries.next else { return pollDeadline }
    return min(ended, pollDeadline ?? .max)
  }

  /// How often the tables were read anew because announcements were lost.
  package private(set) var resynchronisationCount = 0
  /// Announcements that were read.
  package private(set) var messageCount = 0
  /// How many destinations the kernel was asked about; each is a pair of queries.
  package private(set) var queryCount = 0
  /// How often all links were searched for the reason why there is no route.
  package var searchCount: Int { searches.count }
  /// Datagrams of other processes that were dropped.
  package var foreignCount: UInt64 { events?.foreignCount ?? 0 }

  /// Opens its sockets in the network namespace of the calling thread.
  ///
  /// - Parameters:
  ///   - poll: Where events are awaited; `nil` to have them looked for from time to time.
  ///   - time: What deadlines go by.
  ///   - root: What stands before `/etc`, for tests.
  ///   - readNameServers: Reads the name servers, for tests; `nil` for the file's.
  package init(
    _ poll: EventPoll? = nil, time: TimeSource = .system, nameConfigurationRoot root: String = "",
    readNameServers: (@Sendable () -> [IPAddress])? = nil
  ) {
    self.poll = poll
    self.time = time
    nameConfiguration = NameConfiguration(
      root: root, readServers: readNameServers ?? { NameServers.configured(root: root) })
    connect()
    if isPolled { pollAgain(after: Self.pollInterval) }
  }

  /// Has the descriptor awaited, unless it is already.
  private func register(_ descriptor: CInt, _ role: Role) {
    guard let poll else {
      isPolled = true
      return
    }
    do throws(SystemError) {
      try poll.add(descriptor, bit: role.rawValue)
    } catch {
      // The system has no memory left for that (epoll_ctl(2), ENOMEM or ENOSPC): it is tried again with the next poll.
      isPolled = true
    }
  }

  /// Opens what is not open: at first, and where descriptors or memory were short until now.
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
      // Whatever could be had stays; monitors read `denied`, or the kernel is polled.
    }
    if suspension == nil { suspension = SuspensionDetector() }
    if radios == nil { radios = RadioSwitches() }
    awaitEvents()
    synchronise()
  }

  /// Has all awaited that tells of events. What does not is polled.
  private func awaitEvents() {
    // Without its descriptors, the configuration of names says itself that it has to be polled.
    isPolled = queries == nil || events == nil || suspension == nil || (radios == nil && RadioSwitches.mayBeRead)
    for (role, descriptor) in awaited { register(descriptor, role) }
  }

  private var awaited: [(role: Role, descriptor: CInt)] {
    [
      (.events, events?.descriptor), (.clock, suspension?.descriptor), (.radios, radios?.descriptor),
      (.names, nameConfiguration.watched), (.namesRead, nameConfiguration.finished),
    ]
    .compactMap { role, descriptor in descriptor.map { (role, $0) } }
  }

  /// The descriptors that tell of events, that of announcements first, if there is one.
  package var descriptors: [CInt] { awaited.map(\.descriptor) }

  /// Gives up what is not ours any more: somebody else has closed the descriptor. A query is what tells.
  private func giveUpLostQueries() {
    if queries?.isOpen ?? true { return }
    queries = nil
    isPolled = true
    pollAgain(after: 0)
  }

  // MARK: NetworkSource

  package func drain(into change: inout NetworkChange) {
    readEvents(into: &change)
    // What has no descriptor in the poll is looked at by `poll(into:)`, or here each time.
    let ready = poll?.takeReady() ?? .max
    func isReady(_ role: Role) -> Bool { ready & 1 << UInt64(role.rawValue) != 0 }
    if isReady(.clock), suspension?.hasResumed() ?? false {
      change.markEverything()
      change.markNames()
    }
    if isReady(.radios), radios?.read() ?? false {
      searches.removeAll()
      change.markIdleLink()
    }
    if isReady(.names) { nameConfiguration.eventsAreReady() }
    readNews(into: &change)
  }

  package func poll(into change: inout NetworkChange) {
    let now = time.now()
    let ended = expiries.removeEnded(now: now)
    for prefix in ended { change.markRoute(prefix) }
    // Nothing else is due.
    if !ended.isEmpty, pollDeadline ?? .max > now { return }
    pollDeadline = nil
    if isResynchronisationPending { resynchronisationCount += 1 }
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
    if isPolled || nameConfiguration.hasToBePolled { pollAgain(after: Self.pollInterval) }
    change.markEverything()
  }

  /// Has `poll` called after so long, or before.
  func pollAgain(after interval: Int64) {
    pollDeadline = min(pollDeadline ?? .max, time.now().addingClamped(interval))
  }

  /// Has what the replies' routes lead to asked again when they end.
  func noteExpiries(_ replies: [RouteReplies]) {
    let now = time.now()
    for reply in replies {
      if case .route(let route) = reply.match { expiries.note(route, now: now) }
    }
  }

  /// Decides by the tables as they are now.
  var decision: RouteDecision {
    RouteDecision(links: links, addresses: addresses, searches: searches) { [radios] in radios?.isBlocked($0) ?? false }
  }

  package func watch(_ interest: NetworkInterest) {
    announced = interest.destinations?.map(\.bits)
    events?.announceRoutes(to: announced)
    if let destinations = interest.destinations, !gateways.isEmpty,
      !destinations.contains(where: { $0.family == .ipv6 })
    {
      forgetGateways()
    }
    nameConfiguration.want(interest.includesNames)
    if nameConfiguration.hasToBePolled { pollAgain(after: Self.pollInterval) }
  }

  private func readNews(into change: inout NetworkChange) {
    guard let news = nameConfiguration.takeNews() else { return }
    switch news {
    case .known: change.markNameServers()
    case .changed: change.markNames()
    }
    // Only now is it known whether all files can be watched.
    if nameConfiguration.hasToBePolled { pollAgain(after: Self.pollInterval) }
  }

  package func answer(_ asked: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    guard queries != nil, isSynchronised else {
      for position in asked.indices { receive(position, .denied) }
      pollAgain(after: Self.pollInterval)
      return
    }
    let decision = decision
    var positions: [Int] = []
    var lookups: [ConnectLookup] = []
    for (position, query) in asked.enumerated() {
      switch prepare(query, decision) {
      case .answer(let answer): receive(position, answer)
      case .ask(let target, let destination):
        positions.append(position)
        lookups.append(ConnectLookup(target, destination))
      }
    }
    for (position, lookup) in zip(positions, lookUp(lookups)) { receive(position, lookup.state) }
  }

  /// Makes look-ups as connect(2) would now: mostly in one round, and each further one only for those that need it.
  func lookUp(_ lookups: [ConnectLookup]) -> [ConnectLookup] {
    guard let queries, !lookups.isEmpty else { return lookups }
    readRules()
    let decision = decision
    var lookups = lookups
    var open = Array(lookups.indices)
    while !open.isEmpty {
      queryCount += open.count
      let replies = queries.routes(to: open.map { lookups[$0].destination })
      noteExpiries(replies)
      noteGateways(replies)
      var unfinished: [Int] = []
      for (position, reply) in zip(open, replies) where lookups[position].take(reply, decision, rules, probe) {
        unfinished.append(position)
      }
      open = unfinished
    }
    // A query that failed, for lack of memory or because it is forbidden, is asked again whether or not anything changes.
    if lookups.contains(where: { $0.state.status == .undetermined }) {
      pollAgain(after: Self.pollInterval)
      giveUpLostQueries()
    }
    return lookups
  }

  // MARK: Queries

  private enum Prepared {
    case answer(Reachability)
    case ask(IPAddress, KernelQueries.Destination)
  }

  /// Finds out what needs no query, and what may not reach one: an index of 0 would mean any interface to the kernel, and a
  /// source that is not this machine's is one that IPv6 takes all the same.
  private func prepare(_ query: RouteQuery, _ decision: RouteDecision) -> Prepared {
    func missing(_ reason: Reachability.Reason) -> Prepared {
      .answer(Reachability(status: .unreachable, destination: query.address, reason: reason))
    }
    var output: UInt32?
    if let name = query.interface {
      guard let link = links.link(named: name) else { return missing(.noInterface) }
      output = link.index
    }
    switch query.destination {
    case .localNetwork(let kind, let family):
      return .answer(decision.localNetwork(kind, family, output: output))
    case .address(let address):
      if address.zone != nil {
        guard let link = links.link(named: LinkName(address.inlineZone)) else { return missing(.noInterface) }
        // A zone and an interface that contradict each other: no interface is both.
        if let output, output != link.index { return missing(.noInterface) }
        output = link.index
      } else if address.family == .ipv6, address.isLinkLocal, output == nil {
        return missing(.noInterface)
      }
      if let source = query.source {
        guard source.family == address.family, addresses.isOurs(source, on: output) else { return missing(.noAddress) }
      }
      return .ask(
        address,
        KernelQueries.Destination(
          address: address.bits, source: query.source?.bits, output: output, mark: query.mark,
          transport: query.transport, port: query.port))
    }
  }

  // MARK: Events

  private func readEvents(into change: inout NetworkChange) {
    guard let events else { return }
    var isUnderstood = true
    let end = events.read { message, bytes in
      if !apply(message, bytes, &change) { isUnderstood = false }
    }
    switch end {
    case .empty: break
    case .moreWaits: change.markUnfinished()
    case .incomplete: isUnderstood = false
    case .unreadable:
      // Reading is forbidden, though listening was not, or somebody has closed the socket: the kernel is polled until
      // another one can be read.
      self.events = nil
      isPolled = true
      isUnderstood = false
      pollAgain(after: Self.pollInterval)
    }
    if isUnderstood { return }
    let now = time.now()
    if let last = lastSynchronisation, now < last.addingClamped(Self.resynchronisationSpacing) {
      // Too soon: the tables may be wrong until then, and are read anew whether or not anything else happens.
      pollDeadline = min(pollDeadline ?? .max, last.addingClamped(Self.resynchronisationSpacing))
      isResynchronisationPending = true
      return
    }
    resynchronisationCount += 1
    synchronise()
    change.markEverything()
  }

  /// Takes a message in. Answers whether it could be read; one that could not is as good as lost.
  private func apply(_ message: NetlinkMessage, _ bytes: RawSpan, _ change: inout NetworkChange) -> Bool {
    messageCount += 1
    switch message.type {
    case .newLink, .deleteLink:
      guard let link = LinkMessage(message, in: bytes) else { return false }
      switch apply(link, isGone: message.type == .deleteLink) {
      case .nothing: break
      case .idle: change.markIdleLink()
      case .everything: change.markEverything()
      }
    case .newAddress, .deleteAddress:
      guard let address = AddressMessage(message, in: bytes) else { return false }
      if message.type == .newAddress { addresses.update(address) } else { addresses.remove(address) }
      // Also where nothing but a lifetime is another: routes may have come with it.
      change.markEverything()
    case .newRoute, .deleteRoute:
      guard let route = RouteMessage(message, in: bytes) else {
        change.markEverything()
        return true
      }
      let none = route.family == .ipv6 ? IPAddressBits(ipv6High: 0, low: 0) : IPAddressBits(ipv4: 0)
      change.markRoute(.init(route.destination ?? none, length: Int(route.destinationLength)))
    case .newRule, .deleteRule:
      areRulesStale = true
      change.markEverything()
    case .newNeighbour, .deleteNeighbour:
      guard let neighbour = NeighbourMessage(message, in: bytes) else { return false }
      apply(neighbour, isGone: message.type == .deleteNeighbour, &change)
    case .newNexthop, .deleteNexthop, .newNetconf, .deleteNetconf:
      change.markEverything()
    default:
      break
    }
    return true
  }

  private func apply(_ message: LinkMessage, isGone: Bool) -> LinkTable.Effect {
    // Of bridge ports (family AF_BRIDGE) there are messages of their own; they say nothing of the link.
    if message.family != .unspecified { return .nothing }
    if isGone { return links.remove(message.index) }
    guard message.isSnapshot else { return .nothing }
    let known = links[message.index]
    // What hardware is does not change while it is there, but may not be told before it is switched on.
    let (kind, radio) =
      if let known, known.isUp || !message.flags.contains(.up), known.deviceType == message.deviceType,
        known.hardwareAddress == message.hardwareAddress ?? [], known.infoKind == message.infoKind
      {
        (known.ownKind, known.radio)
      } else {
        kinds.classify(message)
      }
    return Link(message, kind: kind, radio: radio).map { links.update($0) } ?? .nothing
  }

  // MARK: Gateways

  private static let ipv6Default = NetworkChange.Prefix(IPAddressBits(ipv6High: 0, low: 0), length: 0)
  /// Gateways are forgotten at most so often for lack of room.
  private static let gatewayResetSpacing: Int64 = 60_000_000_000

  /// Has changes of the gateways announced that the replies go by.
  private func noteGateways(_ replies: [RouteReplies]) {
    guard events != nil else { return }
    var isNew = false
    for reply in replies {
      // Mostly one hop; no array is made for it.
      if case .route(let route) = reply.configured, route.nexthops.isEmpty, reply.objectHops.isEmpty {
        if let gateway = route.gateway, let index = route.outputInterface {
          isNew = gateways.add(gateway, on: index, isFailed: false) || isNew
        }
        continue
      }
      for hop in reply.hops {
        if let gateway = hop.gateway { isNew = gateways.add(gateway, on: hop.interfaceIndex, isFailed: false) || isNew }
      }
    }
    if isNew {
      settleGateways(addingFailed: true)
      // What the gateways did before they were watched was perhaps not seen.
      expiries.askAgain(Self.ipv6Default, at: time.now())
    } else if gateways.isOverfull {
      makeRoomForGateways()
    }
  }

  /// Forgets gateways that may be of no use any more: asked again, those in use come back.
  private func makeRoomForGateways() {
    let now = time.now()
    if let last = lastGatewayReset, now < last.addingClamped(Self.gatewayResetSpacing) { return }
    lastGatewayReset = now
    gateways = GatewayTable()
    expiries.askAgain(Self.ipv6Default, at: now)
  }

  private func forgetGateways() {
    gateways = GatewayTable()
    _ = events?.announceNeighbours([])
  }

  /// Takes in a neighbour that was announced.
  private func apply(_ message: NeighbourMessage, isGone: Bool, _ change: inout NetworkChange) {
    let isFailed = !isGone && message.state.contains(.failed)
    guard let address = message.address,
      gateways.update(address, on: message.interfaceIndex, isFailed: isFailed)
    else { return }
    settleGateways(addingFailed: isFailed)
    change.markRoute(Self.ipv6Default)
  }

  /// Has the kernel announce what will be otherwise than it is known here.
  ///
  /// What happened between the reading of an announcement and the change of the filter was dropped by the filter: so the kernel is
  /// asked afterwards, until it says what the filter goes by.
  private func settleGateways(addingFailed: Bool) {
    guard let queries, let events else { return }
    for _ in 0..<4 {
      // Where it is forbidden, the choice of gateways is noticed with the next event of another kind.
      guard events.announceNeighbours(gateways.gateways) else { return }
      var isSettled = true
      for (gateway, isFailed) in zip(gateways.gateways, queries.areFailed(gateways.gateways)) {
        guard let isFailed else { continue }
        if gateways.update(gateway.address, on: gateway.interface, isFailed: isFailed) { isSettled = false }
      }
      if isSettled { break }
    }
    if addingFailed { addFailedNeighbours() }
  }

  /// Watches the neighbours that are failed: the kernel passes over the routes by them, so no answer tells of them.
  private func addFailedNeighbours() {
    guard let queries else { return }
    var isNew = false
    do throws(NetlinkError) {
      try queries.ipv6Neighbours { neighbour in
        guard neighbour.state.contains(.failed), let address = neighbour.address else { return }
        isNew = gateways.add(address, on: neighbour.interfaceIndex, isFailed: true) || isNew
      }
    } catch {
      // Memory lacked: those in use are watched.
    }
    if isNew { settleGateways(addingFailed: false) }
  }

  // MARK: Tables

  /// Reads links and addresses anew. What waits on the socket of announcements is read afterwards, in order, and ends
  /// at the present whether the tables were read before or after it was sent.
  private func synchronise() {
    lastSynchronisation = time.now()
    isResynchronisationPending = false
    areRulesStale = true
    guard let queries else {
      isSynchronised = false
      return
    }
    do throws(NetlinkError) {
      var newLinks = LinkTable()
      let areLinksWhole = try queries.links(begin: { newLinks.removeAll() }) { message in
        let (kind, radio) = kinds.classify(message)
        if let link = Link(message, kind: kind, radio: radio) { _ = newLinks.update(link) }
      }
      var newAddresses = AddressTable()
      let areAddressesWhole = try queries.addresses(begin: { newAddresses.removeAll() }) { newAddresses.update($0) }
      links = newLinks
      addresses = newAddresses
      isSynchronised = true
      if !gateways.isEmpty { settleGateways(addingFailed: true) }
      if !areLinksWhole || !areAddressesWhole {
        // Changes overtook every attempt: what there is may lack something, of which no event will tell.
        isResynchronisationPending = true
        pollAgain(after: Self.resynchronisationSpacing)
      }
    } catch {
      // Where it is refused nothing is known; where memory lacked for a moment, what was known is still the best there is.
      if error.isRefusal { isSynchronised = false }
      pollAgain(after: Self.pollInterval)
      giveUpLostQueries()
    }
  }

  /// Reads the rules anew where they changed since: they do so seldom, and are few.
  private func readRules() {
    guard areRulesStale, let queries else { return }
    areRulesStale = false
    var new = RuleTable()
    do throws(NetlinkError) {
      try queries.ipv4Rules(begin: { new.removeAll() }) { new.add($0) }
    } catch {
      new = RuleTable(unreadable: error.errno)
    }
    rules = new
  }

  // MARK: Listing

  /// The interfaces there are, in the order of their indices.
  package func interfaces() -> [InterfaceStatus] {
    let decision = decision
    return links.all.map { link in
      InterfaceStatus(
        interface: links.interface(link), alternativeNames: link.alternativeNames.map(\.text), isUp: link.isUp,
        isOperating: links.isOperating(link),
        reason: decision.reason(ofIdle: link),
        addresses: addresses.addresses(of: link.index).map {
          InterfaceStatus.Address(address: $0.ipAddress, prefixLength: Int($0.prefixLength))
        })
    }
  }

  /// Whether the kernel answers at all.
  package var isDenied: Bool { !isSynchronised }
}

extension NetlinkError {
  /// Whether the system said no, and will again.
  fileprivate var isRefusal: Bool {
    switch errno {
    case EPERM, EACCES, EAFNOSUPPORT, EOPNOTSUPP, ENOSYS: true
    default: false
    }
  }
}
#endif
