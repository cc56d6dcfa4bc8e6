// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneNIO
import Testing

/// The classes of the page "Connections", each by the facts that make it.
struct ConnectionStateMachineTests {
  private static let second: Int64 = 1_000_000_000
  private static let first = ConnectionRoutes(pair: .reachable(interface: 2), remote: .reachable(interface: 2))
  private static let none = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .unreachable(.noRoute))
  private static let gone = ConnectionRoutes(pair: .unreachable(.noAddress), remote: .reachable(interface: 3))
  private static let cut = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .reachable(interface: 3))
  private static let moved = ConnectionRoutes(pair: .reachable(interface: 3), remote: .reachable(interface: 3))
  private static let unknown = ConnectionRoutes(pair: .unknown, remote: .unknown)

  /// A machine of a connection that is established and fine.
  private func fine(_ policy: ConnectionPolicy = .init()) -> ConnectionStateMachine {
    var machine = ConnectionStateMachine(policy)
    _ = machine.take(Self.first, activity: .busy, at: 0)
    return machine
  }

  private func figures(_ change: (inout SocketProgress) -> Void = { _ in }) -> SocketProgress {
    var figures = SocketProgress()
    figures.roundTrip = 10_000
    figures.retransmissionTimeout = 210_000
    figures.bytesAcknowledged = 100
    change(&figures)
    return figures
  }

  @Test("dead: closed at once if nothing is lost, else after the grace", arguments: [true, false])
  func dead(_ isBusy: Bool) {
    var machine = fine()
    if !isBusy {
      #expect(machine.take(Self.gone, activity: .repeatable, at: 5) == .measure)
      #expect(machine.measured(figures(), activity: .repeatable, at: 5) == .close(.dead))
      return
    }
    #expect(machine.take(Self.gone, activity: .busy, at: 5) == .measure)
    #expect(machine.measured(figures(), activity: .busy, at: 5) == .lookAgain(5 + 2 * Self.second))
    #expect(machine.take(Self.gone, activity: .busy, at: 6) == .measure)
    #expect(machine.measured(figures(), activity: .busy, at: 6) == .lookAgain(5 + 2 * Self.second))
    #expect(machine.take(Self.gone, activity: .busy, at: 5 + 2 * Self.second) == .measure)
    #expect(machine.measured(figures(), activity: .busy, at: 5 + 2 * Self.second) == .close(.dead))
    #expect(machine.take(Self.first, activity: .busy, at: 6 * Self.second) == .wait)
  }

  @Test("dead, and it becomes idle within the grace: closed then")
  func deadAndIdle() {
    var machine = fine()
    _ = machine.take(Self.gone, activity: .busy, at: 0)
    _ = machine.take(Self.gone, activity: .idle, at: Self.second)
    #expect(machine.measured(nil, activity: .idle, at: Self.second) == .close(.dead))
  }

  /// RFC 9293, 3.9.1.3: what was acknowledged is the user's.
  @Test("dead, and what has come is not read yet: closed once it is", arguments: [ConnectionActivity.idle, .busy])
  func deadAndUnread(_ activity: ConnectionActivity) {
    var machine = fine()
    var (now, looks) = (Self.second, 0)
    while now < 86_400 * Self.second, looks < 30 {
      #expect(machine.take(Self.gone, activity: activity, at: now) == .measure)
      let action = machine.measured(figures { $0.hasUnread = true }, activity: activity, at: now)
      guard case .lookAgain(let next) = action, next > now else {
        Issue.record("\(action)")
        return
      }
      (now, looks) = (next, looks + 1)
    }
    #expect(looks < 30, "it may be so for a day")
    #expect(machine.measured(figures(), activity: activity, at: now) == .close(.dead))
  }

  @Test("cut off with its address still there: the grace counts, even if nothing is lost")
  func cutOff() {
    var machine = fine()
    #expect(machine.take(Self.cut, activity: .idle, at: 0) == .measure)
    #expect(machine.measured(nil, activity: .idle, at: 0) == .lookAgain(2 * Self.second))
    // It returns within the grace.
    #expect(machine.take(Self.first, activity: .idle, at: Self.second) == .measure)
    #expect(machine.measured(figures(), activity: .idle, at: Self.second) == .wait)
    #expect(machine.condition == .fine)
  }

  @Test("what gets packets although its routes say that it cannot is never judged again")
  func worksInSpiteOfTheRoutes() {
    var machine = fine()
    _ = machine.take(Self.gone, activity: .busy, at: 0)
    _ = machine.measured(figures(), activity: .busy, at: 0)
    _ = machine.take(Self.gone, activity: .busy, at: 2 * Self.second)
    #expect(machine.measured(figures { $0.segmentsIn = 1 }, activity: .busy, at: 2 * Self.second) == .wait)
    #expect(machine.condition == .unjudged)
    #expect(machine.take(Self.gone, activity: .idle, at: 9 * Self.second) == .wait)
  }

  @Test("not reachable when it is registered: judged once it is, and not before")
  func unjudged() {
    var machine = ConnectionStateMachine(.init())
    #expect(machine.take(Self.unknown, activity: .idle, at: 0) == .wait)
    #expect(machine.condition == .unknown)
    #expect(machine.take(Self.gone, activity: .idle, at: 1) == .wait)
    #expect(machine.condition == .unjudged)
    for routes in [Self.unknown, Self.gone, Self.cut, Self.none] {
      #expect(machine.take(routes, activity: .idle, at: 9 * Self.second) == .wait)
      #expect(machine.condition == .unjudged)
    }
    #expect(machine.take(Self.moved, activity: .idle, at: 9 * Self.second) == .wait)
    #expect(machine.condition == .fine)
    #expect(machine.take(Self.first, activity: .idle, at: 9 * Self.second) == .measure)
    #expect(machine.condition == .doubtful)
  }

  @Test("waiting: kept for as long as it takes, and while nothing is known, too")
  func waiting() {
    var machine = fine()
    for hour in 1..<10 {
      #expect(machine.take(Self.none, activity: .idle, at: Int64(hour) * 3600 * Self.second) == .wait)
      #expect(machine.take(Self.unknown, activity: .idle, at: Int64(hour) * 3600 * Self.second) == .wait)
      #expect(machine.condition == .waiting)
    }
    // Too long only counts once a path is back.
    _ = machine.take(Self.gone, activity: .idle, at: 36_000 * Self.second)
    #expect(machine.measured(figures(), activity: .idle, at: 36_000 * Self.second) == .close(.dead))
  }

  @Test("doubtful: what is acknowledged once nothing is under way any more shows that it works")
  func doubtfulWorks() {
    var machine = fine()
    #expect(machine.take(Self.moved, activity: .busy, at: 0) == .measure)
    #expect(machine.condition == .doubtful)
    let start = figures { $0.unacknowledged = 1 }
    #expect(machine.measured(start, activity: .busy, at: 0) == .lookAgain(510_000_000))
    // Until then an acknowledgement may have been under way at the change.
    let early = figures { $0.bytesAcknowledged = 101 }
    #expect(machine.measured(early, activity: .busy, at: 1_000_000) == .lookAgain(510_000_000))
    guard case .lookAgain(let next) = machine.measured(early, activity: .busy, at: 510_000_000) else {
      Issue.record("it is not looked at again")
      return
    }
    #expect(machine.wantsProbes)
    #expect(machine.take(Self.moved, activity: .busy, at: next) == .measure)
    #expect(machine.measured(early, activity: .busy, at: next) != .wait)
    #expect(machine.condition == .doubtful)
    #expect(machine.measured(figures { $0.bytesAcknowledged = 102 }, activity: .busy, at: next + 1) == .wait)
    #expect(machine.condition == .fine && !machine.wantsProbes)
    // From now on this interface is the one it works on.
    #expect(machine.take(Self.moved, activity: .busy, at: next + 2) == .wait)
  }

  @Test(
    "doubtful: closed after two attempts without an answer, and not before its time",
    arguments: [(ConnectionActivity.idle, Int64(1)), (.repeatable, 1), (.busy, 2)])
  func doubtfulIsSilent(_ activity: ConnectionActivity, _ seconds: Int64) {
    var machine = fine()
    _ = machine.take(Self.moved, activity: activity, at: 0)
    for time in [0, 510_000_000] as [Int64] {
      _ = machine.measured(figures { $0.unacknowledged = 1 }, activity: activity, at: time)
    }
    func silent(_ attempts: UInt32) -> SocketProgress {
      figures {
        $0.unacknowledged = 1
        $0.totalRetransmissions = attempts
      }
    }
    let end = seconds * Self.second
    #expect(machine.measured(silent(2), activity: activity, at: end - 1) != .close(.doubtful))
    #expect(machine.measured(silent(1), activity: activity, at: end) != .close(.doubtful))
    #expect(machine.measured(silent(2), activity: activity, at: end) == .close(.doubtful))
  }

  @Test("doubtful, and the socket cannot be asked: kept")
  func doubtfulWithoutFigures() {
    var machine = fine()
    _ = machine.take(Self.moved, activity: .idle, at: 0)
    #expect(machine.measured(nil, activity: .idle, at: 0) == .wait)
    #expect(machine.take(Self.moved, activity: .idle, at: 9 * Self.second) == .measure)
    #expect(machine.measured(nil, activity: .idle, at: 9 * Self.second) == .wait)
  }

  @Test(
    "stalled: closed if all may be repeated, else kept",
    arguments: [(ConnectionActivity.repeatable, true), (.busy, false)])
  func stalled(_ activity: ConnectionActivity, _ isClosed: Bool) {
    var machine = fine()
    _ = machine.take(Self.none, activity: activity, at: 0)
    #expect(machine.take(Self.first, activity: activity, at: 60 * Self.second) == .measure)
    // 1 s and 6 doublings, 4 s ago: 60 s are left.
    let far = figures {
      $0.unsentBytes = 10
      ($0.probes, $0.backoff) = (6, 6)
      $0.retransmissionTimeout = 1_000_000
      $0.lastSent = 4_000
    }
    #expect(far.nextTransmission == 60 * Self.second)
    // The packet that was sent last may be under way.
    let soon = 60 * Self.second + 50_000_000
    #expect(machine.measured(far, activity: activity, at: 60 * Self.second) == .lookAgain(soon))
    let action = machine.measured(far, activity: activity, at: soon)
    #expect((action == .close(.stalled)) == isClosed)
    if !isClosed { #expect(machine.condition == .stalled) }
  }

  @Test(
    "the path is back, and what was under way is acknowledged soon: kept, though the next retransmission is far away")
  func answeredAtOnce() {
    var machine = fine()
    _ = machine.take(Self.none, activity: .repeatable, at: 0)
    _ = machine.take(Self.first, activity: .repeatable, at: Self.second)
    let far = figures {
      $0.unsentBytes = 10
      ($0.probes, $0.backoff) = (6, 6)
      $0.retransmissionTimeout = 1_000_000
    }
    #expect(machine.measured(far, activity: .repeatable, at: Self.second) == .lookAgain(Self.second + 50_000_000))
    var answered = far
    answered.bytesAcknowledged += 10
    #expect(machine.measured(answered, activity: .repeatable, at: Self.second + 50_000_000) == .wait)
    #expect(machine.condition == .fine)
  }

  /// neighbour.c: what waits for the neighbour's address is sent at the next question for it, `retrans_time` apart: a
  /// second (arp(7)).
  @Test("the carrier is back, and the next retransmission is far away: closed once the neighbour had time to answer")
  func carrierBack() {
    var machine = fine()
    let isWithout = ConnectionRoutes(pair: .unreachable(.noCarrier), remote: .unreachable(.noCarrier))
    _ = machine.take(isWithout, activity: .repeatable, at: 0)
    #expect(machine.take(Self.first, activity: .repeatable, at: 60 * Self.second) == .measure)
    let far = figures {
      ($0.unacknowledged, $0.backoff) = (1, 8)
      $0.retransmissionTimeout = 60_000_000
    }
    var (now, end) = (60 * Self.second, 61 * Self.second)
    while case .lookAgain(let time) = machine.measured(far, activity: .repeatable, at: now) {
      (end, now) = (now, time)
    }
    #expect(end >= 61 * Self.second && now <= 61 * Self.second + 100_000_000)
    #expect(machine.condition == .stalled)
  }

  @Test("the path is back, and the next retransmission is near: kept")
  func notStalled() {
    var machine = fine()
    _ = machine.take(Self.none, activity: .repeatable, at: 0)
    _ = machine.take(Self.first, activity: .repeatable, at: Self.second)
    let near = figures {
      $0.unacknowledged = 1
      $0.lastSent = 150
    }
    #expect(near.nextTransmission == 60_000_000)
    #expect(machine.measured(near, activity: .repeatable, at: Self.second) == .lookAgain(Self.second + 80_000_000))
    #expect(machine.measured(figures(), activity: .repeatable, at: 2 * Self.second) == .wait)
    #expect(machine.condition == .fine)
  }

  @Test("the policy closes nothing: nothing is closed")
  func watchesOnly() {
    var policy = ConnectionPolicy()
    policy.closes = []
    var machine = fine(policy)
    #expect(machine.take(Self.gone, activity: .idle, at: 0) == .measure)
    #expect(machine.measured(figures(), activity: .idle, at: 0) == .wait)
    #expect(machine.condition == .dead)
    // It goes on to be watched.
    _ = machine.take(Self.moved, activity: .idle, at: 1)
    for time in [1, Self.second] {
      _ = machine.measured(figures { $0.unacknowledged = 1 }, activity: .idle, at: time)
    }
    let silent = figures {
      $0.unacknowledged = 1
      $0.totalRetransmissions = 5
    }
    guard case .lookAgain(let next) = machine.measured(silent, activity: .idle, at: 5 * Self.second) else {
      Issue.record("it is not looked at again")
      return
    }
    #expect(machine.measured(figures { $0.bytesAcknowledged = 101 }, activity: .idle, at: next) == .wait)
    #expect(machine.condition == .fine)
  }

  @Test("what it was closed for is what is said of it from then on")
  func closedForDoubt() {
    var machine = fine()
    _ = machine.take(Self.moved, activity: .idle, at: 0)
    for time in [0, Self.second] {
      _ = machine.measured(figures { $0.unacknowledged = 1 }, activity: .idle, at: time)
    }
    let silent = figures {
      $0.unacknowledged = 1
      $0.totalRetransmissions = 5
    }
    #expect(machine.measured(silent, activity: .idle, at: 5 * Self.second) == .close(.doubtful))
    #expect(machine.take(Self.first, activity: .idle, at: 6 * Self.second) == .wait)
    #expect(machine.condition == .doubtful)
  }

  @Test("limits as long as one can write do no harm")
  func longLimits() {
    var policy = ConnectionPolicy()
    policy.grace = .seconds(Int64.max)
    policy.doubt = .seconds(Int64.max)
    policy.stall = .seconds(Int64.max)
    var machine = fine(policy)
    #expect(machine.take(Self.gone, activity: .busy, at: Self.second) == .measure)
    #expect(machine.measured(figures(), activity: .busy, at: Self.second) == .lookAgain(.max))
    _ = machine.take(Self.moved, activity: .busy, at: 2 * Self.second)
    _ = machine.measured(figures(), activity: .busy, at: 2 * Self.second)
    #expect(machine.measured(figures { $0.probes = 9 }, activity: .busy, at: 60 * Self.second) != .close(.doubtful))
  }

  @Test("the kernel's structure is read where linux/tcp.h has its members")
  func readsTheStructure() throws {
    var bytes = [UInt8](repeating: 0, count: 232)
    func put(_ value: some FixedWidthInteger, at offset: Int) {
      for byte in 0..<value.bitWidth / 8 { bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }
    put(UInt32(300_000), at: 8)
    put(UInt32(20_000), at: 68)
    put(UInt64(1 << 40), at: 120)
    put(UInt32(7), at: 140)
    put(UInt32(9), at: 144)
    let figures = try #require(unsafe SocketProgress(bytes.span.bytes))
    #expect(figures.retransmissionTimeout == 300_000 && figures.roundTrip == 20_000)
    #expect(figures.bytesAcknowledged == 1 << 40 && figures.segmentsIn == 7 && figures.unsentBytes == 9)
    #expect(unsafe SocketProgress([UInt8](repeating: 0, count: 104).span.bytes) == nil)
  }
}
#endif
