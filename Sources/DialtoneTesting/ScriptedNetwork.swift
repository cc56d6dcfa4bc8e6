// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// A network that does what your test says, and a clock with it.
///
/// ```swift
/// let network = ScriptedNetwork()
/// let monitor = ReachabilityMonitor(.internet, environment: network.environment)
/// network.set(.wifi)
/// network.set(.unreachable(.noCarrier))
/// ```
///
/// Monitors see a change soon after, on other threads, like a change of a real network. You can use it from any thread.
public final class ScriptedNetwork: Sendable {
  private struct Script {
    var path = ScriptedPath.unreachable()
    var localNetwork: ScriptedPath?
    var networkPath: NetworkPath?
    var addresses: [IPAddress: ScriptedPath] = [:]
    var sources: [IPAddress: ScriptedPath] = [:]
    var names: [String: ScriptedNames] = [:]
    /// Grows with each change.
    var version = 0
    /// Grows with each change of a name.
    var namesVersion = 0
    var queries = 0

    func answer(_ query: RouteQuery) -> Reachability {
      var state: Reachability
      let bounds = [query.interface?.text, query.address?.zone].compactMap { $0 }
      switch query.destination {
      case .localNetwork(let kind, let family):
        state = (localNetwork ?? path).localNetwork(kind)
        state.keep(family)
      case .address(let address):
        let source = query.source.flatMap { sources[$0]?.state }
        state = source ?? addresses[address]?.state ?? path.state(to: address)
        if let source = query.source, source.family != address.family {
          state = Reachability(status: .unreachable, reason: .noAddress)
        } else if address.family == .ipv6, address.isLinkLocal, bounds.isEmpty {
          state = Reachability(status: .unreachable, reason: .noInterface)
        }
        state.keep(address.family)
        if state.isReachable, let source = query.source { state.source = source }
        state.destination = address
      }
      if let found = state.interface, !bounds.allSatisfy({ $0 == found.name || UInt32($0) == found.index }) {
        state = Reachability(status: .unreachable, destination: state.destination, reason: .noInterface)
      }
      return state
    }
  }

  /// The environment for the monitors of this network.
  public let environment: ReachabilityEnvironment

  /// The clock of these monitors: timeouts, settling, the age of names. Timestamps begin with the time of day, and go
  /// on with this clock alone.
  public let clock: ManualClock

  private let script: Box

  /// Holds the script, so that the engine does not keep the network alive.
  private final class Box: Sendable {
    let script = Lock(Script())
  }

  /// Creates a network without any path.
  public convenience init(clock: ManualClock = ManualClock()) {
    // This waiter needs nothing from the system, so it is the same on all.
    self.init(clock: clock) { time throws(SystemError) in SemaphoreWaiter(time) }
  }

  /// - Parameters:
  ///   - clock: The clock of its monitors.
  ///   - makeWaiter: Makes what the engine's threads sleep on.
  package init(clock: ManualClock = ManualClock(), makeWaiter: @escaping EngineProvider.MakeWaiter) {
    self.clock = clock
    let box = Box()
    script = box
    // The time of day goes on with the clock.
    let start = TimeSource.system.realtime().addingClamped(-clock.now.nanoseconds)
    let provider = EngineProvider(
      time: TimeSource(passes: false, realtime: { start.addingClamped(clock.now.nanoseconds) }) {
        clock.now.nanoseconds
      },
      lookup: { name, family in (box.script.withLock { $0.names[Self.key(name)] } ?? .nonexistent).result(family) },
      // The script answers at once, or lets them hang.
      names: NameLookupPool(threads: 0), makeWaiter: makeWaiter, makeSource: { _, _ in Source(box) })
    environment = ReachabilityEnvironment(provider)
    clock.wakes(provider)
  }

  /// Sets the answer for every address and the local network from now on, except those that you set by themselves.
  public func set(_ path: ScriptedPath) { change { $0.path = path } }

  /// Sets the answer for one address from now on; `nil` for the same as all others.
  public func set(_ path: ScriptedPath?, for address: IPAddress) { change { $0.addresses[address.unmapped] = path } }

  /// Sets the answer for packets from one address of this machine from now on; `nil` for the same as all others.
  ///
  /// It is what a connection is judged by: `set(.unreachable(.noAddress), from: address)` takes its address away.
  public func set(_ path: ScriptedPath?, from source: IPAddress) { change { $0.sources[source.unmapped] = path } }

  /// Sets the answer for the local network from now on; `nil` for the same as addresses.
  public func setLocalNetwork(_ path: ScriptedPath?) { change { $0.localNetwork = path } }

  /// Sets the path that path monitors get from now on, restricted as their configuration says; `nil` for the path that
  /// follows from the answer for addresses, which leads to those of both families.
  public func set(_ path: NetworkPath?) { change { $0.networkPath = path } }

  /// Sets the result of a name's lookup from now on. Without it, the name does not exist.
  ///
  /// You can write the name as in a target: case does not matter, and `bücher.example` is `xn--bcher-kva.example`.
  /// Monitors look up a name at most once a second, so advance the clock by a second.
  public func set(_ answer: ScriptedNames, forName name: String) {
    change {
      $0.names[Self.key(name)] = answer
      $0.namesVersion += 1
    }
    environment.provider.names.askAgain()
  }

  /// Gives a name an address, if nothing was set for it.
  package func provideAddress(forName name: String) {
    let isKnown = script.script.withLock { $0.names[Self.key(name)] != nil }
    // 192.0.43.8, in a network of IANA's. A check may require a public address, and those of RFC 5737 are none.
    if !isKnown { set(.addresses([IPAddress(ipv4: 0xC000_2B08)]), forName: name) }
  }

  /// Returns once all changes so far are decided: what a monitor's `current` says is their outcome, and that of all
  /// lookups that do not hang.
  ///
  /// What is decided is delivered soon afterwards. To test that a receiver is told nothing of a change, cause another
  /// one after it, and see that this is what it is told next.
  public func settle() async throws {
    try Task.checkCancellation()
    await environment.provider.runningEngine?.settled()
  }

  /// How many queries were asked so far.
  package var queryCount: Int { script.script.withLock { $0.queries } }

  /// The name as it is looked up: DNS compares names without case, letters outside ASCII become A-labels (RFC 5890),
  /// and a trailing dot only says that the name is whole.
  private static func key(_ name: String) -> String {
    do throws(ReachabilityError) {
      return try HostName(name).ascii
    } catch {
      // No host has that name, so no lookup asks for it.
      return name
    }
  }

  private func change(_ body: (inout sending Script) -> Void) {
    script.script.withLock {
      body(&$0)
      $0.version += 1
    }
    environment.provider.runningEngine?.wake()
  }

  private final class Source: NetworkSource {
    private let box: Box
    private var seen = -1
    private var seenNames = 0

    init(_ box: Box) { self.box = box }

    func drain(into change: inout NetworkChange) {
      let (version, namesVersion) = box.script.withLock { ($0.version, $0.namesVersion) }
      if namesVersion != seenNames { change.touchesNames = true }
      seenNames = namesVersion
      if version == seen { return }
      seen = version
      change.markEverything()
    }

    func path(_ configuration: PathConfiguration) -> PathAnswer {
      let script = box.script.withLock { $0 }
      return PathAnswer((script.networkPath ?? script.path.networkPath(configuration)).restricted(to: configuration))
    }

    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      let script = box.script.withLock { script in
        script.queries += queries.count
        return script
      }
      for (position, query) in queries.enumerated() { receive(position, script.answer(query)) }
    }
  }
}

extension Reachability {
  /// Leaves out an address of this machine or of a router that packets of the family cannot have.
  fileprivate mutating func keep(_ family: IPAddress.Family?) {
    guard let family else { return }
    if source?.family != family { source = nil }
    if family == .ipv6, gateway?.family == .ipv4 { gateway = nil }
  }
}
