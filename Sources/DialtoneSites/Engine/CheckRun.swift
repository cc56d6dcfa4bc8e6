// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore
internal import NIOSSL

/// One check under way: performs what `CheckStateMachine` wants done, and tells it what happens.
///
/// Invariants: everything happens on the event loop. Events are handed in one at a time: one that an action causes at
/// once waits until the actions before it are performed. The check is reported once, when the last of its connections
/// is closed.
final class CheckRun {
  typealias Action = CheckStateMachine.Action
  typealias Event = CheckStateMachine.Event

  /// RFC 8305, 3: how long IPv4 addresses wait for IPv6 ones.
  private static let resolutionDelay = TimeAmount.milliseconds(50)
  /// How long a family that has not answered is waited for if no address of the other can be reached. Nearly every name
  /// server that answers at all has answered by then.
  private static let namePatience = TimeAmount.seconds(1)

  private let url: SiteURL
  private var configuration: SiteCheckConfiguration
  private let proxy: ProxyServer?
  private let engine: SiteEngine
  private let loop: any EventLoop
  private let report: (Result<CheckOutcome, any Error>) -> Void
  private var machine: CheckStateMachine
  private var events: [Event] = []
  private var isPerforming = false

  // What is under way.
  private var deadline: Scheduled<Void>?
  private var trustInquiry: TrustStore.Inquiry?
  /// What vouches for the site, once it is read.
  private var context: TrustContext?
  /// The lookups of the name that have not ended.
  private var inquiries: [IPAddress.Family: Resolver.Inquiry] = [:]
  private var nameTimers: [Scheduled<Void>] = []
  /// The path to the Internet, then those to the name servers.
  private var namePaths: [SharedMonitors.Path] = []
  private var namePathWait: PathWait?
  private var pathWaits: [PathWait] = []
  private var race: ConnectionRace?
  private var exchange: Exchange?
  /// Whether an answer came on a former connection.
  private var hasHead = false
  /// Whether the server's own certificate has turned out to be a trusted one.
  private var isPinned = false

  init(
    _ url: SiteURL, _ configuration: SiteCheckConfiguration, _ proxy: ProxyServer?, _ engine: SiteEngine,
    _ loop: any EventLoop, _ start: NIODeadline, _ report: @escaping (Result<CheckOutcome, any Error>) -> Void
  ) {
    self.url = url
    self.configuration = configuration
    self.proxy = proxy
    self.engine = engine
    self.loop = loop
    self.report = report
    let beginning = CheckStateMachine.Moment(
      uptime: Int64(clamping: start.uptimeNanoseconds), realtime: engine.network.time.timestamp)
    machine = CheckStateMachine(url, configuration, proxy, at: beginning)
  }

  func start() {
    perform(machine.start())
    handleEvents()
  }

  func cancel() { send(.cancelled) }

  // MARK: Events and actions

  private func send(_ event: Event) {
    events.append(event)
    if !isPerforming { handleEvents() }
  }

  private func handleEvents() {
    while !events.isEmpty { perform(machine.handle(events.removeFirst(), at: moment)) }
  }

  /// The uptime is NIO's: its event loop keeps the deadlines.
  private var moment: CheckStateMachine.Moment {
    CheckStateMachine.Moment(
      uptime: Int64(clamping: loop.now.uptimeNanoseconds), realtime: engine.network.time.timestamp,
      namePaths: namePaths.map(\.known), attempt: race?.lastRoute)
  }

  private func perform(_ actions: [Action]) {
    isPerforming = true
    for action in actions { perform(action) }
    isPerforming = false
  }

  private func perform(_ action: Action) {
    switch action {
    case .setDeadline(let uptime): setDeadline(uptime)
    case .findTrust: findTrust()
    case .lookUp(let name, let families): lookUp(name, families)
    case .watchPathToInternet:
      // A question for an address of one family may go over the other.
      var path = configuration.path
      path.family = nil
      namePaths = [engine.monitors.path(to: .internet, path)]
      waitForNamePaths()
    case .watchPathsToNameServers(let servers): watchPaths(to: servers)
    case .waitForNamePaths: waitForNamePaths()
    case .leaveNames: leaveNames()
    case .setResolutionDelay: setTimer(Self.resolutionDelay, .resolutionDelayPassed)
    case .setNamePatience: setTimer(Self.namePatience, .namesTookLong)
    case .stopLookups: stopLookups()
    case .findPaths(let addresses, let isTranslated): findPaths(addresses, isTranslated: isTranslated)
    case .race(let routes, let isOpen): startRace(routes, isOpen: isOpen)
    case .addRoutes(let routes): race?.add(routes)
    case .closeRace: race?.close()
    case .openTunnel: if let proxy { exchange?.openTunnel(by: proxy) }
    case .startTLS: startTLS()
    case .ask(let method): exchange?.ask(method)
    case .readBody: exchange?.readBody(lookingFor: configuration.expectation.bodyText)
    case .closeConnection: closeConnection()
    case .end(let verdict): end(verdict.map { .success($0) } ?? .failure(CancellationError()))
    }
  }

  private func end(_ result: Result<SiteVerdict, any Error>) {
    deadline?.cancel()
    trustInquiry?.cancel()
    stopLookups()
    for timer in nameTimers { timer.cancel() }
    nameTimers = []
    leaveNames()
    for wait in pathWaits { wait.cancel() }
    pathWaits = []
    race?.cancel()
    race = nil
    let isDiagnosed = configuration.inspection?.readsBeginning ?? false
    if case .success(let verdict) = result, isDiagnosed || verdict.kind == .failed { exchange?.noteProgress() }
    var details = exchange?.details ?? CheckDetails()
    // A site that answers once has chosen its version.
    if hasHead { details.wantsOtherVersion = false }
    details.refused = machine.refused
    details.pathReason = machine.pathReason
    let outcome = result.map { CheckOutcome(verdict: $0, details: details) }
    guard let exchange else { return report(outcome) }
    self.exchange = nil
    exchange.close { [report] in report(outcome) }
  }

  private func setDeadline(_ uptime: Int64) {
    deadline?.cancel()
    deadline = loop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: uptime))) {
      self.send(.deadlinePassed)
    }
  }

  // MARK: Trust

  private func findTrust() {
    let run = NIOLoopBound(self, eventLoop: loop)
    trustInquiry = engine.trust.ask(for: configuration) { [loop] result in
      loop.execute { run.value.trustWasFound(result) }
    }
  }

  private func trustWasFound(_ result: Result<TrustContext, SiteError>) {
    switch result {
    case .success(let context):
      self.context = context
      send(.trustFound(nil))
    case .failure(let error): send(.trustFound(error))
    }
  }

  private func startTLS() {
    guard let context else { preconditionFailure("TLS without a context: an https URL has one") }
    exchange?.startTLS(context, isPinned: isPinned)
  }

  // MARK: Names

  private func lookUp(_ name: HostName, _ families: [IPAddress.Family]) {
    // A monitor that begins a check has usually just looked up the name itself.
    let given = configuration.addresses
    if let known = given.isEmpty ? engine.network.recentAddresses(of: name, configuration.family) : given {
      return send(.lookupEnded(nil, .addresses(known)))
    }
    let run = NIOLoopBound(self, eventLoop: loop)
    for family in families {
      inquiries[family] = engine.resolver.ask(
        name.ascii, family, isOneOfTwo: families.count > 1,
        begun: { [loop] servers in
          let uptime = Int64(clamping: loop.now.uptimeNanoseconds)
          loop.execute { run.value.send(.lookupBegan(at: uptime, servers: servers)) }
        },
        { [loop] result in
          loop.execute {
            run.value.inquiries[family] = nil
            run.value.send(.lookupEnded(family, result))
          }
        })
    }
  }

  private func stopLookups() {
    for inquiry in inquiries.values { inquiry.cancel() }
    inquiries = [:]
  }

  private func setTimer(_ delay: TimeAmount, _ event: Event) {
    nameTimers.append(loop.assumeIsolated().scheduleTask(in: delay) { self.send(event) })
  }

  private func watchPaths(to servers: [IPAddress]) {
    // The resolver knows nothing of the interface that was asked for. It uses UDP, on port 53 (RFC 1035, 4.2).
    var path = ReachabilityConfiguration()
    path.transport = .udp
    namePaths += servers.map { engine.monitors.path(to: .address($0, port: 53), path) }
  }

  private func waitForNamePaths() {
    namePathWait?.cancel()
    let wait = PathWait(namePaths, loop) { [self] _, _ in send(.namePathsKnown) }
    namePathWait = wait
    wait.start()
  }

  private func leaveNames() {
    namePathWait?.cancel()
    namePathWait = nil
    namePaths = []
  }

  // MARK: Paths and connections

  /// The port to connect to, which routing rules may look at.
  private var port: UInt16 { proxy?.port ?? url.port }

  private func findPaths(_ addresses: [IPAddress], isTranslated: Bool) {
    var path = configuration.path
    // A name's addresses are taken as they are: if there is a translator, the resolver has made IPv6 ones (RFC 6147).
    path.usesNAT64 = isTranslated
    let targets = addresses.map { ReachabilityTarget.address($0, port: port) }
    // Asked here: a monitor would have to be told to watch, wake the engine, and be waited for.
    let now = targets.map { Reachability.now($0, configuration: path, environment: engine.reachability) }
    // What only a lookup tells, the prefix of a translator, takes a monitor.
    if !now.contains(where: { $0.reason == .nameNotResolved }) { return send(.pathsKnown(addresses, now)) }
    let paths = targets.map { engine.monitors.path(to: $0, path) }
    let wait = PathWait(paths, loop) { [self] wait, states in
      pathWaits.removeAll { $0 === wait }
      send(.pathsKnown(addresses, states))
    }
    pathWaits.append(wait)
    wait.start()
  }

  private func startRace(_ routes: [Route], isOpen: Bool) {
    precondition(race == nil && exchange == nil, "One connection at a time")
    let race = ConnectionRace(
      routes, isOpen: isOpen, loop,
      makeAttempt: { [port, configuration, loop] in SocketAttempt($0, port: port, configuration, loop) }
    ) { [self] result, last in
      self.race = nil
      switch result {
      case .success((let channel, let winner)):
        exchange = Exchange(
          channel, to: url, by: proxy, configuration, time: engine.network.time
        ) { [self] in send($0) }
        send(.connected(winner))
      case .failure(let error): send(.notConnected(error, last: last))
      }
    }
    self.race = race
    race.start()
  }

  private func closeConnection() {
    guard let exchange else { return }
    configuration.received = exchange.details.received
    hasHead = hasHead || exchange.hasHead
    isPinned = exchange.isPinned
    // Held until then: a check that ends meanwhile waits for it, too.
    exchange.close { [self] in
      self.exchange = nil
      send(.connectionClosed)
    }
  }
}

/// Starts and cancels a check on its event loop, from any thread, in either order.
struct CheckHandle: Sendable {
  private enum State {
    case notStarted
    case running(CheckRun)
    case cancelled
  }

  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>

  init(_ loop: any EventLoop) {
    self.loop = loop
    state = NIOLoopBoundBox.makeBoxSendingValue(.notStarted, eventLoop: loop)
  }

  func start(_ make: @escaping @Sendable () -> CheckRun) {
    loop.execute {
      let run = make()
      if case .cancelled = state.value { return run.cancel() }
      state.value = .running(run)
      run.start()
    }
  }

  func cancel() {
    loop.execute {
      if case .running(let run) = state.value { run.cancel() }
      state.value = .cancelled
    }
  }
}
