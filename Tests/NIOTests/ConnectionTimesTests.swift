// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneNIO
import Testing

/// When a connection is looked at again, and the ends of its limits.
struct ConnectionTimesTests {
  private static let second: Int64 = 1_000_000_000
  private static let first = ConnectionRoutes(pair: .reachable(interface: 2), remote: .reachable(interface: 2))
  private static let moved = ConnectionRoutes(pair: .reachable(interface: 3), remote: .reachable(interface: 3))
  private static let third = ConnectionRoutes(pair: .reachable(interface: 4), remote: .reachable(interface: 4))
  private static let none = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .unreachable(.noRoute))
  private static let cut = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .reachable(interface: 3))
  private static let unknown = ConnectionRoutes(pair: .unknown, remote: .unknown)
  private static let gone = ConnectionRoutes(pair: .unreachable(.noAddress), remote: .reachable(interface: 3))

  private func fine(_ change: (inout ConnectionPolicy) -> Void = { _ in }) -> ConnectionStateMachine {
    var policy = ConnectionPolicy()
    change(&policy)
    var machine = ConnectionStateMachine(policy)
    _ = machine.take(Self.first, activity: .busy, at: 0)
    return machine
  }

  /// A machine that is in doubt since 0, and whose figures were `start` once nothing was under way any more.
  private func doubtful(
    _ start: SocketProgress, _ activity: ConnectionActivity = .idle,
    _ change: (inout ConnectionPolicy) -> Void = { _ in }
  ) -> ConnectionStateMachine {
    var machine = fine(change)
    _ = machine.take(Self.moved, activity: activity, at: 0)
    for time in [0, start.settling] { _ = machine.measured(start, activity: activity, at: time) }
    return machine
  }

  private func figures(_ change: (inout SocketProgress) -> Void = { _ in }) -> SocketProgress {
    var figures = SocketProgress()
    figures.roundTrip = 10_000
    figures.retransmissionTimeout = 210_000
    change(&figures)
    return figures
  }

  @Test func doubtIsLookedAtSoonAtFirstAndThenLessOften() {
    var machine = fine()
    _ = machine.take(Self.moved, activity: .idle, at: 7)
    // Nothing is under way after two round trips, 40 ms at least.
    #expect(machine.measured(figures(), activity: .idle, at: 7) == .lookAgain(7 + 40_000_000))
    #expect(machine.measured(figures(), activity: .idle, at: 8) == .lookAgain(7 + 40_000_000))
    #expect(machine.measured(figures(), activity: .idle, at: 7 + 40_000_000) == .lookAgain(7 + 90_000_000))
    // By half of its age, from a twentieth to half of a second.
    for (age, pause) in [(50, 50), (100, 50), (102, 51), (400, 200), (1_000, 500), (9_000, 500)] as [(Int64, Int64)] {
      let now = 7 + age * 1_000_000
      #expect(machine.measured(figures(), activity: .idle, at: now) == .lookAgain(now + pause * 1_000_000))
    }
  }

  /// "Four round trips have to pass": the documentation of `ConnectionPolicy.doubt`.
  @Test func aSlowNetworkHasFourRoundTrips() {
    let slow = figures { ($0.roundTrip, $0.unacknowledged) = (600_000, 1) }
    var machine = doubtful(slow)
    var silent = slow
    silent.totalRetransmissions = 9
    #expect(machine.measured(silent, activity: .idle, at: 2_400_000_000 - 1) != .close(.doubtful))
    #expect(machine.measured(silent, activity: .idle, at: 2_400_000_000) == .close(.doubtful))
  }

  /// "Otherwise `grace` counts, if it is longer."
  @Test(arguments: [(3, 1, 3), (1, 3, 3)])
  func theLongerLimitCountsForWhatMayNotBeRepeated(grace: Int64, doubt: Int64, limit: Int64) {
    var machine = doubtful(figures { $0.unacknowledged = 1 }, .busy) {
      ($0.grace, $0.doubt) = (.seconds(grace), .seconds(doubt))
    }
    let silent = figures { ($0.unacknowledged, $0.totalRetransmissions) = (1, 9) }
    #expect(machine.measured(silent, activity: .busy, at: limit * Self.second - 1) != .close(.doubtful))
    #expect(machine.measured(silent, activity: .busy, at: limit * Self.second) == .close(.doubtful))
  }

  /// What is acknowledged soon was under way at the change: it proves nothing, and vain attempts count from then on.
  @Test func anAcknowledgementWithinTheDoubtKeepsItOpen() {
    var machine = fine()
    _ = machine.take(Self.moved, activity: .idle, at: 0)
    _ = machine.measured(figures { $0.unacknowledged = 2 }, activity: .idle, at: 0)
    func early(_ attempts: UInt32) -> SocketProgress {
      figures { ($0.unacknowledged, $0.bytesAcknowledged, $0.totalRetransmissions) = (1, 9, attempts) }
    }
    #expect(machine.measured(early(9), activity: .idle, at: Self.second) != .close(.doubtful))
    #expect(machine.measured(early(10), activity: .idle, at: 2 * Self.second) != .close(.doubtful))
    #expect(machine.condition == .doubtful)
    #expect(machine.measured(early(11), activity: .idle, at: 2 * Self.second) == .close(.doubtful))
  }

  @Test func aRetransmissionThatIsFarAwayEndsADoubt() {
    func far(_ seconds: UInt32) -> SocketProgress {
      figures {
        ($0.unacknowledged, $0.backoff, $0.retransmissionTimeout) = (1, 3, seconds * 1_000_000 + 20_000)
        $0.lastSent = 20
      }
    }
    for (activity, seconds, isClosed) in [
      (.idle, 2, true), (.repeatable, 2, true), (.busy, 2, false), (.idle, 1, false),
    ] as [(ConnectionActivity, UInt32, Bool)] {
      var machine = doubtful(far(seconds), activity)
      let action = machine.measured(far(seconds), activity: activity, at: 520_000_000)
      #expect((action == .close(.stalled)) == isClosed, "\(activity), \(seconds) s")
    }
    var recent = far(2)
    recent.lastSent = 19
    var sentNow = doubtful(recent, .repeatable)
    #expect(sentNow.measured(recent, activity: .repeatable, at: 520_000_000) != .close(.stalled), "it is under way")
    // With a longer patience, that has to be further away.
    for (seconds, isClosed) in [(5, false), (6, true)] as [(UInt32, Bool)] {
      var machine = doubtful(far(seconds)) { $0.doubt = .seconds(5) }
      #expect((machine.measured(far(seconds), activity: .idle, at: 520_000_000) == .close(.stalled)) == isClosed)
    }
    var machine = doubtful(figures { $0.retransmissionTimeout = 9_000_000 })
    let nothing = figures { $0.retransmissionTimeout = 9_000_000 }
    #expect(machine.measured(nothing, activity: .idle, at: 520_000_000) != .close(.stalled), "nothing is outstanding")
  }

  @Test func anotherChangeBeginsAnotherDoubt() {
    var machine = doubtful(figures { $0.unacknowledged = 1 })
    #expect(machine.take(Self.third, activity: .idle, at: Self.second) == .measure)
    let settled = Self.second + 510_000_000
    let outstanding = figures { $0.unacknowledged = 1 }
    #expect(machine.measured(outstanding, activity: .idle, at: Self.second) == .lookAgain(settled))
    _ = machine.measured(outstanding, activity: .idle, at: settled)
    let silent = figures { ($0.unacknowledged, $0.totalRetransmissions) = (1, 9) }
    #expect(machine.measured(silent, activity: .idle, at: 2 * Self.second - 1) != .close(.doubtful))
    #expect(machine.measured(silent, activity: .idle, at: 2 * Self.second) == .close(.doubtful))
  }

  @Test func probesAreWantedOnlyInDoubtAndIfThePolicySaysSo() {
    #expect(!fine().wantsProbes)
    #expect(doubtful(figures()).wantsProbes)
    #expect(!doubtful(figures()) { $0.probesDoubtful = false }.wantsProbes)
    var machine = fine()
    _ = machine.take(Self.moved, activity: .idle, at: 0)
    #expect(!machine.wantsProbes, "before its figures are known")
  }

  @Test func aReturnedPathIsStalledBeyondTheLimitAlone() {
    for (milliseconds, isStalled) in [(100, false), (101, true)] as [(UInt32, Bool)] {
      var machine = fine()
      _ = machine.take(Self.none, activity: .busy, at: 0)
      _ = machine.take(Self.first, activity: .busy, at: Self.second)
      let outstanding = figures {
        ($0.unacknowledged, $0.backoff, $0.retransmissionTimeout) = (1, 1, milliseconds * 1_000)
      }
      let now = Self.second + 50_000_000
      // It is looked at once the retransmission has had time to be answered.
      #expect(
        machine.measured(outstanding, activity: .busy, at: now)
          == .lookAgain(now + (Int64(milliseconds) + 20) * 1_000_000))
      #expect(machine.condition == (isStalled ? .stalled : .fine))
      #expect(machine.take(Self.first, activity: .busy, at: now + 1) == .measure, "it is not over")
    }
    var machine = fine()
    _ = machine.take(Self.none, activity: .busy, at: 0)
    _ = machine.take(Self.first, activity: .busy, at: 1)
    let due = figures { ($0.unacknowledged, $0.retransmissionTimeout) = (1, 0) }
    #expect(machine.measured(due, activity: .busy, at: 1) == .lookAgain(1 + 40_000_000))
    #expect(machine.measured(nil, activity: .busy, at: 2) == .wait && machine.condition == .fine)
  }

  @Test func aReturnedPathIsFineUntilItsFiguresSayOtherwise() {
    var machine = fine()
    _ = machine.take(Self.none, activity: .busy, at: 0)
    _ = machine.take(Self.first, activity: .busy, at: 1)
    #expect(machine.condition == .fine)
  }

  /// Only an answer that packets can leave by an interface is one that they can.
  @Test func whatTheRoutesSayIsToldApart() {
    #expect(ConnectionRoutes.Answer.reachable(interface: 0).isReachable)
    #expect(!ConnectionRoutes.Answer.unknown.isReachable && !ConnectionRoutes.Answer.unreachable(.noRoute).isReachable)
    // From another source there is no way: `freeInterface` is 0.
    let known = ConnectionRoutes(Reachability(.unreachable, reason: .noAddress))
    #expect(known == ConnectionRoutes(pair: .unreachable(.noAddress), remote: .unreachable(.noRoute)))
    #expect(ConnectionRoutes(Reachability(.undetermined)) == Self.unknown)
  }

  @Test func aCutConnectionWhoseAddressGoesHasTheFirstGrace() {
    var machine = fine()
    #expect(machine.take(Self.cut, activity: .busy, at: 0) == .measure)
    _ = machine.measured(figures(), activity: .busy, at: 0)
    #expect(machine.take(Self.gone, activity: .busy, at: Self.second) == .measure)
    // Without its address, what it gets is judged by its segments; with it, by acknowledgements.
    #expect(
      machine.measured(figures { $0.bytesAcknowledged = 1 }, activity: .busy, at: Self.second)
        == .lookAgain(2 * Self.second))
    _ = machine.take(Self.gone, activity: .idle, at: Self.second)
    #expect(machine.measured(figures(), activity: .idle, at: Self.second) == .close(.dead))
  }

  /// What came while the address was there does not show that it gets anything without.
  @Test func whatCameBeforeItsAddressWentDoesNotCount() {
    var machine = fine()
    _ = machine.take(Self.cut, activity: .busy, at: 0)
    for time in [0, 40_000_000] as [Int64] { _ = machine.measured(figures(), activity: .busy, at: time) }
    _ = machine.take(Self.gone, activity: .busy, at: Self.second)
    let received = figures { ($0.segmentsIn, $0.dataSegmentsIn, $0.bytesReceived) = (9, 9, 9) }
    _ = machine.measured(received, activity: .busy, at: Self.second)
    #expect(machine.measured(received, activity: .busy, at: 2 * Self.second) == .close(.dead))
  }

  /// What was in flight has 600 ms, by a round trip of 100 ms and half a second that the other side may hold back.
  @Test(arguments: [(Int64(599), false), (600, true)])
  func aCutConnectionThatIsAcknowledgedIsNeverJudgedAgain(milliseconds: Int64, works: Bool) {
    var machine = fine()
    _ = machine.take(Self.cut, activity: .busy, at: Self.second)
    func acknowledged(_ bytes: UInt64) -> SocketProgress {
      figures { ($0.roundTrip, $0.unacknowledged, $0.bytesAcknowledged) = (100_000, 1, bytes) }
    }
    _ = machine.measured(acknowledged(0), activity: .busy, at: Self.second)
    let settled = Self.second + milliseconds * 1_000_000
    _ = machine.measured(acknowledged(1), activity: .busy, at: settled)
    #expect(machine.condition == .dead)
    _ = machine.measured(acknowledged(2), activity: .busy, at: settled + 1_000_000)
    #expect((machine.condition == .unjudged) == works)
  }

  @Test func nothingIsDueWhileItIsFine() {
    var machine = fine()
    #expect(machine.take(Self.first, activity: .idle, at: 9) == .wait && machine.condition == .fine)
    #expect(machine.measured(figures(), activity: .idle, at: 9) == .wait && machine.condition == .fine)
    for status in [true, false] {
      var waiting = fine()
      let remote = status ? ConnectionRoutes.Answer.reachable(interface: 2) : .unknown
      #expect(waiting.take(ConnectionRoutes(pair: .unknown, remote: remote), activity: .idle, at: 9) == .wait)
      #expect(waiting.condition == .fine, "what is not known changes nothing")
    }
  }
}
#endif
