// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

struct SiteMonitorStateMachineTests {
  private static let second: Int64 = 1_000_000_000
  private static let url: SiteURL = "https://example.com/"
  private let reachable = Reachability(
    status: .reachable, flags: .reachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired))
  private let overWiFi = Reachability(
    status: .reachable, flags: .reachable, interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi))
  private let gone = Reachability(status: .unreachable, reason: .noCarrier)
  private let available = SiteVerdict(url: url, kind: .available, status: 200)
  private let failed = SiteVerdict(url: url, kind: .failed, stage: .connect)
  private let portal = SiteVerdict(url: url, kind: .captivePortal, status: 302)

  private func machine(_ change: (inout SiteMonitorConfiguration) -> Void = { _ in }) -> SiteMonitorStateMachine {
    var configuration = SiteMonitorConfiguration()
    change(&configuration)
    return SiteMonitorStateMachine(configuration)
  }

  /// A machine that found the site available at time 0, with its first check.
  private func availableMachine(_ change: (inout SiteMonitorConfiguration) -> Void = { _ in })
    -> SiteMonitorStateMachine
  {
    var machine = machine(change)
    _ = machine.pathChanged(reachable, now: 0, random: 0.5)
    _ = machine.checkEnded(1, available, now: 0, random: 0.5)
    return machine
  }

  @Test func checksAtOnceIfThePathWasThereBefore() {
    var machine = machine()
    #expect(machine.pathChanged(reachable, now: 0, random: 0.5) == [.startCheck(1)])
    #expect(machine.isChecking && machine.deadline == nil)
    #expect(machine.checkEnded(1, available, now: 5, random: 0.5) == [.report(available)])
    #expect(machine.deadline == 5 + 300 * Self.second)
  }

  @Test func tellsTheFirstVerdictAtOnce() {
    var machine = machine()
    _ = machine.pathChanged(reachable, now: 0, random: 0.5)
    #expect(machine.checkEnded(1, failed, now: 0, random: 0.5) == [.report(failed)])
    #expect(machine.deadline == Self.second)
  }

  /// The second failure is what is told, and the first one's beginning is since when the site has failed.
  @Test func aLossIsToldSinceTheFirstFailedCheckBegan() throws {
    var machine = availableMachine { $0.interval = .seconds(60) }
    let due = try #require(machine.deadline)
    #expect(machine.timePassed(now: due) == [.startCheck(2)])
    #expect(machine.checkEnded(2, failed, now: due + 5 * Self.second, random: 0.5) == [])
    let again = try #require(machine.deadline)
    #expect(machine.timePassed(now: again) == [.startCheck(3)])
    let now = again + 5 * Self.second
    let verdict = SiteVerdict(
      url: Self.url, kind: .failed, stage: .connect, timestamp: UTCTimestamp(durationSince1970: .nanoseconds(now)))
    guard case .report(let told)? = machine.checkEnded(3, verdict, now: now, random: 0.5).first else {
      Issue.record("nothing was told")
      return
    }
    #expect(told.timestamp?.durationSince1970 == .nanoseconds(now))
    #expect(told.failingSince?.durationSince1970 == .nanoseconds(due))
    // Once it answers, that is over.
    _ = machine.checkWasAskedFor(now: now)
    guard case .report(let answered)? = machine.checkEnded(4, available, now: now, random: 0.5).first else {
      Issue.record("nothing was told")
      return
    }
    #expect(answered.failingSince == nil)
  }

  @Test func isOfflineAtOnceAndCancelsWhatIsUnderWay() {
    var machine = availableMachine()
    #expect(machine.checkWasAskedFor(now: 0) == [.startCheck(2)])
    #expect(machine.pathChanged(gone, now: 1, random: 0.5) == [.cancelCheck, .reportOffline(.noCarrier)])
    #expect(machine.deadline == nil && !machine.isChecking)
    #expect(machine.checkEnded(2, available, now: 2, random: 0.5) == [], "a late answer changes nothing")
    #expect(machine.checkWasAskedFor(now: 3) == [], "without a path nothing is sent")
  }

  @Test func settlesBeforeItChecksANewPath() {
    var machine = availableMachine()
    _ = machine.pathChanged(gone, now: 0, random: 0)
    #expect(machine.pathChanged(reachable, now: 0, random: 0) == [.forget], "offline holds no longer")
    #expect(machine.deadline == Self.second / 2)
    #expect(machine.pathChanged(overWiFi, now: Self.second / 4, random: 0) == [.forget])
    #expect(machine.deadline == Self.second * 3 / 4)
    #expect(machine.timePassed(now: Self.second / 2) == [], "not yet")
    #expect(machine.timePassed(now: Self.second * 3 / 4) == [.startCheck(2)])
  }

  @Test func aPathThatNeverSettlesIsCheckedAllTheSame() {
    var machine = availableMachine()
    var now: Int64 = 0
    var checks = 0
    for round in 0..<100 {
      now += Self.second / 10
      _ = machine.pathChanged(round.isMultiple(of: 2) ? overWiFi : reachable, now: now, random: 0)
      if let deadline = machine.deadline, deadline < now + Self.second / 10 {
        checks += machine.timePassed(now: deadline).count
      }
    }
    #expect(checks >= 4, "at most four times the settling after the first change: 2 s of 10")
  }

  @Test func aPathThatNeverSettlesDoesNotPutTheCheckOffByItsSpread() {
    var machine = availableMachine()
    let step = Self.second / 20
    var turns = 0
    // First four times the settling, then at most the spread of a crowd, which is longer than the settling here.
    for (round, now) in stride(from: Int64(0), through: Self.second * 4, by: Int(step)).enumerated() {
      if machine.timePassed(now: now) == [.startCheck(2)] {
        #expect(now == Self.second * 3 && turns == 1)
        return
      }
      _ = machine.pathChanged(round.isMultiple(of: 2) ? overWiFi : reachable, now: now, random: 0.99) {
        turns += 1
        return Self.second
      }
    }
    Issue.record("no check was begun")
  }

  /// How long it takes until the loss of an available site is told, if the site dies while its path changes every
  /// `period`; `nil` if more than ten minutes.
  private func timeUntilLoss(
    changing paths: [Reachability], every period: Int64, checksTaking duration: Int64
  ) -> Int64? {
    var machine = availableMachine()
    var (now, change, changes) = (Int64(0), period, 0)
    var check: (number: UInt64, end: Int64)?
    while now < 600 * Self.second {
      now = min(change, machine.deadline ?? .max, check?.end ?? .max)
      var actions: [SiteMonitorStateMachine.Action]
      if let ended = check, ended.end == now {
        check = nil
        actions = machine.checkEnded(ended.number, failed, now: now, random: 0.5)
      } else if machine.deadline == now {
        actions = machine.timePassed(now: now)
      } else {
        change += period
        changes += 1
        actions = machine.pathChanged(paths[changes % paths.count], now: now, random: 0.5)
      }
      for action in actions {
        switch action {
        case .startCheck(let number): check = (number, now + duration)
        case .cancelCheck: check = nil
        case .report: return now
        case .reportOffline, .forget: Issue.record("the path works throughout")
        }
      }
    }
    return nil
  }

  /// Refused at once, or never answered: a check takes 1 ms or its whole timeout.
  @Test(arguments: [50, 300, 1_000, 5_000, 14_000, 30_000, 45_000], [1, 15_000])
  func aDeadSiteIsLostThoughItsPathChanges(everyMilliseconds period: Int64, _ duration: Int64) throws {
    let byAnotherRouter = Reachability(
      status: .reachable, flags: .reachable, interface: reachable.interface, gateway: IPAddress("192.0.2.1"))
    let millisecond = Self.second / 1_000
    // The first check follows the first change. Each of two failures takes a check, before it half a timeout of
    // cancelled checks, and the time until the path has settled.
    let limit = period + 3_000 + 2 * (7_500 + duration + 3_000)
    for paths in [[reachable, byAnotherRouter], [reachable, overWiFi]] {
      let time = timeUntilLoss(changing: paths, every: period * millisecond, checksTaking: duration * millisecond)
      #expect(try #require(time) <= limit * millisecond, "\(paths)")
    }
  }

  @Test func aCheckGoesOnOverAPathThatChangesOnItsInterfaceAndAnotherFollows() {
    var machine = availableMachine()
    #expect(machine.checkWasAskedFor(now: 0) == [.startCheck(2)])
    let byAnotherRouter = Reachability(
      status: .reachable, flags: .reachable, interface: reachable.interface, gateway: IPAddress("192.0.2.1"))
    #expect(machine.pathChanged(byAnotherRouter, now: 0, random: 0) == [])
    #expect(machine.timePassed(now: machine.deadline ?? -1) == [])
    #expect(machine.checkWasAskedFor(now: Self.second) == [])
    #expect(machine.checkEnded(2, available, now: Self.second, random: 0) == [.report(available)])
    #expect(machine.timePassed(now: Self.second) == [.startCheck(3)])
  }

  @Test func aCheckIsOfNoUseOverAnotherInterface() {
    var machine = availableMachine()
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.pathChanged(overWiFi, now: 0, random: 0) == [.cancelCheck])
  }

  @Test func spreadsTheChecksOfMonitorsThatShareAPath() {
    let deadlines = stride(from: 0.0, to: 1, by: 0.01).map { random -> Int64 in
      var machine = availableMachine()
      _ = machine.pathChanged(overWiFi, now: 0, random: random)
      return machine.deadline ?? -1
    }
    #expect(Set(deadlines).count == 100)
    #expect((deadlines.max() ?? 0) - (deadlines.min() ?? 0) > Self.second * 4 / 10)
  }

  @Test(arguments: [1, 2, 3, 5]) func tellsALossAfterFailuresInARow(_ threshold: Int) {
    var machine = availableMachine { $0.failuresBeforeLoss = threshold }
    for failure in 1...threshold {
      #expect(machine.timePassed(now: machine.deadline ?? -1) == [.startCheck(UInt64(failure + 1))])
      let actions = machine.checkEnded(UInt64(failure + 1), failed, now: 0, random: 0.5)
      #expect(actions == (failure == threshold ? [.report(failed)] : []))
    }
  }

  @Test func aSuccessBetweenFailuresBeginsTheCountAnew() {
    var machine = availableMachine()
    for (number, verdict) in [failed, available, failed, available].enumerated() {
      _ = machine.timePassed(now: machine.deadline ?? -1)
      let actions = machine.checkEnded(UInt64(number + 2), verdict, now: 0, random: 0.5)
      #expect(actions == (verdict.isAvailable ? [.report(available)] : []))
    }
  }

  @Test func triesAgainBeforeItTellsAFailureJustAfterThePathCame() {
    var machine = machine()
    #expect(machine.pathChanged(gone, now: 0, random: 0) == [.reportOffline(.noCarrier)])
    _ = machine.pathChanged(reachable, now: 0, random: 0)
    #expect(machine.timePassed(now: machine.deadline ?? -1) == [.startCheck(1)])
    #expect(machine.checkEnded(1, failed, now: 0, random: 0.5) == [])
    #expect(machine.timePassed(now: machine.deadline ?? -1) == [.startCheck(2)])
    #expect(machine.checkEnded(2, available, now: 0, random: 0.5) == [.report(available)])
  }

  @Test func tellsAnotherKindOfFailureAtOnceAfterALoss() {
    var machine = machine()
    _ = machine.pathChanged(reachable, now: 0, random: 0)
    _ = machine.checkEnded(1, failed, now: 0, random: 0.5)
    _ = machine.timePassed(now: machine.deadline ?? -1)
    #expect(machine.checkEnded(2, portal, now: 0, random: 0.5) == [.report(portal)])
  }

  /// Up to the pause after a check that found the site available, as nm-connectivity.c of NetworkManager does.
  @Test(arguments: [300, 20] as [Int64]) func retriesEverMoreSeldom(interval: Int64) {
    var (machine, delays) = (availableMachine { $0.interval = .seconds(interval) }, [Int64]())
    for number in 2...12 {
      let now = machine.deadline ?? -1
      _ = machine.timePassed(now: now)
      _ = machine.checkEnded(UInt64(number), failed, now: now, random: 0.5)
      delays.append(((machine.deadline ?? -1) - now) / Self.second)
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { min($0, interval) })
  }

  @Test func pausesBeginAnewAfterAChangeOfThePath() {
    var machine = availableMachine { $0.failuresBeforeLoss = 100 }
    _ = machine.checkWasAskedFor(now: 0)
    _ = machine.checkEnded(2, failed, now: 0, random: 0.5)
    for number in 3...5 as ClosedRange<UInt64> {
      let now = machine.deadline ?? 0
      _ = machine.timePassed(now: now)
      _ = machine.checkEnded(number, failed, now: now, random: 0.5)
    }
    let before = machine.deadline ?? 0
    // 1, 2 and 4 seconds have passed, and 8 would follow.
    #expect(before == 15 * Self.second)
    _ = machine.pathChanged(overWiFi, now: before, random: 0)
    let now = machine.deadline ?? 0
    #expect(machine.timePassed(now: now) == [.startCheck(6)])
    _ = machine.checkEnded(6, failed, now: now, random: 0.5)
    #expect(machine.deadline == now + Self.second)
  }

  /// A check that finds no path knows it for certain: no further failure is waited for.
  @Test func aCheckThatFindsNoPathIsToldAtOnce() {
    let offline = SiteVerdict(url: Self.url, kind: .offline)
    var machine = availableMachine { $0.failuresBeforeLoss = 5 }
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.checkEnded(2, offline, now: 0, random: 0.5) == [.report(offline)])
    // The path is back, and the check still finds none.
    _ = machine.pathChanged(gone, now: 1, random: 0)
    _ = machine.pathChanged(overWiFi, now: 2, random: 0)
    let now = machine.deadline ?? 0
    #expect(machine.timePassed(now: now) == [.startCheck(3)])
    #expect(machine.checkEnded(3, offline, now: now, random: 0.5) == [.report(offline)])
  }

  @Test func aConfigurationThatContradictsItselfIsToldOnceAndNotTriedAgain() {
    var machine = machine { $0.retryDelay = .zero }  // a machine that used it would never rest
    let invalid = SiteVerdict(
      url: Self.url, kind: .failed, stage: .request, error: SiteError(.invalidConfiguration, "no delay"))
    _ = machine.pathChanged(gone, now: 0, random: 0)
    _ = machine.pathChanged(reachable, now: 0, random: 0)
    #expect(machine.timePassed(now: machine.deadline ?? -1) == [.startCheck(1)])
    #expect(machine.checkEnded(1, invalid, now: 0, random: 0) == [.report(invalid)])
    #expect(machine.deadline == nil)
  }

  @Test func checksSeldomOverAnExpensivePath() {
    var machine = machine()
    let cellular = Reachability(
      status: .reachable, flags: [.reachable, .isWWAN],
      interface: NetworkInterface(name: "wwan0", index: 4, kind: .cellular))
    _ = machine.pathChanged(cellular, now: 0, random: 0.5)
    _ = machine.checkEnded(1, available, now: 0, random: 0.5)
    #expect(machine.deadline == 3_600 * Self.second)
  }

  @Test(arguments: [("eth0", 3_600), ("eth1", 300)])
  func checksSeldomOverAMeteredInterface(_ metered: String, _ seconds: Int64) {
    var machine = machine { $0.meteredInterfaces = [metered] }
    _ = machine.pathChanged(reachable, now: 0, random: 0.5)
    _ = machine.checkEnded(1, available, now: 0, random: 0.5)
    #expect(machine.deadline == seconds * Self.second)
  }

  @Test(arguments: [(["uplink"], 3_600), (["downlink"], 300), ([], 300)] as [([String], Int64)])
  func anInterfaceIsMeteredByAnyOfItsNames(_ names: [String], _ seconds: Int64) {
    var machine = machine { $0.meteredInterfaces = ["uplink"] }
    _ = machine.pathChanged(reachable, alternativeNames: names, now: 0, random: 0.5)
    _ = machine.checkEnded(1, available, now: 0, random: 0.5)
    #expect(machine.deadline == seconds * Self.second)
  }

  @Test func spreadsTheFirstChecksOfACrowd() {
    var machine = machine()
    #expect(machine.pathChanged(reachable, now: 7, random: 0.5) { Self.second } == [])
    #expect(machine.deadline == 7 + Self.second && !machine.isChecking)
    #expect(machine.timePassed(now: 7 + Self.second) == [.startCheck(1)])
  }

  @Test func aLostPathTakesNoTurn() {
    var machine = availableMachine()
    _ = machine.pathChanged(gone, now: 0, random: 0.5) {
      Issue.record("there is no check that has to stand back")
      return 0
    }
  }

  @Test func aCrowdIsSpreadBeyondTheSettlingOfAPathToo() {
    var machine = availableMachine()
    _ = machine.pathChanged(overWiFi, now: 0, random: 0.5) { 4 * Self.second }
    #expect(machine.deadline == Self.second * 9 / 2)
    machine = availableMachine()
    _ = machine.pathChanged(overWiFi, now: 0, random: 0.5) { .max }
    #expect(machine.deadline == .max, "clamped, not trapped")
  }

  private static let settlings: [(Duration, deadline: Int64)] = [
    (.seconds(Int64.max) * 2, .max), (Duration(attoseconds: .max), .max), (Duration(attoseconds: .min), 7),
    (.seconds(Int64.min), 7), (.seconds(-1), 7),
  ]

  @Test(arguments: settlings)
  func aPathMaySettleForAnyTime(settling: Duration, deadline: Int64) {
    var machine = availableMachine { $0.settling = settling }
    _ = machine.pathChanged(overWiFi, now: 7, random: 0.5)
    #expect(machine.deadline == deadline)
  }

  @Test func aRequestedCheckDoesNotWaitForTheCrowd() {
    var machine = machine()
    _ = machine.pathChanged(reachable, now: 0, random: 0.5) { Self.second }
    #expect(machine.checkWasAskedFor(now: 0) == [.startCheck(1)])
    #expect(machine.deadline == nil)
  }

  @Test func asksTheCheckWhyANameHasNoAddress() {
    var machine = machine()
    let noName = Reachability(status: .unreachable, reason: .nameNotResolved)
    #expect(machine.pathChanged(noName, now: 0, random: 0.5) == [.startCheck(1)])
  }

  @Test func checksIfTheSystemDoesNotSay() {
    var machine = machine()
    #expect(machine.pathChanged(.denied, now: 0, random: 0.5) == [.startCheck(1)])
  }

  @Test func anEqualPathIsNoEvent() {
    var machine = availableMachine()
    let deadline = machine.deadline
    #expect(machine.pathChanged(reachable, now: 9, random: 0.5) == [])
    #expect(machine.deadline == deadline)
  }

  @Test(arguments: [
    (SiteVerdict.Kind.available, SiteVerdict.Kind.available, SiteVerdict.Kind.available, true),
    (.available, .failed, .partial, true), (.available, .intercepted, .partial, true),
    (.failed, .available, .available, true), (.captivePortal, .failed, .captivePortal, false),
    (.failed, .failed, .failed, true), (.failed, .intercepted, .intercepted, true),
    (.available, .offline, .offline, true),
  ])
  func twoURLsHaveOneVerdict(
    _ plain: SiteVerdict.Kind, _ secure: SiteVerdict.Kind, _ both: SiteVerdict.Kind, _ isOfSecure: Bool
  ) {
    let verdict = SitePair.combine(
      plain: SiteVerdict(url: "http://example.com/", kind: plain), secure: SiteVerdict(url: Self.url, kind: secure))
    #expect(verdict.kind == both)
    #expect(verdict.url.isSecure == isOfSecure)
  }
}
