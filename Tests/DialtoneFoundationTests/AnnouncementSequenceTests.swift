// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Foundation
import Synchronization
import Testing

@testable import Dialtone
@testable import DialtoneFoundation

/// Which of the two announcements a state leads to, by what came before it.
struct AnnouncementSequenceTests {
  /// What is announced, in its order.
  private final class Heard: Sendable {
    private let words = Mutex<[String]>([])
    let monitor: ReachabilityMonitor

    init(_ network: ScriptedNetwork) { monitor = network.monitor() }

    func sequence(inside: @escaping @Sendable () -> Void = {}) -> AnnouncementSequence {
      AnnouncementSequence(
        isSame: { $0.isSameState(as: $1) },
        wasDetermined: { [self] _, _ in
          words.withLock { $0.append("determined") }
          inside()
        },
        didChange: { [self] state, _ in words.withLock { $0.append(state.isReachable ? "reachable" : "not") } })
    }

    func take() -> [String] {
      words.withLock { words in
        defer { words = [] }
        return words
      }
    }
  }

  private static let reachable = Reachability(.reachable)
  private static let unreachable = Reachability(.unreachable)
  private static let denied = Reachability(.undetermined, reason: .denied)

  private func snapshot(_ state: Reachability, of subject: UInt32 = 0) -> Snapshot<Reachability> {
    var snapshot = Snapshot(state)
    snapshot.subjectNumber = subject
    return snapshot
  }

  @Test func aStateIsAnnouncedByWhatCameBefore() {
    let heard = Heard(ScriptedNetwork())
    let sequence = heard.sequence()
    let steps: [(Reachability, UInt32, [String])] = [
      (Self.denied, 0, ["not"]), (Self.denied, 0, []), (Self.reachable, 0, ["determined", "reachable"]),
      (Self.reachable, 0, []), (Self.unreachable, 0, ["not"]), (Self.denied, 0, ["not"]),
      (Self.reachable, 0, ["reachable"]),
      // Another target: determined anew, although nothing has changed.
      (Self.reachable, 1, ["determined"]), (Self.unreachable, 1, ["not"]),
      (Self.denied, 2, ["not"]), (Self.unreachable, 2, ["determined", "not"]), (Self.unreachable, 2, []),
      (Self.unreachable, 1, ["determined"]),
    ]
    for (step, (state, subject, expected)) in steps.enumerated() {
      sequence.announce(snapshot(state, of: subject), of: heard.monitor)
      #expect(heard.take() == expected, "step \(step)")
    }
  }

  @Test func withoutItsMonitorNothingIsAnnounced() {
    let heard = Heard(ScriptedNetwork())
    let sequence = heard.sequence()
    sequence.announce(snapshot(Self.reachable), of: nil)
    #expect(heard.take().isEmpty)
    sequence.announce(snapshot(Self.reachable), of: heard.monitor)
    #expect(heard.take() == ["determined", "reachable"])
  }

  @Test(arguments: [false, true]) func aRegistrationThatEndedInsideTheFirstHasNoSecond(ends: Bool) {
    let heard = Heard(ScriptedNetwork())
    let registration = Mutex<ReachabilityObservation?>(nil)
    let sequence = heard.sequence { if ends { registration.withLock { $0 }?.cancel() } }
    let observation = sequence.begin(heard.monitor.observe { _ in })
    registration.withLock { $0 = observation }
    sequence.announce(snapshot(Self.reachable), of: heard.monitor)
    #expect(heard.take() == (ends ? ["determined"] : ["determined", "reachable"]))
    observation.cancel()
  }

  @Test func aRegistrationThatWasReleasedHasNoSecond() {
    let heard = Heard(ScriptedNetwork())
    let registration = Mutex<ReachabilityObservation?>(nil)
    let sequence = heard.sequence { registration.withLock { $0 = nil } }
    registration.withLock { $0 = sequence.begin(heard.monitor.observe { _ in }) }
    sequence.announce(snapshot(Self.reachable), of: heard.monitor)
    #expect(heard.take() == ["determined"])
  }

  // MARK: Ports of URLs

  @Test(arguments: [("http://192.0.2.1:1/", 1), ("https://192.0.2.1:65535/", 65_535)])
  func aURLsPortIsThatOfItsTarget(text: String, port: UInt16) throws {
    #expect(try ReachabilityTarget(url: #require(URL(string: text))).port == port)
  }

  @Test func aURLWithThePortZeroIsRefused() throws {
    let url = try #require(URL(string: "http://192.0.2.1:0/"))
    let error = try #require(throws: ReachabilityError.self) { try ReachabilityTarget(url: url) }
    #expect(error.code == .invalidHost && error.message.contains("port"))
  }
}
