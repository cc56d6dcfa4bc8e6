// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

/// Connections to one address that die behind a few routers, and one that does not: who says so is beyond the router,
/// whatever filters do with questions to name servers. Belongs to one thread.
struct HopTrace {
  /// How many routers packets may pass as a rule (IANA, RFC 1700).
  static let usualHops: CInt = 64
  /// The number of routers behind which each connection dies.
  static let hops: [CInt] = [2, 3, usualHops]
  /// Where sites are: few filters stop it.
  static let sitePort: UInt16 = 443

  private let target: IPAddress
  private let port: UInt16
  private let hops: [CInt]
  private let interface: UInt32?
  private let gateway: IPAddress?
  private var sockets: [(hops: CInt, socket: ProbeSocket)] = []
  private var hasBegun = false
  /// What came of those that were taken or reset, by how far they may get: 0, or the errno.
  private var ends: [CInt: CInt] = [:]
  /// Whether the router has said that the one died with it that gets no further.
  private(set) var hasDiedAtRouter = false
  private var refusal: NetworkStatement?
  /// Whether this machine itself has said that it refuses one, as its kernel does if the neighbour is gone.
  private var isForbidden = false
  /// Those that were reset, perhaps by this machine.
  private var reset: [ProbeSocket] = []
  /// Those who have said that a connection died with them.
  private var routers: [IPAddress] = []

  init(to target: IPAddress, port: UInt16 = sitePort, hops: [CInt] = hops, interface: UInt32?, gateway: IPAddress?) {
    (self.target, self.port, self.hops) = (target, port, hops)
    (self.interface, self.gateway) = (interface, gateway)
  }

  var family: IPAddress.Family { target.family }
  var descriptors: [CInt] { sockets.map(\.socket.descriptor) }

  /// Whether the one that dies behind two was reset: somebody near does that.
  private var isResetNear: Bool { ends[Self.hops[0]] == ECONNREFUSED }

  /// Whether a router beyond the first has said that a connection died with it.
  var hasDiedBeyond: Bool { !routers.isEmpty }

  var isTaken: Bool { ends.values.contains(0) }

  /// What stops connections near; `nil` if something further away has answered.
  var stop: ConnectionFinding.Outcome? {
    refusal.map { .refused($0) } ?? (isResetNear ? .reset : ends.isEmpty ? .silent : nil)
  }

  /// What somebody on the way, and not the target itself, says of connections that would get beyond it.
  var barrier: ConnectionFinding.Outcome? {
    if let refusal, refusal.sender.bits != target.bits { return .refused(refusal) }
    return ends[Self.hops[1]] == ECONNREFUSED ? .reset : nil
  }

  /// Whether none of them has left this machine: it says so itself, or is seen to keep all that got no answer.
  func isHeld(_ witness: PacketWitness?) -> Bool {
    if hasDiedAtRouter || !routers.isEmpty { return false }
    if isForbidden, ends.isEmpty { return true }
    witness?.read()
    let unheard = sockets.map(\.socket) + reset
    return !unheard.isEmpty && unheard.allSatisfy { witness?.sight(of: $0)?.hasLeft == false }
  }

  mutating func begin() {
    hasBegun = true
    sockets = hops.map { hops in
      (hops, ProbeSocket(target, port: port, isStream: true, interface: interface, hops: hops))
    }.filter { $0.socket.start == EINPROGRESS }
  }

  mutating func end() { sockets = [] }

  /// Takes what a socket tells, if it is one of these.
  mutating func take(_ descriptor: CInt) {
    guard let index = sockets.firstIndex(where: { $0.socket.descriptor == descriptor }) else { return }
    let (hops, socket) = sockets.remove(at: index)
    let errno = socket.takeError()
    if let statement = socket.takeRefusal()?.statement {
      if statement.isOwn {
        isForbidden = true
        return
      }
      if statement.meaning != .lifetimeEnded {
        refusal = statement
      } else if hops == 1 {
        hasDiedAtRouter = true
      } else if statement.sender.bits != gateway?.bits, !routers.contains(statement.sender) {
        routers.append(statement.sender)
      }
    } else if errno == 0 || errno == ECONNREFUSED {
      ends[hops] = errno
      if errno != 0 { reset.append(socket) }
    }
  }

  /// Begins, and returns whether a router beyond the first says in this many milliseconds that a connection died with
  /// it, or the target takes one. A reset is none of it: the router may have sent that.
  mutating func leadsBeyond(_ patience: Patience, upTo limit: Int64) -> Bool {
    begin()
    return isLed(patience, upTo: limit)
  }

  /// Waits for that, or until all of them are answered.
  mutating func isLed(_ patience: Patience, upTo limit: Int64, waitsForAll: Bool = false) -> Bool {
    let deadline = patience.moment(in: limit)
    while waitsForAll || !hasComeBeyond, !sockets.isEmpty {
      let list = descriptors
      let events = patience.wait(list.map { ($0, wantsWriting: true) }, until: deadline) ?? []
      if events.isEmpty { break }
      for event in events { take(list[event.position]) }
    }
    return hasComeBeyond
  }

  private var hasComeBeyond: Bool { !routers.isEmpty || isTaken }

  /// What came of several of them; `nil` if none has begun, or somebody near takes all connections. If questions are
  /// refused, so are connections that are reset before they have come as far as a root server.
  static func result(_ traces: [HopTrace], areRefused: Bool = false) -> BeyondFinding.Trace? {
    if !traces.contains(where: \.hasBegun) { return nil }
    if areRefused, traces.contains(where: \.isResetNear) { return .silent }
    if let trace = traces.first(where: { !$0.ends.isEmpty }) {
      return trace.ends[hops[0]] == 0 ? nil : .leadsOn(trace.target)
    }
    if let refusal = traces.lazy.compactMap(\.refusal).first { return .refused(refusal) }
    let furthest = traces.max { $0.routers.count < $1.routers.count }?.routers ?? []
    guard let last = furthest.last else { return .silent }
    return furthest.count > 1 ? .leadsOn(last) : .endsBehind(last)
  }
}
#endif
