// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// One check, from the URL to the verdict. Pure: event in, actions out. `CheckRun` performs them, and for scripted
/// sites `ScriptedCheck`.
///
/// Invariants: it ends once, by the one `end` among its actions; after that no event changes anything. There is one
/// race or one connection at a time. The end of one stage begins the next, except that the search for addresses goes on
/// beside the later ones.
package struct CheckStateMachine {
  enum State {
    /// What vouches for the site is read. This comes first, so that no connection is open while it takes long.
    case trust
    case name(NameState)
    /// There are addresses, but no path is known yet by which to try one.
    case paths
    case connecting(SiteCheckConfiguration.Method)
    case exchanging(ExchangeState)
    case ended
  }

  struct NameState {
    /// Whether all threads are busy with other names. Until one is free, no time passes for the check, unless it has an
    /// inspection: then somebody waits for it.
    var isWaitingForThread = true
    /// The servers that are asked; none until the lookup has begun, or if they are not known.
    var servers: [IPAddress] = []
    /// Why the name was not found; told once the paths to names are known.
    var failure: SiteError?
  }

  struct ExchangeState {
    let method: SiteCheckConfiguration.Method
    var head: VerdictRules.Head?
    /// The method of the request that the connection is being closed to make way for.
    var next: SiteCheckConfiguration.Method?
  }

  let url: SiteURL
  private let configuration: SiteCheckConfiguration
  let proxy: ProxyServer?
  let inspection: SiteInspection?
  let rules: VerdictRules
  var state: State
  var search: AddressSearch
  var clock: StageClock
  var moment: Moment
  /// Why nothing can vouch for the site. It counts once TLS is to begin.
  var trustError: SiteError?
  /// Where the connection goes, or the last attempt went.
  var route: Route?
  /// When the certificate that was shown last ends, since 1970.
  var certificateExpires: UTCTimestamp?

  package init(
    _ url: SiteURL, _ configuration: SiteCheckConfiguration, _ proxy: ProxyServer? = nil, at moment: Moment
  ) {
    self.url = url
    self.configuration = configuration
    self.proxy = proxy
    self.moment = moment
    inspection = configuration.inspection
    rules = VerdictRules(url: url, configuration: configuration)
    state = .trust
    search = AddressSearch(configuration)
    clock = StageClock(.tls, at: moment.uptime)
  }

  /// What to do first.
  package mutating func start() -> [Action] { [deadline] + (url.isSecure ? [.findTrust] : findName()) }

  /// Takes an event in. One that does not belong to the present state is late, and changes nothing.
  package mutating func handle(_ event: Event, at moment: Moment) -> [Action] {
    self.moment = moment
    switch (state, event) {
    case (.ended, _): return []
    case (_, .cancelled):
      state = .ended
      return [.end(nil)]
    case (_, .deadlinePassed): return fail(timeout)
    case (.trust, .trustFound(let error)):
      trustError = error
      return findName()
    case (.name(let name), .lookupBegan(let time, let servers)): return lookupBegan(time, servers, name)
    case (.name(let name), .namePathsKnown): return namePathsAreKnown(name)
    // These may come while an address is tried, or has answered.
    case (_, .lookupEnded(let family, let result)): return lookupEnded(family, result)
    case (_, .resolutionDelayPassed): return act(on: search.resolution?.delayPassed() ?? .wait)
    case (_, .namesTookLong):
      search.resolution?.close()
      return [.stopLookups] + searchMayBeOver()
    case (_, .pathsKnown(let addresses, let states)): return pathsAreKnown(addresses, states)
    case (.connecting(let method), .connected(let route)): return connected(route, method)
    case (.connecting, .notConnected(let error, let last)):
      route = last
      return fail(error)
    case (.exchanging(let exchange), _): return handle(event, exchange)
    default: return []
    }
  }

  // MARK: The end

  /// An address that the name leads to, and that may not be connected to.
  var refused: IPAddress? { search.refused }
  /// Why no packet could leave, if that ended the check.
  private(set) var pathReason: Reachability.Reason?

  private var deadline: Action { .setDeadline(clock.deadline(after: configuration.timeout)) }

  private var timeout: SiteError {
    if case .name(let name) = state, name.isWaitingForThread {
      let words = "the name was not looked up within \(configuration.timeout), others are still under way"
      return SiteError(.timedOut, words)
    }
    return SiteError(.timedOut, "no answer within \(configuration.timeout)")
  }

  /// Ends the check where it stands: the present stage has failed.
  mutating func fail(_ error: SiteError) -> [Action] {
    if case .name = state, let missing = missingPathToNames {
      pathReason = moment.namePaths.first??.reason
      return end(.offline, error: missing)
    }
    return end(.failed, stage: clock.stage, error: error)
  }

  mutating func end(
    _ kind: SiteVerdict.Kind, status: Int? = nil, location: String? = nil, stage: SiteVerdict.Stage? = nil,
    error: SiteError? = nil
  ) -> [Action] {
    var (kind, error) = (kind, error)
    let now = moment.realtime
    if kind == .available, let cause = rules.lifetimeError(certificateExpires: certificateExpires, now: now) {
      (kind, error) = (.unexpectedResponse, cause)
    }
    state = .ended
    // If the deadline ends the check while addresses are tried, it is the one tried last.
    let route = moment.attempt ?? route
    return [
      .end(
        SiteVerdict(
          url: url, kind: kind, status: status, location: location, stage: stage, error: error, address: route?.address,
          interface: route?.interface, certificateExpires: certificateExpires,
          timings: clock.timings(at: moment.uptime), timestamp: now))
    ]
  }

  // MARK: The name

  /// The name that is looked up, or the address: the site's, or the proxy's in its place.
  private var peer: SiteURL.Host { proxy?.host ?? url.lookupHost }

  private var nameInWords: String { proxy == nil ? "the name" : "the proxy's name" }

  private mutating func findName() -> [Action] {
    switch peer {
    case .address(let address): return findPaths([address], isTranslated: true)
    case .name(let name):
      clock.begin(.name, at: moment.uptime)
      state = .name(NameState())
      let families = search.beginName(requiresPublicAddress: configuration.requiresPublicAddress && proxy == nil)
      // The Internet's path is watched beside the lookup: it is known when that fails, or when the deadline comes.
      return [
        .watchPathToInternet, .lookUp(name, families),
        inspection == nil ? .setDeadline(clock.stageDeadline(after: configuration.timeout)) : deadline,
      ]
    }
  }

  private mutating func lookupBegan(_ time: Int64, _ servers: [IPAddress], _ name: NameState) -> [Action] {
    var name = name
    let actions = waitEnded(&name, at: time)
    name.servers = servers
    state = .name(name)
    return actions + watchNameServers(name)
  }

  /// A thread has been looking the name up since `time`: from then on, the check's time counts.
  private mutating func waitEnded(_ name: inout NameState, at time: Int64) -> [Action] {
    if !name.isWaitingForThread { return [] }
    name.isWaitingForThread = false
    if inspection != nil { return [] }
    clock.skip(until: time)
    return [deadline]
  }

  /// If there is no path to the Internet, there may be one to a name server.
  private func watchNameServers(_ name: NameState) -> [Action] {
    guard moment.namePaths.count == 1, let internet = moment.namePaths[0], !configuration.isUsable(internet),
      !name.servers.isEmpty
    else { return [] }
    return [.watchPathsToNameServers(name.servers)]
  }

  private mutating func lookupEnded(_ family: IPAddress.Family?, _ result: NameLookupResult) -> [Action] {
    var actions: [Action] = []
    if case .name(var name) = state {
      // The lookup's end may come before its beginning.
      actions = waitEnded(&name, at: moment.uptime)
      state = .name(name)
    }
    actions += act(on: search.resolution?.ended(family, result) ?? .wait)
    return actions + searchMayBeOver()
  }

  private mutating func act(on step: NameResolution.Step) -> [Action] {
    switch step {
    case .wait: return []
    case .waitForIPv6: return [.setResolutionDelay]
    case .connect(let addresses):
      guard case .name = state else { return findPaths(addresses, isTranslated: false) }
      clock.timings.name = clock.begin(.connect, at: moment.uptime)
      let patience: [Action] = search.isOpen ? [.setNamePatience] : []
      return [.leaveNames] + patience + findPaths(addresses, isTranslated: false)
    case .fail(.hijacked(let address)):
      clock.timings.name = clock.begin(.connect, at: moment.uptime)
      route = Route(address: address, interface: nil)
      let words = "the name leads only to addresses that are not public, such as \(address)"
      return end(.intercepted, error: SiteError(.privateAddress, words))
    case .fail(.unspecified(let address)): return nameFailed("leads only to \(address), which is no destination")
    case .fail(.noAddress): return nameFailed("has no address")
    case .fail(.failed): return nameFailed("could not be looked up")
    case .fail(.exhausted(let errno)):
      return nameFailed("could not be looked up: \(SiteError.text(errno: errno))", errno: errno)
    }
  }

  /// The name was not found. Waits for the paths, to learn whether there was any by which it could have been.
  private mutating func nameFailed(_ words: String, errno: CInt? = nil) -> [Action] {
    guard case .name(var name) = state else { return [] }
    name.failure = SiteError(.nameNotResolved, "\(nameInWords) \(words)", errno: errno)
    state = .name(name)
    return [.waitForNamePaths]
  }

  private mutating func namePathsAreKnown(_ name: NameState) -> [Action] {
    let watch = watchNameServers(name)
    guard let failure = name.failure else { return watch }
    return watch.isEmpty ? fail(failure) : watch + [.waitForNamePaths]
  }

  /// Why there is no path at all to look the name up, as far as is known; `nil` if there is one, or may be.
  ///
  /// It is not known which servers a name server on this machine asks. So the Internet's path stands for the one that
  /// is needed, unless the server has answered.
  private var missingPathToNames: SiteError? {
    guard let internet = moment.namePaths.first ?? nil, !configuration.isUsable(internet) else { return nil }
    let isAnswered = search.resolution?.hasNoAddress ?? false
    let isServerThere = moment.namePaths.dropFirst().contains { path in
      guard let state = path else { return true }
      return configuration.isUsable(state) && (isAnswered || !state.flags.contains(.isLocalAddress))
    }
    if isServerThere { return nil }
    // The Internet's reason: it covers why a server is not reached.
    return .noPath(internet.reason, to: "look \(nameInWords) up")
  }

  // MARK: The paths

  private mutating func findPaths(_ addresses: [IPAddress], isTranslated: Bool) -> [Action] {
    switch state {
    case .trust:
      clock.begin(.connect, at: moment.uptime)
      state = .paths
    case .name: state = .paths
    case .paths, .connecting, .exchanging, .ended: break
    }
    return [.findPaths(search.beginPaths(addresses), isTranslated: isTranslated)]
  }

  private mutating func pathsAreKnown(_ addresses: [IPAddress], _ states: [Reachability]) -> [Action] {
    let new = search.pathsAreKnown(addresses, states)
    if case .paths = state, !search.routes.isEmpty { return connect(rules.firstMethod) }
    guard case .connecting = state, !new.isEmpty else { return searchMayBeOver() }
    return [.addRoutes(new)] + searchMayBeOver()
  }

  /// What follows if no more routes will come.
  private mutating func searchMayBeOver() -> [Action] {
    if search.isOpen { return [] }
    switch state {
    case .connecting: return [.closeRace]
    case .paths where search.routes.isEmpty:
      if let address = search.refused {
        route = Route(address: address, interface: nil)
        return fail(SiteError(.cannotConnect, "\(address) is no address to which this check may connect"))
      }
      guard let (address, path) = search.missingPath else { return [] }
      route = Route(address: address, interface: path.interface)
      pathReason = path.reason
      return end(.offline, error: .noPath(path.reason, over: configuration.interface))
    case .trust, .name, .paths, .exchanging, .ended: return []
    }
  }
}
