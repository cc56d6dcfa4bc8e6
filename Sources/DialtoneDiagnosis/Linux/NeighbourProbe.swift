// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone

/// Has the kernel ask for the neighbours that get the packets first, and looks what it learns. Belongs to one thread.
struct NeighbourProbe {
  private struct Way {
    var kernel: KernelEvidence
    var hasAnswered = false
    var sockets: [ProbeSocket] = []
    /// Whether the kernel has begun to ask, so that it knows anew in the end.
    var isAskedAnew = false
    /// Whether it was sent something again, so that the kernel's questions can be seen from the first one on.
    var isWokenAgain = false
    /// When the kernel was first and last seen to ask without an answer, in nanoseconds.
    var incomplete: ClosedRange<Int64>?

    var state: NeighbourState? { kernel.neighbour?.state }
    /// Whether the kernel is still finding out.
    var isOpen: Bool { !hasAnswered && state.map { !$0.isDisjoint(with: Self.open) } ?? true }

    private static let open: NeighbourState = [.incomplete, .delay, .probe]
  }

  /// How long a neighbour that was never known may take: the kernel asks three times, a second apart (arp(7)).
  private static let longest: Int64 = 3_600
  /// How long a neighbour that was known may take to refuse a datagram; it need not.
  private static let usual: Int64 = 150
  /// How long one may take to refuse a connection if nobody has been heard by it, and how long the kernel may take to
  /// be sure of it: five seconds, and three tries a second apart.
  private static let patient: Int64 = 1_300
  private static let sure: Int64 = 9_000
  /// A little more than the kernel's pause between two questions, in nanoseconds (arp(7), retrans_time_ms).
  private static let interval: Int64 = 1_200_000_000
  /// A router's own name server, as a rule; who has none refuses.
  private static let port: UInt16 = 53

  let inquiry: DiagnosisInquiry
  let patience: Patience

  func findings(_ witness: KernelWitness) -> [Finding] {
    // It has to look before anything is sent.
    let packets = PacketWitness()
    var ways = inquiry.openWays.filter { !inquiry.isSecondLook || inquiry.isUnsure($0.target.family) }
      .flatMap { $0.byEachHop(witness) }.map { Way(kernel: $0) }
    for index in ways.indices { wake(&ways[index]) }
    watch(&ways, witness, canSee: packets != nil)
    packets?.read()
    return ways.map { .kernel(KernelFinding(.neighbour(result($0, packets?.record)), $0.kernel)) }
  }

  /// Sends something to a neighbour, so that the kernel asks for it.
  private func wake(_ way: inout Way) {
    guard let neighbour = way.kernel.neighbour, neighbour.isResolved, let link = way.kernel.link?.index,
      let woken = DatagramProbe.wake(neighbour.address, link: link)
    else { return }
    way.sockets.append(woken)
    if !inquiry.isSecondLook { return }
    way.sockets.append(ProbeSocket(neighbour.address, port: Self.port, isStream: true, interface: link))
  }

  private func result(_ way: Way, _ record: PacketRecord?) -> KernelFinding.Neighbour {
    let usual = KernelFindings.neighbour(
      way.kernel.neighbour, wasProbed: !way.sockets.isEmpty, hasAnswered: way.hasAnswered)
    guard let neighbour = way.kernel.neighbour, neighbour.isResolved, !way.hasAnswered, !way.sockets.isEmpty else {
      return usual
    }
    let (address, isGateway) = (neighbour.address, neighbour.isGateway)
    if !neighbour.isConfirmed, let sight = record?.neighbour(address.bits) {
      // The kernel asks again after a second: one of its questions would have been seen.
      let hasWatched = way.incomplete.map { $0.upperBound - $0.lowerBound > Self.interval } ?? false
      if sight.isAnswered || !sight.isAsked && hasWatched {
        return .stopped(address, isGateway: isGateway, hasLeft: sight.isAsked)
      }
    }
    // It has said nothing, and what the kernel has heard of it is from before.
    let isStale = inquiry.isSecondLook && !(way.isAskedAnew && neighbour.isConfirmed)
    return isStale ? .silent(address, isGateway: isGateway, wasProbed: true) : usual
  }

  private func watch(_ ways: inout [Way], _ witness: KernelWitness, canSee: Bool) {
    var start = TimeSource.system.now()
    while !patience.isOver {
      let elapsed = (TimeSource.system.now() - start) / 1_000_000
      var isOpen = false
      for index in ways.indices where !ways[index].sockets.isEmpty && !ways[index].hasAnswered {
        look(&ways[index], witness)
        let isWoken = canSee && !inquiry.isSecondLook && wakeAgain(&ways[index])
        if isWoken { start = TimeSource.system.now() }
        isOpen = isOpen || isWoken || isAwaited(ways[index], elapsed)
      }
      if !isOpen { return }
      // The kernel tells nobody of an entry without being asked.
      if patience.wait([], until: patience.moment(in: 50)) == nil { return }
    }
  }

  /// Sends something once more to a neighbour that failed before the kernel was seen to ask for long enough.
  private func wakeAgain(_ way: inout Way) -> Bool {
    let seen = way.incomplete.map { $0.upperBound - $0.lowerBound } ?? 0
    guard way.state?.contains(.failed) == true, !way.isWokenAgain, seen < Self.interval else { return false }
    way.isWokenAgain = true
    way.incomplete = nil
    wake(&way)
    return true
  }

  private func isAwaited(_ way: Way, _ elapsed: Int64) -> Bool {
    if way.hasAnswered { return false }
    if inquiry.isSecondLook { return elapsed < Self.patient || way.isOpen && elapsed < Self.sure }
    if way.kernel.neighbour?.isConfirmed == true { return false }
    // A failed entry from before is asked for anew by what was sent.
    if way.state?.contains(.failed) == true { return elapsed < Self.usual }
    return elapsed < (way.state?.contains(.incomplete) ?? true ? Self.longest : Self.usual)
  }

  private func look(_ way: inout Way, _ witness: KernelWitness) {
    guard let neighbour = way.kernel.neighbour, let link = way.kernel.link else { return }
    if way.sockets.contains(where: { DatagramProbe.hasAnswered($0, neighbour.address) }) { way.hasAnswered = true }
    way.kernel.neighbour?.state = witness.neighbourState(neighbour.address, link: link.index)
    if way.isOpen { way.isAskedAnew = true }
    if way.state?.contains(.incomplete) == true {
      let now = TimeSource.system.now()
      way.incomplete = (way.incomplete?.lowerBound ?? now)...now
    }
  }
}

extension KernelEvidence {
  private static let hopLimit = 4

  /// The way by each hop that gets a share of the packets. IPv6 gives none to a hop that does not answer
  /// (rt6_score_route), and IPv4 only if it is told to.
  fileprivate func byEachHop(_ witness: KernelWitness) -> [KernelEvidence] {
    guard target.family == .ipv4, let hops = route?.hops, hops.count > 1,
      SystemFile.text(at: "/proc/sys/net/ipv4/fib_multipath_use_neigh")?.first != "1"
    else { return [self] }
    return [self]
      + hops.prefix(Self.hopLimit).compactMap { hop in
        guard hop.reason == nil, let gateway = hop.gateway, gateway != neighbour?.address,
          let link = links.first(where: { $0.name == hop.link && [nil, $0.name].contains(askedInterface) })
        else { return nil }
        var way = self
        way.link = link
        way.neighbour = witness.neighbour(gateway, on: link)
        return way
      }
  }
}

extension KernelEvidence.NeighbourFacts {
  /// Whether the kernel counts it as there.
  fileprivate var isConfirmed: Bool { state.map { !$0.isDisjoint(with: [.reachable, .permanent, .noARP]) } ?? false }
}
#endif
