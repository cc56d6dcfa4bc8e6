// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || DIALTONE_APPLE_SOURCE
internal import CDialtoneSystem
internal import Dispatch

#if DIALTONE_APPLE_SOURCE
package import Dialtone
internal import DialtoneNetwork
#else
internal import Network
#endif

/// The source for Apple's platforms: paths and their interfaces are those of `NWPathMonitor`, addresses and pairs those
/// of `SCNetworkReachability`. What neither tells, connect(2) and getifaddrs(3) do: the source address, and whether
/// there is a way over one interface.
///
/// The frameworks call back on a queue. That wakes the engine, whose thread reads what has changed; so everything
/// except ``AppleAnnouncements`` is used under the engine's lock.
///
/// Apple tells no reason: an unreachable target has `noRoute`, unless getifaddrs(3) shows another. Firewall marks do
/// not exist, so they do not count. Only paths and the Internet have gateways.
package final class AppleNetwork: NetworkSource {
  /// How often everything is asked again if not all of it is announced: there are too many addresses, or something is
  /// asked about one interface.
  private static let pollInterval: Int64 = 5_000_000_000
  /// A smaller difference of clocks is only the time between two readings.
  private static let tolerance: Int64 = 100_000_000

  let announcements: AppleAnnouncements
  private let queue = DispatchQueue(label: "dialtone")
  private let time: TimeSource
  private let make: @Sendable (() -> Void) -> Void
  private var monitors: [PathRestriction: NWPathMonitor] = [:]
  /// The addresses whose changes are announced.
  private var announced: [Dialtone.IPAddress: AddressReachability] = [:]
  /// Announces changes of the local network: the API of old took this address for it.
  private var localNetwork: AddressReachability?
  private var lastPath: NWPath?
  private var suspended: Int64
  private var hasTooManyAddresses = false
  private var hasAskedForInterface = false
  private var lastPoll: Int64

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - waiter: Woken after each change.
  ///   - time: The clock of deadlines.
  ///   - make: Runs a function that makes objects of the frameworks; a test chooses their network here.
  package init(
    _ waiter: any EventWaiter, time: TimeSource, make: @escaping @Sendable (() -> Void) -> Void = { $0() }
  ) {
    announcements = AppleAnnouncements { waiter.wake() }
    self.time = time
    self.make = make
    suspended = TimeSource.suspended()
    lastPoll = time.now()
    watch(.none)
    make {
      localNetwork = AddressReachability(Dialtone.IPAddress(ipv4: 0xA9FE_0000))
      localNetwork?.announce(to: announcements, on: queue)
    }
  }

  deinit {
    for monitor in monitors.values { monitor.cancel() }
  }

  /// Has the paths of this restriction announced.
  private func watch(_ restriction: PathRestriction) {
    if monitors[restriction] != nil { return }
    make {
      let monitor = restriction.makeMonitor()
      monitor.pathUpdateHandler = { [announcements] in announcements.update($0, of: restriction) }
      monitor.start(queue: queue)
      monitors[restriction] = monitor
    }
  }

  /// The newest path; `nil` until there is one, which will be announced.
  func path(_ restriction: PathRestriction) -> NWPath? {
    watch(restriction)
    return announcements.path(restriction)
  }

  // MARK: Changes

  package func drain(into change: inout NetworkChange) {
    if hasResumed() { change.touchesNames = true }
    guard announcements.take() else { return }
    change.markEverything()
    // The name servers may be others. Apple says only whether there are any.
    let path = announcements.path(.none)
    if path?.supportsDNS != lastPath?.supportsDNS || path?.availableInterfaces != lastPath?.availableInterfaces {
      change.touchesNames = true
    }
    lastPath = path
  }

  /// Returns whether the system was suspended since the last call.
  private func hasResumed() -> Bool {
    let now = TimeSource.suspended()
    defer { suspended = now }
    return now - suspended > Self.tolerance
  }

  package var nextPoll: Int64? {
    hasTooManyAddresses || hasAskedForInterface ? lastPoll.addingClamped(Self.pollInterval) : nil
  }

  package func poll(into change: inout NetworkChange) {
    lastPoll = time.now()
    change.markEverything()
  }

  package var announcesAllAtFirst: Bool { false }

  package func watch(_ interest: NetworkInterest) {
    hasTooManyAddresses = interest.destinations == nil
    guard let destinations = interest.destinations else {
      announced = [:]
      return
    }
    let wanted = Set(destinations.filter { !$0.isDefaultPath })
    announced = announced.filter { wanted.contains($0.key) }
    for address in wanted where announced[address] == nil {
      make {
        announced[address] = AddressReachability(address)
        announced[address]?.announce(to: announcements, on: queue)
      }
    }
  }

  // MARK: Answers

  package func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    let interfaces = InterfaceAddresses()
    for (position, query) in queries.enumerated() {
      if query.interface != nil { hasAskedForInterface = true }
      var state =
        switch query.destination {
        case .localNetwork(let kind, let family): localNetwork(kind, family, query, interfaces)
        case .address(let address) where query.interface != nil: bound(address, query, interfaces)
        case .address(let address) where address.isDefaultPath && query.source == nil: internet(address, interfaces)
        case .address(let address): reachability(of: address, query.source, interfaces)
        }
      state.destination = query.address
      receive(position, state)
    }
  }

  /// The Internet by the family of the address: the default path.
  private func internet(_ address: Dialtone.IPAddress, _ interfaces: InterfaceAddresses) -> Reachability {
    // The first path will be announced. Until then, the address stands for itself: a single question waits for nothing.
    guard let path = path(.none) else { return reachability(of: address, nil, interfaces) }
    let family = address.family
    switch path.status {
    case .satisfied:
      guard family == .ipv4 ? path.supportsIPv4 : path.supportsIPv6 else { break }
      let used = path.availableInterfaces.first { interfaces[$0.name]?.supports(family) ?? false }
      var state = Reachability(status: .reachable, flags: .reachable)
      state.interface = used.flatMap { identity($0, interfaces) }
      state.flags.formUnion(state.interface?.kind.impliedFlags ?? [])
      if let used { state.gateway = gateways(of: used, path, interfaces).first { $0.family == family } }
      if case .connected(let source) = AddressProbe.connect(to: address) { state.source = source }
      return state
    case .requiresConnection:
      return Reachability(
        status: .requiresConnection, flags: [.reachable, .connectionRequired, .transientConnection],
        reason: .noSession)
    default: break
    }
    return unreachable(.noRoute)
  }

  /// An address, from one of this machine's own if `source` is given.
  private func reachability(
    of address: Dialtone.IPAddress, _ source: Dialtone.IPAddress?, _ interfaces: InterfaceAddresses
  ) -> Reachability {
    if !isOwn(source, address, interfaces) { return unreachable(.noAddress) }
    if let missing = missingZone(address, interfaces) { return missing }
    var known: ReachabilityFlags?
    make { known = AddressReachability(address, from: source)?.flags }
    let way = AddressProbe.connect(to: address, from: source)
    guard let flags = known else {
      switch way {
      case .connected: return state(.reachable, way, address, interfaces)
      case .refused: return unreachable(.noRoute)
      case .unknown: return .denied
      }
    }
    if !flags.contains(.reachable) { return unreachable(.noRoute) }
    if flags.contains(.connectionRequired) {
      let reason: Reachability.Reason =
        if flags.contains(.interventionRequired) { .radioBlocked } else {
          flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) ? .noSession : .dormant
        }
      return Reachability(status: .requiresConnection, flags: flags, reason: reason)
    }
    return state(flags, way, address, interfaces)
  }

  /// An address over one interface. Apple's interfaces cannot be asked about that: a bound socket is.
  private func bound(
    _ address: Dialtone.IPAddress, _ query: RouteQuery, _ interfaces: InterfaceAddresses
  ) -> Reachability {
    guard let entry = query.interface.flatMap({ interfaces.named($0.text) }) else { return unreachable(.noInterface) }
    if !isOwn(query.source, address, interfaces) { return unreachable(.noAddress) }
    let identity = identity(entry, interfaces)
    if !entry.isUp { return unreachable(.linkDown, over: identity) }
    if !entry.isRunning { return unreachable(.noCarrier, over: identity) }
    let way = AddressProbe.connect(to: address, from: query.source, over: entry.index)
    switch way {
    case .connected(let source):
      // Of an interface without an address, some systems let packets have another one's: no answer would find it.
      if query.source == nil, !entry.addresses.contains(where: { $0.address.bits == source.bits }) {
        return unreachable(.noAddress, over: identity)
      }
      var flags = (identity?.kind.impliedFlags ?? []).union(.reachable)
      if entry.isOnLink(address) { flags.insert(.isDirect) }
      return Reachability(status: .reachable, flags: flags, interface: identity, source: source)
    case .refused: return unreachable(.noRoute)
    case .unknown: return .denied
    }
  }

  /// The network on a wired or Wi-Fi interface.
  private func localNetwork(
    _ kind: InterfaceKind?, _ family: Dialtone.IPAddress.Family?, _ query: RouteQuery, _ interfaces: InterfaceAddresses
  ) -> Reachability {
    var best: (rank: Int, state: Reachability)?
    for entry in interfaces.entries {
      guard query.interface.map({ $0.text == entry.name || $0.text == "\(entry.index)" }) ?? true,
        let identity = identity(entry, interfaces), identity.kind == .wired || identity.kind == .wifi,
        kind == nil || kind == identity.kind
      else { continue }
      let address = entry.inOrder.first { family == nil || $0.family == family }
      let candidate: (Int, Reachability) =
        if !entry.isUp {
          (1, unreachable(.linkDown, over: identity))
        } else if !entry.isRunning {
          (2, unreachable(.noCarrier, over: identity))
        } else if let address {
          (
            address.isLinkLocal ? 4 : 5,
            Reachability(status: .reachable, flags: [.reachable, .isDirect], interface: identity, source: address)
          )
        } else {
          (3, unreachable(.noAddress, over: identity))
        }
      if candidate.0 > best?.rank ?? 0 { best = candidate }
    }
    return best?.state ?? unreachable(.noInterface)
  }

  // MARK: Parts of a state

  private func unreachable(_ reason: Reachability.Reason, over interface: NetworkInterface? = nil) -> Reachability {
    Reachability(status: .unreachable, interface: interface, reason: reason)
  }

  /// Returns whether packets to the address may come from this source: it is of this machine, or it is not chosen yet.
  private func isOwn(
    _ source: Dialtone.IPAddress?, _ address: Dialtone.IPAddress, _ interfaces: InterfaceAddresses
  ) -> Bool {
    source.map { $0.family == address.family && interfaces.interface(with: $0) != nil } ?? true
  }

  private func state(
    _ flags: ReachabilityFlags, _ way: AddressProbe.Outcome, _ address: Dialtone.IPAddress,
    _ interfaces: InterfaceAddresses
  ) -> Reachability {
    var state = Reachability(status: .reachable, flags: flags)
    guard case .connected(let source) = way else { return state }
    state.source = source
    // Packets for this machine pass over the loopback interface, whatever their source is.
    let entry =
      flags.contains(.isLocalAddress)
      ? interfaces.entries.first { $0.isLoopback } : interfaces.interface(with: source)
    state.interface = entry.flatMap { identity($0, interfaces) }
    return state
  }

  /// The state of a link-local IPv6 address without its interface; `nil` for others.
  private func missingZone(_ address: Dialtone.IPAddress, _ interfaces: InterfaceAddresses) -> Reachability? {
    guard address.family == .ipv6, address.isLinkLocal else { return nil }
    return address.zone.flatMap(interfaces.named) == nil ? unreachable(.noInterface) : nil
  }
}

extension Dialtone.IPAddress {
  /// Whether it stands for the Internet.
  fileprivate var isDefaultPath: Bool { self == .rootServer(family) }
}
#endif
