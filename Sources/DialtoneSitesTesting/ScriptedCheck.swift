// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites
internal import DialtoneTesting

/// One check of a scripted site: does on the script what `CheckStateMachine` wants done, as `CheckRun` does for a real
/// site.
///
/// What the script knows is known at once, at the time that the check has reached. That time goes on only while there
/// is something to wait for, and then to the very time for which it waited, however far a test has moved the clock. So
/// what a check comes to does not depend on how soon it runs.
struct ScriptedCheck {
  private typealias Action = CheckStateMachine.Action
  private typealias Event = CheckStateMachine.Event

  /// What a check waits for.
  private enum Arrival: Sendable {
    /// A time that it waited for has come.
    case time
    case event(Event)
  }

  private enum Step {
    case event(Event)
    /// The check fails as the script says.
    case fail(SiteVerdict.Kind, SiteVerdict.Stage?, SiteError)
  }

  private struct Timer {
    let due: Int64
    let step: Step
  }

  private let url: SiteURL
  private let configuration: SiteCheckConfiguration
  private let answer: ScriptedAnswer
  private let reachability: ReachabilityEnvironment
  private let clock: ManualClock
  private let began: ManualClock.Instant
  /// Held, so that it is not started and ended with each question about a path.
  private let engine: NetworkEngine

  private var machine: CheckStateMachine
  /// Nanoseconds since the check began, up to where it has come.
  private var uptime: Int64 = 0
  private var events: [Event] = []
  private var timers: [Timer] = []
  private var deadline = Int64.max
  /// What the check has come to.
  private var outcome: Result<SiteVerdict, any Error>?
  private var watchesNamePaths = false
  private var route: Route?

  // What is under way.
  private let arrivals: AsyncStream<Arrival>
  private let arrived: AsyncStream<Arrival>.Continuation
  private var tickets: [NameLookupPool.Ticket] = []
  private var pathTasks: [Task<Void, Never>] = []

  /// A check that began at `began`.
  init(
    of url: SiteURL, _ configuration: SiteCheckConfiguration, _ answer: ScriptedAnswer,
    on reachability: ReachabilityEnvironment, clock: ManualClock, since began: ManualClock.Instant
  ) {
    self.url = url
    self.configuration = configuration
    self.answer = answer
    self.reachability = reachability
    self.clock = clock
    self.began = began
    engine = reachability.provider.engine()
    let beginning = CheckStateMachine.Moment(uptime: 0, realtime: reachability.provider.time.timestamp)
    machine = CheckStateMachine(url, configuration, at: beginning)
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  /// Throws `CancellationError` if the task is cancelled.
  mutating func verdict() async throws -> SiteVerdict {
    try Task.checkCancellation()
    defer { stop() }
    perform(machine.start())
    var iterator = arrivals.makeAsyncIterator()
    while true {
      while outcome == nil, !events.isEmpty { perform(machine.handle(events.removeFirst(), at: moment)) }
      if let outcome { return try outcome.get() }
      if !takeDue() {
        let timer = wake(at: min(deadline, timers.map(\.due).min() ?? .max))
        let arrival = await iterator.next()
        timer.cancel()
        take(arrival)
      }
    }
  }

  private func stop() {
    stopLookups()
    for task in pathTasks { task.cancel() }
  }

  private func stopLookups() { for ticket in tickets { ticket.cancel() } }

  // MARK: Time

  private var now: Int64 { began.duration(to: clock.now).nanosecondsClamped }

  private var timestamp: UTCTimestamp { reachability.provider.time.timestamp }

  private var moment: CheckStateMachine.Moment {
    CheckStateMachine.Moment(uptime: uptime, realtime: timestamp, namePaths: namePaths, attempt: route)
  }

  private func wake(at due: Int64) -> Task<Void, Never> {
    Task { [clock, arrived, began] in
      do {
        try await clock.sleep(until: began.advanced(by: .nanoseconds(due)))
        arrived.yield(.time)
      } catch {
        // Something else has come first.
      }
    }
  }

  /// Hands in what is due first, if anything is. Of two things at the same time, the deadline comes first.
  private mutating func takeDue() -> Bool {
    let first = timers.indices.min { timers[$0].due < timers[$1].due }
    let due = min(deadline, first.map { timers[$0].due } ?? .max)
    if due > now { return false }
    uptime = max(uptime, due)
    guard let first, timers[first].due < deadline else {
      events.append(.deadlinePassed)
      return true
    }
    switch timers.remove(at: first).step {
    case .event(let event): events.append(event)
    case .fail(let kind, let stage, let error):
      outcome = .success(
        SiteVerdict(
          url: url, kind: kind, stage: stage, error: error, address: route?.address, interface: route?.interface,
          timings: SiteVerdict.Timings(total: .nanoseconds(uptime)), timestamp: timestamp))
    }
    return true
  }

  private mutating func take(_ arrival: Arrival?) {
    switch arrival {
    case nil: events.append(.cancelled)
    case .time: break
    case .event(let event):
      uptime = max(uptime, now)
      events.append(event)
    }
  }

  private mutating func hand(in event: Event, after delay: Duration) {
    timers.append(Timer(due: uptime.addingClamped(delay.nanosecondsClamped), step: .event(event)))
  }

  // MARK: Actions

  private mutating func perform(_ actions: [Action]) { for action in actions { perform(action) } }

  private mutating func perform(_ action: Action) {
    switch action {
    case .setDeadline(let uptime): deadline = uptime
    case .findTrust: events.append(.trustFound(nil))
    case .lookUp(let name, let families): lookUp(name, families)
    case .watchPathToInternet, .watchPathsToNameServers, .waitForNamePaths:
      watchesNamePaths = true
      events.append(.namePathsKnown)
    case .leaveNames: watchesNamePaths = false
    case .setResolutionDelay: hand(in: .resolutionDelayPassed, after: .milliseconds(50))
    case .setNamePatience: hand(in: .namesTookLong, after: .seconds(1))
    case .stopLookups: stopLookups()
    case .findPaths(let addresses, let isTranslated): findPaths(addresses, isTranslated: isTranslated)
    case .race(let routes, _):
      route = routes.first
      connect()
    case .addRoutes, .closeRace: break  // the first one counts
    case .openTunnel: preconditionFailure("A scripted site is asked by no proxy")
    case .startTLS: startTLS()
    case .ask(let method): ask(method)
    case .readBody: readBody()
    case .closeConnection: events.append(.connectionClosed)
    case .end(let verdict): outcome = verdict.map { .success($0) } ?? .failure(CancellationError())
    }
  }

  // MARK: Names and paths

  /// A lookup never waits for a thread.
  private mutating func lookUp(_ name: HostName, _ families: [IPAddress.Family]) {
    events.append(.lookupBegan(at: uptime, servers: []))
    for family in families {
      if let result = reachability.provider.lookup(name.ascii, family) {
        events.append(.lookupEnded(family, result))
        continue
      }
      let question = NameQuestion(name: name.ascii, family: family)
      tickets.append(
        reachability.provider.names.submit(
          question, by: reachability.provider.lookup,
          answer: { [arrived] in arrived.yield(.event(.lookupEnded(family, $0))) }))
    }
  }

  private var namePaths: [Reachability?] {
    if !watchesNamePaths { return [] }
    return [Reachability.now(.internet, configuration: configuration.path, environment: reachability)]
  }

  private mutating func findPaths(_ addresses: [IPAddress], isTranslated: Bool) {
    var path = configuration.path
    path.usesNAT64 = isTranslated
    let targets = addresses.map { ReachabilityTarget.address($0, port: url.port) }
    let states = targets.map { Reachability.now($0, configuration: path, environment: reachability) }
    if !states.contains(where: { $0.reason == .nameNotResolved }) {
      events.append(.pathsKnown(addresses, states))
      return
    }
    // The network's NAT64 is looked for first.
    pathTasks.append(
      Task { [reachability, arrived, path] in
        var states: [Reachability] = []
        for target in targets {
          let monitor = ReachabilityMonitor(target, configuration: path, environment: reachability)
          // The first that is known; none if the task is cancelled.
          for await state in monitor.updates {
            states.append(state)
            break
          }
        }
        if states.count == targets.count { arrived.yield(.event(.pathsKnown(addresses, states))) }
      })
  }

  // MARK: The answer

  /// Plays what the script says, once the answer's delay has passed since the check began.
  private mutating func play(_ steps: Step...) {
    let due = max(uptime, answer.delay.nanosecondsClamped)
    timers += steps.map { Timer(due: due, step: $0) }
  }

  private mutating func connect() {
    guard let route else { return }
    switch answer.storage {
    case .failure(let kind, .name?, let error): play(.fail(kind, .name, error))
    case .failure(_, .connect?, let error): play(.event(.notConnected(error, last: route)))
    case .response, .portal, .failure, .nothing: events.append(.connected(route))
    }
  }

  private mutating func startTLS() {
    let expires = answer.certificateExpires
    switch answer.storage {
    case .failure(let kind, .tls?, let error): play(.fail(kind, .tls, error))
    case .failure(.intercepted, _, let error): play(.event(.tlsFailed(error, certificateExpires: expires)))
    case .portal: play(.event(.tlsAgreed(CheckStateMachine.PeerCertificate(expires: expires, isForSite: false))))
    case .response, .failure, .nothing:
      if let expires, expires < timestamp {
        let error = SiteError(.certificateExpired, "the certificate has expired")
        play(.event(.tlsFailed(error, certificateExpires: expires)))
      } else {
        events.append(.tlsAgreed(CheckStateMachine.PeerCertificate(expires: expires, isForSite: true)))
      }
    }
  }

  private mutating func ask(_ method: SiteCheckConfiguration.Method) {
    func head(_ status: Int, _ location: String?, _ length: Int) -> Event {
      let locations = location.map { [$0] } ?? []
      let head = VerdictRules.Head(method: method, status: status, locations: locations, contentLength: length)
      return .head(head, isHTTP: true)
    }
    switch answer.storage {
    case .failure(let kind, .request?, let error): play(.fail(kind, .request, error))
    case .failure(let kind, let stage, let error):
      events.append(.requestSent)
      play(.fail(kind, stage, error))
    case .nothing: events.append(.requestSent)
    case .response(let status, let location, let body):
      events.append(.requestSent)
      play(.event(.firstByte), .event(head(status, location, body.utf8.count)))
    case .portal:
      events.append(.requestSent)
      play(.event(.firstByte), .event(head(302, "http://login.example/", 0)))
    }
  }

  private mutating func readBody() {
    guard case .response(_, _, let body) = answer.storage else { return }
    events.append(.body(VerdictRules.Body(whole: body, lookingFor: configuration.expectation.bodyText)))
  }
}
