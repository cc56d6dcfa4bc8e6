// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@testable import DialtoneSites

/// What a group keeps of its sites while it is paused and resumed by several threads.
@Suite(.timeLimit(.minutes(5)))
struct SiteGroupVerdictsTests {
  private static let url: SiteURL = "http://192.0.2.1/"
  private let verdicts = SiteGroup.Verdicts([url], quorum: 1)
  private let available = SiteVerdict(url: url, kind: .available, status: 200)

  @Test func aVerdictOfAFormerRoundChangesNothing() throws {
    let first = try #require(verdicts.beginRound(in: verdicts.wanted.epoch))
    verdicts.set(available, at: 0, of: first)
    #expect(verdicts.cell.current.isOnline)
    let second = try #require(verdicts.beginRound(in: verdicts.wanted.epoch))
    #expect(!verdicts.cell.current.isDetermined, "the monitors may have begun anew")
    verdicts.set(available, at: 0, of: first)
    #expect(!verdicts.cell.current.isDetermined)
    verdicts.set(available, at: 0, of: second)
    #expect(verdicts.cell.current.isOnline)
  }

  @Test func noRoundBeginsInAFormerEpoch() throws {
    let epoch = verdicts.wanted.epoch
    #expect(verdicts.setPaused(true))
    #expect(verdicts.beginRound(in: epoch) == nil)
    #expect(!verdicts.setPaused(true))
  }

  /// Asks when it is released whether the group is paused: under the lock it would wait for itself.
  private final class Inquirer: Sendable {
    private let verdicts: SiteGroup.Verdicts
    private let released: Counter

    init(_ verdicts: SiteGroup.Verdicts, _ released: Counter) {
      self.verdicts = verdicts
      self.released = released
    }

    deinit { if !verdicts.isPaused { released.add() } }
  }

  private final class Counter: Sendable {
    private let count = Lock(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  @Test func observationsAreReleasedOutsideTheLock() throws {
    let released = Counter()
    let monitor = ReachabilityMonitor(.internet, environment: ScriptedNetwork().environment)
    func observations() -> [ReachabilityObservation] {
      let inquirer = Inquirer(verdicts, released)
      return [monitor.observe { _ in withExtendedLifetime(inquirer) {} }]
    }
    let first = try #require(verdicts.beginRound(in: verdicts.wanted.epoch))
    verdicts.keep(observations(), of: first)
    // Two threads may observe in one round.
    verdicts.keep(observations(), of: first)
    #expect(released.value == 1)
    let second = try #require(verdicts.beginRound(in: verdicts.wanted.epoch))
    #expect(released.value == 2)
    verdicts.keep(observations(), of: first)
    #expect(released.value == 3, "they come too late")
    verdicts.keep(observations(), of: second)
    verdicts.end()
    #expect(released.value == 4)
  }
}
