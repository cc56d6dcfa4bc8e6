// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

// Invariant: what comes in is kept only as an answer to a flow that was seen to leave, so a stranger cannot make it
// grow; what leaves is kept up to a limit, and beyond it nothing is said of what was not seen.

/// What was seen of the flows of this machine, and of its questions for neighbours. Pure.
struct PacketRecord: Sendable {
  /// A connection, or a socket that exchanges datagrams with one peer, by all that tells it from others.
  struct Flow: Hashable, Sendable {
    /// This machine's end is the source.
    var endpoints: ObservedPacket.Endpoints
    var isStream: Bool
  }

  struct Place: Hashable, Sendable {
    var interface: UInt32
    var isOutgoing: Bool
  }

  struct Sight: Equatable, Sendable {
    /// Whether its first packet has left; `nil` if that cannot be told.
    var hasLeft: Bool?
    /// How many answers came in to this very flow. A segment counts if it acknowledges the SYN that left, a datagram in
    /// any case: what is in it is the program's matter.
    var answerCount = 0
    /// The interfaces, by index: of a bridge or a VLAN, the one beneath, too.
    var leavingBy: Set<UInt32> = []
    var returningBy: Set<UInt32> = []

    /// Whether an answer came in; `nil` if that cannot be told, as of a flow whose packets leave under other numbers.
    var hasReturned: Bool? { answerCount > 0 ? true : hasLeft == nil ? nil : false }

    /// The interface that an answer came in by, if none was sent by it.
    var otherWay: UInt32? { hasLeft == true && leavingBy.isDisjoint(with: returningBy) ? returningBy.min() : nil }
  }

  struct NeighbourSight: Equatable, Sendable {
    /// Whether this machine's question has left.
    var isAsked = false
    /// Whether an answer came in, before any firewall of this machine.
    var isAnswered = false
  }

  private struct Trace {
    var sight = Sight(hasLeft: true)
    /// The sequence numbers that an answer to its SYN may acknowledge.
    var acknowledgements: Set<UInt32> = []
  }

  private var traces: [Flow: Trace] = [:]
  private var neighbours: [IPAddressBits: NeighbourSight] = [:]
  private let limit: Int
  /// Whether something may have gone by unseen: sealed by IPsec, lost, or more than is kept.
  private(set) var isBlind = false

  init(limit: Int = 16_384) { self.limit = limit }

  mutating func noteLoss() { isBlind = true }

  mutating func note(_ packet: ObservedPacket, at place: Place) {
    switch packet {
    case .sealed:
      if place.isOutgoing { isBlind = true }
    case .neighbourQuestion(let address):
      if place.isOutgoing { noteQuestion(address) }
    case .neighbourAnswer(let address):
      // An answer to a question that was not seen to leave tells nothing: anybody may send one.
      if !place.isOutgoing { neighbours[address]?.isAnswered = true }
    case .datagram(let endpoints):
      let flow = Flow(endpoints: endpoints, isStream: false)
      if place.isOutgoing {
        noteLeaving(flow, by: place.interface, acknowledgement: nil)
      } else {
        noteAnswer(to: flow, by: place.interface) { _ in true }
      }
    case .segment(let segment):
      let flow = Flow(endpoints: segment.endpoints, isStream: true)
      if !place.isOutgoing {
        noteAnswer(to: flow, by: place.interface) { trace in
          segment.acknowledgement.map { trace.acknowledgements.contains($0) } ?? false
        }
      } else if segment.isSYN, segment.acknowledgement == nil {
        // A SYN takes one sequence number (RFC 9293, 3.4).
        noteLeaving(flow, by: place.interface, acknowledgement: segment.sequence &+ 1)
      }
    }
  }

  private mutating func noteLeaving(_ flow: Flow, by interface: UInt32, acknowledgement: UInt32?) {
    guard traces[flow] != nil || traces.count < limit else {
      isBlind = true
      return
    }
    traces[flow, default: Trace()].sight.leavingBy.insert(interface)
    if let acknowledgement { traces[flow]?.acknowledgements.insert(acknowledgement) }
  }

  private mutating func noteAnswer(to arrived: Flow, by interface: UInt32, _ isAnswer: (Trace) -> Bool) {
    let flow = Flow(endpoints: arrived.endpoints.reversed, isStream: arrived.isStream)
    guard var trace = traces[flow], isAnswer(trace) else { return }
    trace.sight.answerCount += 1
    trace.sight.returningBy.insert(interface)
    traces[flow] = trace
  }

  private mutating func noteQuestion(_ address: IPAddressBits) {
    guard neighbours[address] != nil || neighbours.count < limit else {
      isBlind = true
      return
    }
    neighbours[address, default: NeighbourSight()].isAsked = true
  }

  // MARK: What was seen

  /// What was seen of a flow.
  ///
  /// That its packets have not left is said only if nothing else explains it: not a gap in what was seen, not a
  /// question for a neighbour that is still open (the packet waits for it), and not a flow that left under other
  /// numbers, as network address translation on this machine makes of it, unless that leads to this machine itself.
  func sight(of flow: Flow) -> Sight {
    if let trace = traces[flow] {
      // Back to this machine itself, although it is for another one, whose answer cannot be there.
      let isMeant = trace.sight.leavingBy != [Self.loopback] || flow.endpoints.areOwn
      return isMeant ? trace.sight : Sight(hasLeft: false)
    }
    let hasLeftOtherwise = traces.contains {
      Self.isTranslated(flow, $0.key) && $0.value.sight.leavingBy != [Self.loopback]
    }
    let isWaiting = neighbours.values.contains { $0.isAsked && !$0.isAnswered }
    return Sight(hasLeft: isBlind || isWaiting || hasLeftOtherwise ? nil : false)
  }

  /// LOOPBACK_IFINDEX of the kernel: its first interface in each network namespace.
  private static let loopback: UInt32 = 1

  /// What was seen of questions for a neighbour; `nil` if that cannot be told.
  func neighbour(_ address: IPAddressBits) -> NeighbourSight? {
    let sight = neighbours[address] ?? NeighbourSight()
    return isBlind && !sight.isAnswered ? nil : sight
  }

  /// Whether `other` may be `flow` with a source or a destination that was put in on the way out, which may be the port
  /// alone.
  private static func isTranslated(_ flow: Flow, _ other: Flow) -> Bool {
    let (own, seen) = (flow.endpoints, other.endpoints)
    guard flow.isStream == other.isStream, own.source.isIPv6 == seen.source.isIPv6 else { return false }
    let isSameTarget = own.destination == seen.destination && own.destinationPort == seen.destinationPort
    return isSameTarget || own.sourcePort == seen.sourcePort
  }
}
