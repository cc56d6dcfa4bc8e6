// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// From the URL to the addresses that can be tried.
extension CheckRun {
  /// Who is connected to: the site, or the proxy in its place.
  private var peer: SiteURL.Host { proxy?.host ?? url.lookupHost }

  func findName() {
    switch peer {
    case .address(let address): findPaths([address], isTranslated: true)
    case .name(let name):
      let run = NIOLoopBound(self, eventLoop: loop)
      // Begun beside the look-up, and known when that fails, or the deadline comes.
      paths = [engine.paths.path(to: .internet, configuration.path)]
      whenPathsAreKnown { $0.findPathsToNameServers() }
      waitForTurn()
      inquiry = engine.names.ask(
        name.text, configuration.family,
        begun: { [loop] servers in
          let time = NIODeadline.now()
          loop.execute { run.value.lookupBegan(time, servers) }
        }
      ) { [loop] result in
        loop.execute { run.value.nameWasFound(result) }
      }
    }
  }

  private func lookupBegan(_ time: NIODeadline, _ servers: [IPAddress]) {
    turnCame(time)
    nameServers = servers
    findPathsToNameServers()
  }

  /// Where there is no path to the Internet, there may be one to a name server.
  private func findPathsToNameServers() {
    guard !hasEnded, stage == .name, paths.count == 1, let internet = paths[0].known, !configuration.isUsable(internet)
    else { return }
    // Whoever resolves names knows nothing of the interface that was asked for.
    paths += nameServers.map { engine.paths.path(to: .address($0), ReachabilityConfiguration()) }
  }

  private func nameWasFound(_ result: NameLookupResult) {
    if hasEnded { return }
    inquiry = nil
    // Where the two crossed.
    turnCame(.now())
    switch result {
    case .addresses(let addresses):
      timings.name = begin(.connect)
      // What the name leads to is judged before where there is a path.
      var wanted = addresses
      if configuration.requiresPublicAddress, proxy == nil {
        wanted.removeAll(where: \.isPrivate)
        if wanted.isEmpty, let first = addresses.first { return endHijacked(to: first) }
      }
      let order = AddressOrder.interleaved(wanted) { $0.family }
      findPaths(Array(order.prefix(Limits.addresses)), isTranslated: false)
    case .noAddress:
      hasNoAddress = true
      findPathToNames(SiteError(.nameNotResolved, "\(nameInWords) has no address"))
    case .failed: findPathToNames(SiteError(.nameNotResolved, "\(nameInWords) could not be looked up"))
    }
  }

  private var nameInWords: String { proxy == nil ? "the name" : "the proxy's name" }

  /// A name has not been found: is there any path at all, by which it could have been?
  private func findPathToNames(_ error: SiteError) {
    whenPathsAreKnown { run in
      run.findPathsToNameServers()
      run.whenPathsAreKnown { $0.fail(error) }
    }
  }

  /// Whether there is a path at all, as far as is known. Only in the stage of the name.
  ///
  /// Whom a name server on this machine asks in turn, nobody says. So the Internet's path stands for the one that is needed, unless the
  /// server has answered.
  var isPathToNamesThere: Bool {
    guard let internet = paths.first?.known else { return true }
    return configuration.isUsable(internet)
      || paths.dropFirst().contains { path in
        guard let state = path.known else { return true }
        return configuration.isUsable(state) && (hasNoAddress || !state.flags.contains(.isLocalAddress))
      }
  }

  private func findPaths(_ addresses: [IPAddress], isTranslated: Bool) {
    if stage == .name { begin(.connect) }
    var path = configuration.path
    // A name's addresses stand for themselves: where there is a translator, the resolver has made IPv6 ones (RFC 6147).
    path.nat64 = isTranslated ? .automatic : .off
    paths = addresses.map { engine.paths.path(to: .address($0), path) }
    whenPathsAreKnown { run in run.pathsAreKnown(addresses) }
  }

  /// Goes on at once where all is known, as it is while other checks go the same way.
  private func whenPathsAreKnown(_ next: @escaping (CheckRun) -> Void) {
    pathObservation?.cancel()
    pathObservation = nil
    pathWait += 1
    guard let unknown = paths.first(where: { $0.known == nil }) else { return next(self) }
    let bound = NIOLoopBound((run: self, next: next), eventLoop: loop)
    pathObservation = unknown.monitor.observe { [loop, wait = pathWait] _ in
      loop.execute {
        let (run, next) = bound.value
        // Several may be on their way to the loop.
        if !run.hasEnded, run.pathWait == wait { run.whenPathsAreKnown(next) }
      }
    }
  }

  private func pathsAreKnown(_ addresses: [IPAddress]) {
    let states = paths.map { $0.known ?? .unknown }
    routes = zip(addresses, states).compactMap { address, state in
      guard configuration.isUsable(state) else { return nil }
      switch state.status {
      case .unreachable: return nil
      // The kernel is not asked, or does not say: the attempt will tell.
      case .undetermined: return Route(address: address, interface: nil)
      case .reachable, .requiresConnection:
        // Another address only where a translator stands between.
        let isTranslated = state.destination.map { $0.family != address.unmapped.family } ?? false
        return Route(address: isTranslated ? state.destination ?? address : address, interface: state.interface)
      }
    }
    if routes.isEmpty {
      let reason = states.lazy.compactMap(\.reason).first
      return endOffline(SiteError(.noPath, "no path to the site: \(reason.map(\.description) ?? "none is known")"))
    }
    routes = AddressOrder.interleaved(routes) { $0.address.family }
    connect(rules.firstMethod)
  }

  private func endHijacked(to address: IPAddress) {
    let error = SiteError(.privateAddress, "the name leads only to private addresses, such as \(address)")
    route = Route(address: address, interface: nil)
    end(.intercepted, error: error)
  }

  func endOffline(_ error: SiteError) { end(.offline, error: error) }
}
