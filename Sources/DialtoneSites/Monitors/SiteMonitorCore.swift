// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What a monitor of a site is made of: the path, the machine that decides, one timer and one check.
///
/// Invariants: events are taken in one at a time, under the lock. What the machine wants done is begun there, in its
/// order; nothing of that waits, and none of it is user code. An event of a path, a timer or a check carries its epoch.
/// If it belongs to what was watched before, it changes nothing. Handlers are called by threads of the engine, outside
/// the lock.
final class SiteMonitorCore: Sendable {
  private struct State {
    var sites: SitePair
    var configuration: SiteMonitorConfiguration
    var machine: SiteMonitorStateMachine
    var epoch = Epoch()
    var path: ReachabilityObservation?
    var check: Task<Void, Never>?
    var timer: DeliveryTimer?
    /// `nil` while paused, and at the end.
    var engine: NetworkEngine?
    /// Held from the first check on, also while there is no path: its threads cost nothing while they sleep, and what a
    /// check needs of the system is there. `nil` while paused, and at the end.
    var siteEngine: SiteEngine?
  }

  let cell: StateCell<SiteVerdict>
  private let provider: SiteEngineProvider
  private let forkCount = ForkCount.current
  private let state: Lock<State>

  init(_ sites: SitePair, _ configuration: SiteMonitorConfiguration, _ provider: SiteEngineProvider) {
    self.provider = provider
    cell = StateCell(unknown: SiteVerdict(url: sites.primary, kind: .undetermined))
    state = Lock(State(sites: sites, configuration: configuration, machine: SiteMonitorStateMachine(configuration)))
  }

  /// The engine that watches; the environment's while paused.
  var engine: NetworkEngine { state.withLock { $0.engine } ?? provider.reachability.provider.engine() }

  /// The newest verdict. In a child of fork(2) nothing goes on, so there is none: it would be the parent's.
  var current: SiteVerdict {
    forkCount == ForkCount.current ? cell.current : SiteVerdict(url: sites.primary, kind: .undetermined)
  }

  var sites: SitePair { state.withLock { $0.sites } }

  var configuration: SiteMonitorConfiguration { state.withLock { $0.configuration } }

  var isChecking: Bool { state.withLock { $0.machine.isChecking } }

  var isPaused: Bool { state.withLock { $0.engine == nil } }

  // MARK: Beginning, change, end

  /// Begins to watch, or goes on after `stop`.
  func start() {
    let begun = state.withLock { state -> (SitePair, SiteMonitorConfiguration, Epoch)? in
      if state.engine != nil { return nil }
      state.engine = provider.reachability.provider.engine()
      return (state.sites, state.configuration, state.epoch)
    }
    guard let (sites, configuration, epoch) = begun else { return }
    provider.monitorBegan()
    watchPath(sites, configuration, epoch)
  }

  /// Watches something else from now on.
  ///
  /// `change` runs under the lock, so that the changes of two threads at the same time are both made. It is
  /// `SiteMonitor`'s own, and short.
  func change(_ change: (inout SitePair, inout SiteMonitorConfiguration) -> Void) {
    let (begun, ended) = state.withLock {
      state -> ((SitePair, SiteMonitorConfiguration, Epoch)?, ReachabilityObservation?) in
      let (sites, configuration) = (state.sites, state.configuration)
      change(&state.sites, &state.configuration)
      if state.sites == sites && state.configuration == configuration { return (nil, nil) }
      let ended = beginAnew(&state)
      return (state.engine == nil ? nil : (state.sites, state.configuration, state.epoch), ended)
    }
    ended?.cancel()
    guard let (sites, configuration, epoch) = begun else { return }
    watchPath(sites, configuration, epoch)
  }

  /// Ends what is under way: nothing is watched until `start`.
  func stop() {
    let (path, engines) = state.withLock { state -> (ReachabilityObservation?, (NetworkEngine, SiteEngine?)?) in
      guard let engine = state.engine else { return (nil, nil) }
      let path = beginAnew(&state)
      defer {
        state.engine = nil
        state.siteEngine = nil
      }
      return (path, (engine, state.siteEngine))
    }
    if engines != nil { provider.monitorEnded() }
    // These may be the last references, whose release ends the engines: outside the lock.
    path?.cancel()
    withExtendedLifetime(engines) {}
  }

  /// Forgets what has been found. Returns the path's observation, to be ended outside the lock.
  private func beginAnew(_ state: inout State) -> ReachabilityObservation? {
    state.epoch.advance()
    state.machine = SiteMonitorStateMachine(state.configuration)
    state.check?.cancel()
    state.check = nil
    state.timer?.cancel()
    state.timer = nil
    cell.publish(SiteVerdict(url: state.sites.primary, kind: .undetermined))
    defer { state.path = nil }
    return state.path
  }

  private func watchPath(_ sites: SitePair, _ configuration: SiteMonitorConfiguration, _ epoch: Epoch) {
    let monitor = ReachabilityMonitor(
      Self.target(sites, configuration.check), configuration: configuration.check.path,
      environment: provider.reachability)
    let observation = monitor.observe { [weak self] path in
      guard let self else { return }
      // Asked here, outside the lock: it is one message to the kernel.
      let names = configuration.meteredInterfaces.isEmpty ? [] : path.interface.map(provider.alternativeNames) ?? []
      take(epoch) { [provider] machine, now, random in
        machine.pathChanged(path, alternativeNames: names, now: now, random: random) {
          provider.checkDelay(now: now, random: random)
        }
      }
    }
    let isCurrent = state.withLock { state in
      if state.epoch != epoch { return false }
      state.path = observation
      return true
    }
    if !isCurrent { observation.cancel() }
  }

  /// The host and port to connect to.
  private static func target(_ sites: SitePair, _ configuration: SiteCheckConfiguration) -> ReachabilityTarget {
    var (host, port) = (sites.primary.lookupHost, sites.primary.port)
    do throws(SiteError) {
      if let proxy = try configuration.proxyServer(for: sites.primary) { (host, port) = (proxy.host, proxy.port) }
    } catch {
      // Each check will report it.
    }
    switch host {
    case .name(let name): return ReachabilityTarget(.host(name), port: port)
    case .address(let address): return .address(address, port: port)
    }
  }

  // MARK: Events

  /// Checks now, if there is a path and no check is under way.
  func check() {
    let epoch = state.withLock { $0.epoch }
    take(epoch) { machine, now, _ in machine.checkWasAskedFor(now: now) }
  }

  /// Takes an event in, if it is about what is watched now, and does what the machine wants done.
  private func take(
    _ epoch: Epoch,
    _ event:
      @Sendable (inout SiteMonitorStateMachine, _ now: Int64, _ random: Double) -> [SiteMonitorStateMachine.Action]
  ) {
    let random = provider.random()
    let engine = state.withLock { state -> NetworkEngine? in
      guard state.epoch == epoch, let engine = state.engine else { return nil }
      let actions = event(&state.machine, engine.time.now(), random)
      for action in actions { perform(action, &state) }
      arm(&state, engine)
      return actions.contains(where: \.isReport) ? engine : nil
    }
    engine?.deliver(cell.wakeReceivers)
  }

  private func perform(_ action: SiteMonitorStateMachine.Action, _ state: inout State) {
    switch action {
    case .startCheck(let number):
      let (sites, configuration, epoch) = (state.sites, state.configuration.check, state.epoch)
      if let error = provider.shortage() {
        // No task is begun: it would wait here for a thread, with the lock. Its end is told later, because this event
        // is still being taken in.
        let verdict = SiteVerdict(of: sites.primary, without: error, at: provider.timestamp)
        _ = state.engine?.schedule(after: .zero) { [weak self] in
          self?.take(epoch) { machine, now, random in machine.checkEnded(number, verdict, now: now, random: random) }
        }
        return
      }
      state.check = Task.detached { [weak self, provider] in
        self?.hold(provider.engineToHold(), epoch)
        guard let verdict = await Self.verdict(on: sites, configuration, provider) else { return }
        self?.take(epoch) { machine, now, random in
          machine.checkEnded(number, verdict, now: now, random: random)
        }
      }
    case .cancelCheck:
      state.check?.cancel()
      state.check = nil
    case .report(let verdict): cell.publish(verdict)
    case .forget: cell.publish(SiteVerdict(url: state.sites.primary, kind: .undetermined))
    case .reportOffline(let reason, let failure):
      let error = SiteError.noPath(reason, over: state.configuration.check.interface)
      let verdict = SiteVerdict(
        url: state.sites.primary, kind: .offline, error: error, interface: state.machine.path?.interface,
        timestamp: provider.timestamp)
      cell.publish(failure.map { verdict.failing(for: $0.time, at: $0.verdict) } ?? verdict)
    }
  }

  /// Sets the timer for the machine's deadline.
  private func arm(_ state: inout State, _ engine: NetworkEngine) {
    state.timer?.cancel()
    state.timer = nil
    guard let deadline = state.machine.deadline else { return }
    let epoch = state.epoch
    let delay = max(0, deadline - engine.time.now())
    state.timer = engine.schedule(after: .nanoseconds(delay)) { [weak self] in
      self?.take(epoch) { machine, now, _ in machine.timePassed(now: now) }
    }
  }

  // MARK: Checks

  private func hold(_ engine: SiteEngine?, _ epoch: Epoch) {
    state.withLock { state in
      // If one is held, it is this one.
      if state.epoch == epoch, state.siteEngine == nil { state.siteEngine = engine }
    }
  }

  /// The verdict on one site, or on both of its URLs, asked at the same time; `nil` if the task was cancelled.
  private static func verdict(
    on sites: SitePair, _ configuration: SiteCheckConfiguration, _ provider: SiteEngineProvider
  ) async -> SiteVerdict? {
    guard let plain = sites.plain else { return await verdict(on: sites.primary, configuration, provider) }
    async let plainVerdict = verdict(on: plain, configuration, provider)
    async let secureVerdict = verdict(on: sites.primary, configuration, provider)
    guard let first = await plainVerdict, let second = await secureVerdict else { return nil }
    return SitePair.combine(plain: first, secure: second)
  }

  private static func verdict(
    on url: SiteURL, _ configuration: SiteCheckConfiguration, _ provider: SiteEngineProvider
  ) async -> SiteVerdict? {
    do {
      let verdict = try await provider.check(url, configuration)
      // What comes after a cancellation is too late: its path has gone.
      return Task.isCancelled ? nil : verdict
    } catch {
      return nil
    }
  }
}

/// What a monitor asks: one URL, or the http and the https URL of one site.
struct SitePair: Equatable, Sendable {
  var primary: SiteURL
  /// The http URL, if the primary one is https and both were given.
  var plain: SiteURL?

  /// One verdict for both. It is available if https is, and partial if only http is. Otherwise it is that of http if a
  /// portal answered, else that of https.
  static func combine(plain: SiteVerdict, secure: SiteVerdict) -> SiteVerdict {
    if secure.isAvailable || secure.kind == .offline { return secure }
    if plain.kind == .captivePortal { return plain }
    guard plain.isAvailable else { return secure }
    return SiteVerdict(
      url: secure.url, kind: .partial, status: secure.status, error: secure.error, address: secure.address,
      interface: secure.interface, certificateExpires: secure.certificateExpires, timings: secure.timings,
      // A verdict of a check has one.
      timestamp: secure.timestamp ?? .now)
  }
}
