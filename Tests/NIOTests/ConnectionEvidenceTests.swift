// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneNIO
import Testing

/// Which figures show that a connection works, and which only look so. Each connection is played: its figures are a
/// function of the time since its path changed, as the kernel's counters would be.
struct ConnectionEvidenceTests {
  private static let first = ConnectionRoutes(pair: .reachable(interface: 2), remote: .reachable(interface: 2))
  private static let moved = ConnectionRoutes(pair: .reachable(interface: 3), remote: .reachable(interface: 3))
  private static let cut = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .reachable(interface: 3))
  private static let none = ConnectionRoutes(pair: .unreachable(.noRoute), remote: .unreachable(.noRoute))

  /// What became of a connection, and how many milliseconds after its change.
  private struct Outcome: Equatable {
    var action: ConnectionStateMachine.Action
    var condition: ConnectionCondition
    var milliseconds: Int64
  }

  /// Plays a connection until it is judged, or for `limit` milliseconds.
  private func play(
    _ routes: ConnectionRoutes = moved, _ activity: ConnectionActivity = .idle, after before: ConnectionRoutes? = nil,
    limit: Int64 = 10_000, _ figures: (_ milliseconds: Int64) -> SocketProgress
  ) -> Outcome {
    var machine = ConnectionStateMachine(ConnectionPolicy())
    _ = machine.take(Self.first, activity: activity, at: 0)
    if let before { _ = machine.take(before, activity: activity, at: 0) }
    var (now, action) = (Int64(0), ConnectionStateMachine.Action.wait)
    while now <= limit * 1_000_000 {
      action = machine.take(routes, activity: activity, at: now)
      if action == .measure { action = machine.measured(figures(now / 1_000_000), activity: activity, at: now) }
      guard case .lookAgain(let next) = action, next <= limit * 1_000_000 else { break }
      now = next
    }
    return Outcome(action: action, condition: machine.condition, milliseconds: now / 1_000_000)
  }

  /// Figures by a round trip in milliseconds. The retransmission timeout is what Linux makes of it.
  private func figures(roundTrip: UInt32 = 1, _ change: (inout SocketProgress) -> Void) -> SocketProgress {
    var figures = SocketProgress()
    (figures.roundTrip, figures.retransmissionTimeout) = (roundTrip * 1_000, max(3 * roundTrip, 200) * 1_000)
    change(&figures)
    return figures
  }

  /// How many probes the kernel has sent, one a second, if the last segment came at that time and it was asked to
  /// probe from `start` on.
  private func probes(at now: Int64, from start: Int64) -> UInt8 { now < start ? 0 : UInt8((now - start) / 1_000 + 1) }

  // MARK: What was under way

  /// A request is in flight when the path changes, and its answer arrives; nothing arrives after it.
  @Test(arguments: [ConnectionActivity.idle, .busy])
  func theAnswerToWhatWasInFlightShowsNothing(_ activity: ConnectionActivity) {
    let outcome = play(Self.moved, activity) { now in
      figures(roundTrip: 100) {
        $0.unacknowledged = now < 90 ? 1 : 0
        ($0.segmentsOut, $0.segmentsIn, $0.dataSegmentsIn) = (1, 1, 1)
        if now >= 90 {
          ($0.bytesAcknowledged, $0.bytesReceived, $0.segmentsOut, $0.segmentsIn) = (200, 200, 2, 2)
          ($0.dataSegmentsIn, $0.probes) = (2, probes(at: now, from: 1_090))
          $0.segmentsOut += UInt32($0.probes)
        }
      }
    }
    #expect(outcome.action == .close(.doubtful) && outcome.milliseconds <= 3_000, "\(outcome)")
  }

  /// The other side sends until its window is full or its timer ends; then it only repeats itself, ever more seldom.
  private func lostDownload(_ now: Int64) -> SocketProgress {
    figures {
      let new = UInt32(min(now, 450) / 10)
      let again = UInt32([450, 650, 1_050, 1_850].filter { $0 <= now }.count)
      ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut) = (100 + new + again, 100 + new + again, 100 + new + again)
      $0.bytesReceived = UInt64(1_000 * new)
      $0.lastReceived = UInt32(max(now - 450, 0))
      $0.probes = probes(at: now, from: 2_850)
    }
  }

  @Test(arguments: [ConnectionActivity.idle, .busy])
  func aDownloadWhoseAcknowledgementsAreLostIsClosed(_ activity: ConnectionActivity) {
    let outcome = play(Self.moved, activity, lostDownload)
    #expect(outcome.action == .close(.doubtful) && outcome.milliseconds <= 4_500, "\(outcome)")
    // It has a path of its own no more, and another one is there: the grace counts.
    let dead = play(Self.cut, activity, lostDownload)
    #expect(dead == Outcome(action: .close(.dead), condition: .dead, milliseconds: 2_000))
  }

  /// What comes after a long silence is sent without knowing whether anybody is there, and then sent again.
  @Test func oneThingAfterASilenceShowsNothing() {
    let outcome = play(limit: 4_000) { now in
      figures {
        ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut) = (1, 1, 1)
        guard now >= 900 else { return }
        let again = UInt32([1_100, 1_500, 2_300, 3_900].filter { $0 <= now }.count)
        $0.bytesReceived = 1
        ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut) = (2 + again, 2 + again, 2 + again)
        $0.lastReceived = UInt32(now - 900)
      }
    }
    #expect(outcome.condition == .doubtful, "\(outcome)")
  }

  /// Something new comes 1.2 s after the first: later than the other side sends unheard (RFC 6298, 2.1), and seen later
  /// still. It counts from when it came (tcp(7), tcpi_last_data_recv).
  @Test func whatComesLateShowsThatTheOtherSideIsHeard() {
    let outcome = play(limit: 4_000) { now in
      figures {
        let new = UInt32([100, 1_300].filter { $0 <= now }.count)
        ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut) = (new, new, new)
        ($0.bytesReceived, $0.lastReceived) = (UInt64(new), UInt32(max(now - (now < 1_300 ? 100 : 1_300), 0)))
      }
    }
    #expect(outcome.condition == .fine && outcome.milliseconds < 2_000, "\(outcome)")
  }

  @Test(arguments: [(Self.moved, ConnectionCondition.fine), (Self.cut, .unjudged)])
  func aDownloadThatGoesOnWorks(_ routes: ConnectionRoutes, _ condition: ConnectionCondition) {
    let outcome = play(routes) { now in
      figures {
        let new = UInt32(now / 10)
        ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut) = (new, new, new)
        ($0.bytesReceived, $0.lastReceived) = (UInt64(1_000 * new), UInt32(now % 10))
      }
    }
    #expect(outcome.condition == condition && outcome.milliseconds <= 2_000, "\(outcome)")
  }

  @Test func whatIsAcknowledgedWasSentSinceIfNothingWasInFlight() {
    let outcome = play(Self.moved, .busy) { now in
      figures { ($0.bytesAcknowledged, $0.unacknowledged) = (now >= 20 ? 100 : 0, now > 0 && now < 20 ? 1 : 0) }
    }
    #expect(outcome == Outcome(action: .wait, condition: .fine, milliseconds: 40))
  }

  // MARK: A window that is shut

  /// Each probe is answered, and so the time to the next one doubles: 0.2 s, 0.4 s and so on.
  @Test(arguments: [ConnectionActivity.idle, .repeatable, .busy])
  func aWindowThatIsShutIsNoSilence(_ activity: ConnectionActivity) {
    for (answers, condition) in [(true, ConnectionCondition.fine), (false, .doubtful)] {
      let outcome = play(Self.moved, activity) { now in
        figures {
          let sent = [600, 2_200, 5_400].filter { $0 <= now }.count
          ($0.unsentBytes, $0.backoff, $0.segmentsOut) = (9_000, UInt8(2 + sent), UInt32(9 + sent))
          if answers { $0.segmentsIn = UInt32(9 + sent) } else { $0.probes = UInt8(sent) }
        }
      }
      #expect(outcome.condition == condition && (outcome.action == .wait) == answers, "\(outcome)")
    }
  }

  /// The other side has no memory for what is in flight, and says so each time that it is sent.
  @Test func whatIsAnsweredAndNotAcceptedIsNotSentInVain() {
    for answers in [true, false] {
      let outcome = play(Self.moved, .busy) { now in
        figures {
          let sent = [200, 600, 1_400, 3_000, 6_200].filter { $0 <= now }.count
          ($0.unacknowledged, $0.totalRetransmissions, $0.backoff) = (1, UInt32(sent), UInt8(sent))
          ($0.segmentsOut, $0.segmentsIn) = (UInt32(9 + sent), answers ? UInt32(9 + sent) : 9)
        }
      }
      #expect((outcome.action == .close(.doubtful)) != answers, "\(outcome)")
      // It is not fine either: a window that opens says as much.
      #expect(outcome.condition == .doubtful)
    }
  }

  // MARK: A long round trip

  /// A request was sent just before; its answer takes as long as ever.
  @Test(arguments: [UInt32(80), 300, 500, 1_000])
  func aLongRoundTripIsNoStall(_ roundTrip: UInt32) {
    func answered(_ now: Int64) -> SocketProgress {
      figures(roundTrip: roundTrip) {
        let isAnswered = now >= Int64(roundTrip)
        ($0.unacknowledged, $0.bytesAcknowledged) = (isAnswered ? 0 : 1, isAnswered ? 200 : 0)
        ($0.lastSent, $0.segmentsOut) = (UInt32(now), 1)
      }
    }
    #expect(play(Self.first, .repeatable, after: Self.none, answered).condition == .fine)
    #expect(play(Self.moved, .repeatable, answered).condition == .doubtful)
    // Requests follow each other: something is always in flight.
    let busy = play(Self.moved, .repeatable) { now in
      figures(roundTrip: roundTrip) {
        ($0.unacknowledged, $0.bytesAcknowledged) = (1, UInt64(max(now - Int64(roundTrip), 0) / 100))
        $0.lastSent = UInt32(now % 100)
      }
    }
    #expect(busy.condition == .fine, "\(busy)")
  }

  /// What was sent last, as the path came back, is answered a round trip later.
  @Test(arguments: [UInt32(10), 300])
  func theLastRetransmissionHasARoundTrip(_ roundTrip: UInt32) {
    for answers in [true, false] {
      let outcome = play(Self.first, .repeatable, after: Self.none) { now in
        figures(roundTrip: roundTrip) {
          ($0.unacknowledged, $0.backoff, $0.retransmissionTimeout, $0.lastSent) = (1, 5, 9_000_000, UInt32(now))
          if answers, now >= Int64(roundTrip) { ($0.unacknowledged, $0.bytesAcknowledged) = (0, 100) }
        }
      }
      #expect((outcome.action == .close(.stalled)) != answers, "\(outcome)")
      #expect(outcome.milliseconds <= max(2 * Int64(roundTrip), 50) + 50)
    }
  }
}
#endif
