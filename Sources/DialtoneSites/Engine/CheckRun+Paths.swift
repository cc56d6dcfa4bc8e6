// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// From the URL to the addresses that can be tried.
extension CheckRun {
  /// RFC 8305, 3: how long IPv4 addresses wait for IPv6 ones.
  private static let resolutionDelay = TimeAmount.milliseconds(50)
  /// How long a family that has not answered is waited for where no address of the other can be reached: nearly every name server answers
  /// by then that answers at all.
  private static let patience = TimeAmount.seconds(1)

  /// Who is connected to: the site, or the proxy in its place.
  private var peer: SiteURL.Host { proxy?.host ?? url.lookupHost }

  /// The port that is connected to, which routing rules may look at.
  var port: UInt16 { proxy?.port ?? url.port }

  // MARK: The name

  func findName() {
    switch peer {
    case .address(let address): findPaths([address], isTranslated: true)
    case .name(let name):
      // Begun beside the look-up, and known when that fails, or the deadline comes.
      namePaths = [engine.paths.path(to: .internet, configuration.path)]
      whenNamePathsAreKnown { $0.findPathsToNameServers() }
      let families = configuration.family.map { [$0] } ?? [.ipv6, .ipv4]
      resolution = NameResolution(
        families, requiresPublicAddress: configuration.requiresPublicAddress && proxy == nil)
      begin(.name)
      // A monitor that begins a check has mostly just looked the name up itself.
      if let addresses = engine.network.recentAddresses(of: name, configuration.family) {
        return lookupEnded(nil, .addresses(addresses))
      }
      waitForTurn()
      // Each by itself: a network that drops one family's questions holds up the other's answers else, until the resolver gives up.
      for family in families { ask(name, family) }
    }
  }

  private func ask(_ name: HostName, _ family: IPAddress.Family) {
    let run = NIOLoopBound(self, eventLoop: loop)
    inquiries[family] = engine.names.ask(
      name.text, family,
      begun: { [loop] servers in
        let time = NIODeadline.now()
        loop.execute { run.value.lookupBegan(time, servers) }
      }
    ) { [loop] result in
      loop.execute { run.value.lookupEnded(family, result) }
    }
  }

  private func lookupBegan(_ time: NIODeadline, _ servers: [IPAddress]) {
    turnCame(time)
    nameServers = servers
    findPathsToNameServers()
  }

  /// Where there is no path to the Internet, there may be one to a name server.
  private func findPathsToNameServers() {
    guard !hasEnded, stage == .name, namePaths.count == 1, let internet = namePaths[0].known,
      !configuration.isUsable(internet)
    else { return }
    // Whoever resolves names knows nothing of the interface that was asked for. They are asked by UDP, on port 53 (RFC 1035, 4.2).
    var path = ReachabilityConfiguration()
    path.transport = .udp
    namePaths += nameServers.map { engine.paths.path(to: .address($0, port: 53), path) }
  }

  /// The look-up of one family has ended, or of both where it is `nil`.
  private func lookupEnded(_ family: IPAddress.Family?, _ result: NameLookupResult) {
    if hasEnded { return }
    if let family { inquiries[family] = nil }
    // Where the two crossed.
    turnCame(.now())
    guard let step = resolution?.ended(family, result) else { return }
    act(on: step)
    // Whoever waits for this answer to tell how it stands.
    if !mayGetMoreRoutes { routesAreComplete() }
  }

  private func act(on step: NameResolution.Step) {
    switch step {
    case .wait: break
    case .waitForIPv6:
      let task = loop.assumeIsolated().scheduleTask(in: Self.resolutionDelay) { [self] in
        if !hasEnded, let step = resolution?.delayPassed() { act(on: step) }
      }
      nameTimers.append(task)
    case .connect(let addresses):
      if stage == .name {
        timings.name = begin(.connect)
        leaveNames()
        if resolution?.isOpen ?? false {
          let task = loop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in stopWaitingForNames() }
          nameTimers.append(task)
        }
      }
      // What the name leads to is judged before where there is a path.
      let order = AddressOrder.interleaved(addresses, after: routes.last?.address.unmapped.family) {
        $0.unmapped.family
      }
      findPaths(Array(order.prefix(Limits.addresses)), isTranslated: false)
    case .fail(.hijacked(let address)): endHijacked(to: address)
    case .fail(.unspecified(let address)):
      let words = "\(nameInWords) leads only to \(address), which is no destination"
      findPathToNames(SiteError(.nameNotResolved, words))
    case .fail(.noAddress): findPathToNames(SiteError(.nameNotResolved, "\(nameInWords) has no address"))
    case .fail(.failed): findPathToNames(SiteError(.nameNotResolved, "\(nameInWords) could not be looked up"))
    case .fail(.exhausted(let errno)):
      let words = "\(nameInWords) could not be looked up: \(SiteError.text(errno: errno))"
      findPathToNames(SiteError(.nameNotResolved, words, errno: errno))
    }
  }

  /// What is known is enough, or all that will be: a family that has not answered by now is not waited for any more.
  private func stopWaitingForNames() {
    if hasEnded { return }
    resolution?.close()
    for inquiry in inquiries.values { inquiry.cancel() }
    inquiries = [:]
    if !mayGetMoreRoutes { routesAreComplete() }
  }

  private var nameInWords: String { proxy == nil ? "the name" : "the proxy's name" }

  /// The paths that names are found by are of no interest any more.
  private func leaveNames() {
    namePathWait?.cancel()
    namePathWait = nil
    namePaths = []
  }

  /// A name has not been found: is there any path at all, by which it could have been?
  private func findPathToNames(_ error: SiteError) {
    whenNamePathsAreKnown { run in
      run.findPathsToNameServers()
      run.whenNamePathsAreKnown { $0.fail(error) }
    }
  }

  private func whenNamePathsAreKnown(_ next: @escaping (CheckRun) -> Void) {
    namePathWait?.cancel()
    let wait = PathWait(namePaths, loop) { [self] _, _ in
      if !hasEnded { next(self) }
    }
    namePathWait = wait
    wait.start()
  }

  /// Why there is no path at all, as far as is known; `nil` where there is one, or may be. Only in the stage of the name.
  ///
  /// Whom a name server on this machine asks in turn, nobody says. So the Internet's path stands for the one that is needed, unless the
  /// server has answered.
  var missingPathToNames: SiteError? {
    guard let internet = namePaths.first?.known, !configuration.isUsable(internet) else { return nil }
    let servers = namePaths.dropFirst()
    let isOneThere = servers.contains { path in
      guard let state = path.known else { return true }
      return configuration.isUsable(state)
        && (resolution?.hasNoAddress ?? false || !state.flags.contains(.isLocalAddress))
    }
    if isOneThere { return nil }
    // The Internet's reason: that a server is not reached is part of it.
    let reason = internet.reason.map(\.description) ?? "no reason is known"
    return SiteError(.noPath, "no path to look \(nameInWords) up: \(reason)")
  }

  // MARK: The paths

  private func findPaths(_ addresses: [IPAddress], isTranslated: Bool) {
    if stage == .name { begin(.connect) }
    var path = configuration.path
    // A name's addresses stand for themselves: where there is a translator, the resolver has made IPv6 ones (RFC 6147).
    path.nat64 = isTranslated ? .automatic : .off
    let paths = addresses.map { engine.paths.path(to: .address($0, port: port), path) }
    let wait = PathWait(paths, loop) { [self] wait, states in
      pathWaits.removeAll { $0 === wait }
      if !hasEnded { pathsAreKnown(addresses, states) }
    }
    pathWaits.append(wait)
    wait.start()
  }

  /// Whether another route may still be found.
  var mayGetMoreRoutes: Bool { resolution?.isOpen ?? false || !pathWaits.isEmpty }

  private func pathsAreKnown(_ addresses: [IPAddress], _ states: [Reachability]) {
    let new = zip(addresses, states).compactMap { address, state -> Route? in
      guard configuration.isUsable(state) else {
        noteMissingPath(address, state)
        return nil
      }
      switch state.status {
      case .unreachable: return nil
      // The kernel is not asked, or does not say: the attempt will tell.
      case .undetermined: return Route(address: address, interface: nil)
      case .reachable, .requiresConnection:
        // Another address only where a translator stands between.
        let isTranslated = state.destination.map { $0.family != address.unmapped.family } ?? false
        return Route(
          address: isTranslated ? state.destination ?? address : address, interface: state.interface,
          gateway: state.gateway, source: state.source)
      }
    }
    let isFirst = routes.isEmpty
    routes = isFirst ? AddressOrder.preferred(new) : routes + new
    if let race {
      race.add(new)
    } else if isFirst, !routes.isEmpty {
      connect(rules.firstMethod)
    }
    if !mayGetMoreRoutes { routesAreComplete() }
  }

  /// Keeps why there is no path: of several reasons the first that says more than that there is no route.
  private func noteMissingPath(_ address: IPAddress, _ state: Reachability) {
    if let known = missingPath?.state.reason, known != .noRoute || state.reason == .noRoute { return }
    missingPath = (address, state)
  }

  /// No more routes will come.
  private func routesAreComplete() {
    race?.close()
    guard !hasEnded, stage == .connect, routes.isEmpty, let (address, state) = missingPath else { return }
    route = Route(address: address, interface: state.interface)
    endOffline(SiteError(.noPath, "no path to the site: \(state.reason.map(\.description) ?? "no reason is known")"))
  }

  private func endHijacked(to address: IPAddress) {
    timings.name = begin(.connect)
    let error = SiteError(.privateAddress, "the name leads only to addresses that are not public, such as \(address)")
    route = Route(address: address, interface: nil)
    end(.intercepted, error: error)
  }

  func endOffline(_ error: SiteError) { end(.offline, error: error) }
}
