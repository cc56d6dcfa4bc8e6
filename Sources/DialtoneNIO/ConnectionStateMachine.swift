// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
internal import Dialtone

/// What routes say about one connection: about its pair of addresses, and about its remote address from any source.
struct ConnectionRoutes: Hashable {
  enum Answer: Hashable {
    case unknown
    case reachable(interface: UInt32)
    case unreachable(Reachability.Reason)

    init(_ state: Reachability) {
      switch state.status {
      case .undetermined: self = .unknown
      case .reachable: self = .reachable(interface: state.interface?.index ?? .max)
      case .unreachable, .requiresConnection: self = .unreachable(state.reason ?? .noRoute)
      }
    }

    var isReachable: Bool { if case .reachable = self { true } else { false } }

    /// Why packets cannot leave; `nil` if they can, or nobody knows.
    var reason: Reachability.Reason? { if case .unreachable(let reason) = self { reason } else { nil } }
  }

  var pair: Answer
  var remote: Answer
}

extension ConnectionRoutes {
  /// Takes them out of the state of the pair.
  init(_ state: Reachability) {
    let free = state.freeInterface
    pair = Answer(state)
    remote = free > 0 ? .reachable(interface: free) : state.isDetermined ? .unreachable(.noRoute) : .unknown
  }
}

/// Classifies one connection. It is pure: facts come in, and what to do comes out.
///
/// *A connection is closed only if its routes say that it cannot work, or that it may not, and the socket has not shown
/// since that it does.* What made progress while its routes said that it could not is never judged again. What has
/// arrived is read before a dead one is closed.
struct ConnectionStateMachine {
  /// What is to be done now.
  enum Action: Equatable {
    /// Nothing, until the facts change.
    case wait
    /// Ask again at that time, if nothing happens before.
    case lookAgain(Nanoseconds)
    /// Read the socket's figures, and give them to ``measured(_:activity:at:)``.
    case measure
    /// Close the connection, because of this condition.
    case close(ConnectionCondition)
  }

  /// A time of the caller's clock.
  typealias Nanoseconds = Int64

  private enum State: Equatable {
    /// The first answer is awaited.
    case starting
    /// `isFinal`: it works although its routes say that it cannot. Otherwise they have said so from the first.
    case unjudged(isFinal: Bool)
    case fine
    case waiting
    case doubtful(since: Nanoseconds)
    /// The path is back; what was lost meanwhile may be outstanding.
    case returned(since: Nanoseconds, isFarAway: Bool)
    /// `hasAddress`: the local address is still there.
    case dead(since: Nanoseconds, hasAddress: Bool)
    case closed(ConnectionCondition)
  }

  private var state = State.starting
  /// The interface that packets left by when the connection last made progress.
  private var interface: UInt32 = 0
  /// The interface that they leave by now.
  private var present: UInt32 = 0
  /// Most connections are fine and need none of it, so it has memory of its own.
  private indirect enum Kept {
    case evidence(Evidence)
  }

  private struct Evidence {
    /// The socket's figures when the present state began, or when something was last answered.
    var first: SocketProgress?
    /// The figures once nothing was under way any more that was so when the state began.
    var start: SocketProgress?
    /// When it was seen first that new data had come since `start`.
    var arrival: Nanoseconds?
  }

  private var kept: Kept?
  private var evidence: Evidence {
    get { if case .evidence(let evidence)? = kept { evidence } else { Evidence() } }
    set { kept = .evidence(newValue) }
  }
  /// How long an answer may take once the path is back, before what is outstanding is taken for lost.
  private var patience: Nanoseconds = 50_000_000

  let policy: ConnectionPolicy

  init(_ policy: ConnectionPolicy) { self.policy = policy }

  var condition: ConnectionCondition {
    switch state {
    case .starting: .unknown
    case .unjudged: .unjudged
    case .fine, .returned(_, isFarAway: false): .fine
    case .waiting: .waiting
    case .doubtful: .doubtful
    case .returned(_, isFarAway: true): .stalled
    case .dead: .dead
    case .closed(let condition): condition
    }
  }

  /// Whether the socket is to be probed as long as nothing is outstanding on it.
  var wantsProbes: Bool {
    switch state {
    case .doubtful, .dead(_, hasAddress: true): evidence.start != nil && policy.probesDoubtful
    default: false
    }
  }

  /// Takes in what the routes or the user say now, or that a time has come.
  mutating func take(
    _ routes: ConnectionRoutes, activity: ConnectionActivity, at now: Nanoseconds
  ) -> Action {
    switch state {
    case .closed, .unjudged(isFinal: true): return .wait
    case .starting, .unjudged: return begin(routes)
    default: break
    }
    // The kernel asks for the neighbour's address once a second, and then sends what has waited for it.
    if let reason = routes.pair.reason { patience = reason == .noCarrier ? 1_050_000_000 : 50_000_000 }
    switch (routes.pair, routes.remote) {
    case (.unknown, _): return .wait
    case (.reachable(let interface), _): return passable(by: interface, at: now)
    case (.unreachable(let reason), .reachable):
      return cut(hasAddress: reason != .noAddress, at: now)
    case (.unreachable, _):
      enter(.waiting)
      return .wait
    }
  }

  private mutating func begin(_ routes: ConnectionRoutes) -> Action {
    switch routes.pair {
    case .unknown: break
    // The connection is established. So our question is not its question, or the path was lost just now.
    case .unreachable: enter(.unjudged(isFinal: false))
    case .reachable(let interface):
      (self.interface, present) = (interface, interface)
      enter(.fine)
    }
    return .wait
  }

  /// Packets of the connection can leave.
  private mutating func passable(by interface: UInt32, at now: Nanoseconds) -> Action {
    if interface != self.interface {
      if case .doubtful = state, interface == present { return .measure }
      present = interface
      enter(.doubtful(since: now))
      return .measure
    }
    switch state {
    case .fine: return .wait
    case .returned: break
    default: enter(.returned(since: now, isFarAway: false))
    }
    return .measure
  }

  /// The connection's own path is gone, and there is another one.
  private mutating func cut(hasAddress: Bool, at now: Nanoseconds) -> Action {
    var began = now
    if case .dead(let since, _) = state { began = since }
    // What it gets is judged otherwise without its address: that begins anew.
    enter(.dead(since: began, hasAddress: hasAddress))
    return .measure
  }

  /// Takes in the socket's figures, which are `nil` if it cannot be asked.
  mutating func measured(
    _ progress: SocketProgress?, activity: ConnectionActivity, at now: Nanoseconds
  ) -> Action {
    switch state {
    case .dead(let since, let hasAddress):
      judgeDead(progress, hasAddress: hasAddress, isPatient: hasAddress || activity == .busy, since: since, at: now)
    case .doubtful(let since): judgeDoubtful(progress, since: since, activity: activity, at: now)
    case .returned(let since, _): judgeReturned(progress, since: since, activity: activity, at: now)
    case .starting, .unjudged, .fine, .waiting, .closed: .wait
    }
  }

  private mutating func judgeDead(
    _ progress: SocketProgress?, hasAddress: Bool, isPatient: Bool, since: Nanoseconds, at now: Nanoseconds
  ) -> Action {
    let end = isPatient ? since.addingClamped(policy.grace.nanosecondsClamped) : now
    var next = end
    if let progress {
      // Without its address it cannot get anything, and without a route nothing it sends can be answered: then what
      // the routes say is not about it.
      let works =
        hasAddress
        ? shows(progress, since: since, at: now) : evidence.start.map { $0.segmentsIn != progress.segmentsIn } ?? false
      if works {
        enter(.unjudged(isFinal: true))
        return .wait
      }
      if hasAddress {
        next = min(nextLook(since: since, at: now), end)
      } else {
        evidence.start = evidence.start ?? progress
      }
    }
    if now < end { return .lookAgain(next) }
    // What its own channel reads is told at once. What the connection of a stream reads is not.
    return progress?.hasUnread == true ? .lookAgain(now + max(now - since, 50_000_000)) : close(.dead)
  }

  private mutating func judgeDoubtful(
    _ progress: SocketProgress?, since: Nanoseconds, activity: ConnectionActivity, at now: Nanoseconds
  ) -> Action {
    guard let progress else { return .wait }
    let isSettled = evidence.start != nil
    if shows(progress, since: since, at: now) {
      interface = present
      enter(.fine)
      return .wait
    }
    let later = Action.lookAgain(nextLook(since: since, at: now))
    guard isSettled, let first = evidence.first, let start = evidence.start else { return later }
    // The other side answers, though it takes nothing. Attempts that nobody answers are counted from here.
    if progress.unacknowledged > 0, progress.bareSegmentsIn != start.bareSegmentsIn {
      evidence.first = progress
      evidence.start = progress
      return later
    }
    let limit = activity == .busy ? max(policy.doubt, policy.grace) : policy.doubt
    let end = max(limit.nanosecondsClamped, 4 * Int64(progress.roundTrip) * 1_000)
    if now - since >= end, progress.attempts(since: first) >= 2 { return close(.doubtful, or: later) }
    // After an outage the next retransmission may be minutes away. The last one may be under way.
    let far = max(policy.doubt, .seconds(1)).nanosecondsClamped
    let isOld = Int64(progress.lastSent) * 1_000 >= 2 * Int64(progress.roundTrip)
    return activity != .busy && isOld && progress.isStalled(beyond: far) ? close(.stalled, or: later) : later
  }

  private mutating func judgeReturned(
    _ progress: SocketProgress?, since: Nanoseconds, activity: ConnectionActivity, at now: Nanoseconds
  ) -> Action {
    guard let progress, progress.isOutstanding,
      progress.bytesAcknowledged == (evidence.start ?? progress).bytesAcknowledged
    else {
      enter(.fine)
      return .wait
    }
    evidence.start = evidence.start ?? progress
    let remaining = progress.nextTransmission
    let isFarAway = progress.isStalled(beyond: policy.stall.nanosecondsClamped)
    state = .returned(since: since, isFarAway: isFarAway)
    // What was sent last may be under way.
    if isFarAway, now < since + max(patience, 2 * Int64(progress.roundTrip) * 1_000) {
      return .lookAgain(now + 50_000_000)
    }
    // A retransmission that is lost again makes the next one's time twice as far.
    let later = Action.lookAgain(now + max(remaining, 20_000_000) + 20_000_000)
    return isFarAway && activity != .busy ? close(.stalled, or: later) : later
  }

  /// Returns whether the figures show that the connection works since its state began. What was under way then arrives
  /// no matter what became of the path, and shows nothing.
  private mutating func shows(_ progress: SocketProgress, since: Nanoseconds, at now: Nanoseconds) -> Bool {
    let first = evidence.first ?? progress
    evidence.first = first
    // Nothing was in flight: so what is acknowledged was sent since.
    if first.unacknowledged == 0, progress.bytesAcknowledged != first.bytesAcknowledged { return true }
    guard let start = evidence.start else {
      guard now >= since + first.settling else { return false }
      evidence.start = progress
      if progress.bytesAcknowledged != first.bytesAcknowledged { evidence.first = progress }
      return false
    }
    if progress.shows(since: start) { return true }
    guard progress.unacknowledged == 0, progress.bytesReceived != start.bytesReceived else { return false }
    // One answer may come to an acknowledgement that was lost, but not one after the other.
    let arrival = evidence.arrival ?? now
    evidence.arrival = arrival
    return now - Int64(progress.lastReceived) * 1_000_000 >= arrival + progress.patienceOfSender
  }

  /// When the figures may show more: soon at first, since most answers come within a round trip.
  private func nextLook(since: Nanoseconds, at now: Nanoseconds) -> Nanoseconds {
    if evidence.start == nil, let first = evidence.first { return since + first.settling }
    return now + min(max((now - since) / 2, 50_000_000), 500_000_000)
  }

  /// Closes it, unless the policy only watches such connections.
  private mutating func close(_ condition: ConnectionCondition, or action: Action = .wait) -> Action {
    guard policy.closes.contains(condition) else { return action }
    state = .closed(condition)
    return .close(condition)
  }

  private mutating func enter(_ new: State) {
    if state == new { return }
    state = new
    kept = nil
  }
}
#endif
