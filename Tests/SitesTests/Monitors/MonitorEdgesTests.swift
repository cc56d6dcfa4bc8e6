// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// Edges of when a site is checked, and of what receivers are told.
struct MonitorEdgesTests {
  private static let second: Int64 = 1_000_000_000
  private static let url: SiteURL = "https://example.com/"
  private let available = SiteVerdict(url: url, kind: .available, status: 200)
  private let failed = SiteVerdict(url: url, kind: .failed, stage: .connect)
  private let offline = SiteVerdict(url: url, kind: .offline)
  private let gone = Reachability(status: .unreachable, reason: .noCarrier)

  private func path(_ index: UInt32?) -> Reachability {
    Reachability(
      status: .reachable, flags: .reachable,
      interface: index.flatMap { NetworkInterface(name: "eth\($0)", index: $0, kind: .wired) })
  }

  /// A machine that found the site available at time 0, over the second interface.
  private func machine(
    _ change: (inout SiteMonitorConfiguration) -> Void = { _ in }
  ) -> SiteMonitorStateMachine {
    var configuration = SiteMonitorConfiguration()
    change(&configuration)
    var machine = SiteMonitorStateMachine(configuration)
    _ = machine.pathChanged(path(2), now: 0, random: 0.5)
    _ = machine.checkEnded(1, available, now: 0, random: 0.5)
    return machine
  }

  /// Its neighbours and name servers may need a moment, and the site has to be found back at once then.
  @Test func aNewPathIsAskedAgainAtTheSamePauseForASecond() {
    var machine = machine {
      $0.retryDelay = .milliseconds(100)
      $0.settling = .zero
    }
    _ = machine.pathChanged(gone, now: 7 * Self.second, random: 0.5)
    let begin = 10 * Self.second
    _ = machine.pathChanged(path(2), now: begin, random: 0.5)
    var pauses: [Int64] = []
    for number in 2...14 as ClosedRange<UInt64> {
      let now = machine.deadline ?? 0
      #expect(machine.timePassed(now: now) == [.startCheck(number)])
      _ = machine.checkEnded(number, failed, now: now, random: 0.5)
      pauses.append(((machine.deadline ?? 0) - now) / 1_000_000)
    }
    #expect(pauses == Array(repeating: 100, count: 10) + [200, 400, 800])
  }

  @Test func onlySomeActionsAreReports() {
    let reports: [SiteMonitorStateMachine.Action] = [.report(available), .reportOffline(nil), .reportOffline(.noRoute)]
    let others: [SiteMonitorStateMachine.Action] = [.startCheck(1), .cancelCheck, .forget]
    #expect(reports.allSatisfy(\.isReport) && !others.contains(where: \.isReport))
  }

  @Test func anotherChecksEndChangesNothing() {
    var machine = machine()
    #expect(machine.checkEnded(1, failed, now: 1, random: 0.5) == [], "none is under way")
    #expect(machine.checkWasAskedFor(now: 1) == [.startCheck(2)])
    for number in [0, 1, 3] as [UInt64] {
      #expect(machine.checkEnded(number, failed, now: 1, random: 0.5) == [] && machine.isChecking)
    }
    #expect(machine.checkWasAskedFor(now: 1) == [], "one is under way")
    #expect(machine.checkEnded(2, available, now: 1, random: 0.5) == [.report(available)] && !machine.isChecking)
  }

  @Test func withoutAPathNothingIsChecked() {
    var machine = SiteMonitorStateMachine(SiteMonitorConfiguration())
    #expect(machine.checkWasAskedFor(now: 0) == [] && machine.timePassed(now: .max) == [])
    #expect(machine.path == nil && !machine.isChecking && machine.deadline == nil)
    #expect(machine.pathChanged(gone, now: 0, random: 0.5) == [.reportOffline(.noCarrier)])
    #expect(machine.checkWasAskedFor(now: 0) == [] && machine.deadline == nil)
  }

  /// The default interval is 300 seconds.
  @Test func aCheckIsDueAtItsTimeAndNotBefore() {
    var machine = machine()
    #expect(machine.deadline == 300 * Self.second)
    #expect(machine.timePassed(now: 300 * Self.second - 1) == [])
    #expect(machine.timePassed(now: 300 * Self.second) == [.startCheck(2)])
    #expect(machine.deadline == nil && machine.timePassed(now: .max) == [])
  }

  /// A check may take 15 seconds: from half of it on, it may finish.
  @Test(arguments: [(0, true), (7_499_999_999, true), (7_500_000_000, false), (9_000_000_000, false)])
  func aCheckThatIsLongUnderWayMayFinish(_ now: Int64, _ isCancelled: Bool) {
    var machine = machine()
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.pathChanged(path(3), now: now, random: 0) == (isCancelled ? [.cancelCheck] : []))
    #expect(machine.isChecking == !isCancelled)
  }

  /// The time of a check that was cancelled counts for the one after it.
  @Test func aPathThatChangesAllTheTimeDoesNotHideTheSite() {
    var machine = machine()
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.pathChanged(path(3), now: 4 * Self.second, random: 0) == [.cancelCheck])
    #expect(machine.checkWasAskedFor(now: 5 * Self.second) == [.startCheck(3)])
    #expect(machine.pathChanged(path(4), now: 8 * Self.second, random: 0) == [])
    #expect(machine.checkEnded(3, available, now: 9 * Self.second, random: 0.5) == [.report(available)])
    // From here on, it begins anew.
    #expect(machine.checkWasAskedFor(now: 9 * Self.second) == [.startCheck(4)])
    #expect(machine.pathChanged(path(5), now: 10 * Self.second, random: 0) == [.cancelCheck])
  }

  @Test func anInterfaceThatIsNotKnownIsNoOtherOne() {
    var machine = machine()
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.pathChanged(path(nil), now: 0, random: 0) == [] && machine.isChecking)
    var unknown = SiteMonitorStateMachine(SiteMonitorConfiguration())
    #expect(unknown.pathChanged(path(nil), now: 0, random: 0) == [.startCheck(1)])
    #expect(unknown.pathChanged(path(2), now: 0, random: 0) == [] && unknown.isChecking)
  }

  /// A monitor that was told of no path waits for several failures, as after an available site.
  @Test func afterNoPathAFailureHasToComeAgain() {
    var machine = machine { $0.failuresBeforeLoss = 3 }
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.checkEnded(2, offline, now: 0, random: 0.5) == [.report(offline)])
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.checkEnded(3, failed, now: 0, random: 0.5) == [])
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.checkEnded(4, failed, now: 0, random: 0.5).first?.isReport == true, "the third in a row")
    // What was told as failed is told again.
    _ = machine.checkWasAskedFor(now: 0)
    #expect(machine.checkEnded(5, failed, now: 0, random: 0.5).first?.isReport == true)
  }

  @Test func thePathsReturnForgetsThatThereWasNone() {
    var machine = machine()
    #expect(machine.pathChanged(gone, now: 1, random: 0) == [.reportOffline(.noCarrier)])
    #expect(machine.pathChanged(path(2), now: 2, random: 0) == [.forget])
    #expect(machine.timePassed(now: machine.deadline ?? -1) == [.startCheck(2)])
    #expect(machine.checkEnded(2, available, now: 3, random: 0.5) == [.report(available)])
    #expect(machine.pathChanged(path(3), now: 4, random: 0) == [], "nothing was told that does not hold")
  }

  /// The checks have failed since 300 s, and the next one was under way. What they found was there before the path was
  /// lost, and is told with that.
  @Test func whatFailedBeforeThePathWasLostIsTold() {
    var machine = machine()
    #expect(machine.timePassed(now: 300 * Self.second) == [.startCheck(2)])
    #expect(machine.checkEnded(2, failed, now: 305 * Self.second, random: 0.5) == [])
    #expect(machine.timePassed(now: 306 * Self.second) == [.startCheck(3)])
    let failure = SiteMonitorStateMachine.Failure(verdict: failed, time: .seconds(9))
    #expect(
      machine.pathChanged(gone, now: 309 * Self.second, random: 0)
        == [.cancelCheck, .reportOffline(.noCarrier, after: failure)])
    // The path comes, and is lost again: no check has failed since.
    _ = machine.pathChanged(path(2), now: 310 * Self.second, random: 0)
    #expect(machine.pathChanged(gone, now: 311 * Self.second, random: 0) == [.reportOffline(.noCarrier)])
  }

  /// A check that was still under way, or an answer since: nothing had failed.
  @Test(arguments: [false, true]) func withoutAFailureThePathIsLostAlone(_ hasAnswered: Bool) {
    var machine = machine()
    _ = machine.checkWasAskedFor(now: 0)
    if hasAnswered {
      _ = machine.checkEnded(2, failed, now: 1, random: 0.5)
      _ = machine.checkWasAskedFor(now: 1)
      _ = machine.checkEnded(3, available, now: 2, random: 0.5)
    }
    #expect(
      machine.pathChanged(gone, now: 3, random: 0)
        == (hasAnswered ? [] : [.cancelCheck]) + [.reportOffline(.noCarrier)])
  }

  // MARK: Pauses

  @Test func aPauseDoublesUpToTheLongest() {
    var configuration = SiteMonitorConfiguration()
    configuration.retryDelay = .nanoseconds(1_000)
    configuration.maximumRetryDelay = .nanoseconds(5_000)
    let pauses = (0...6).map { Backoff.retryDelay(failure: $0, configuration: configuration, random: 0.5) }
    #expect(pauses == [1_000, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
    // As often as it fits, and not the longest before.
    configuration.maximumRetryDelay = .nanoseconds(4_003)
    #expect(Backoff.retryDelay(failure: 3, configuration: configuration, random: 0.5) == 4_000)
    #expect(Backoff.retryDelay(failure: 3, configuration: configuration, random: 0) == 3_200)
    #expect(Backoff.retryDelay(failure: 3, configuration: configuration, random: 0.75) == 4_400)
    #expect(Backoff.interval(.nanoseconds(1_000), random: 0) == 900)
    #expect(Backoff.interval(.nanoseconds(1_000), random: 0.75) == 1_050)
  }

  /// 16 at once, then one each two milliseconds, and none later than the last of a turn: of 18, four milliseconds.
  @Test func aTurnIsWaitedForAtMost() {
    var pacer = CheckPacer()
    let delays = (0..<20).map { _ in pacer.delay(now: Self.second, monitors: 18, random: 0.25) }
    #expect(delays == [Int64](repeating: 0, count: 16) + [2_000_000, 4_000_000, 1_000_000, 1_000_000])
  }

  // MARK: Names

  private static let four = IPAddress(ipv4: 0xC629_0004)
  private static let home = IPAddress(ipv4: 0xC0A8_0101)
  private static let zero = IPAddress(ipv4: 0)

  /// What says more counts: that something was exhausted more than a failure, an address more than none.
  @Test(
    arguments: [
      (.failed, .exhausted(errno: 24), .exhausted(errno: 24), false),
      (.exhausted(errno: 24), .failed, .exhausted(errno: 24), false),
      (.noAddress, .exhausted(errno: 24), .exhausted(errno: 24), true),
      (.exhausted(errno: 24), .noAddress, .exhausted(errno: 24), true),
      (.exhausted(errno: 24), .exhausted(errno: 12), .exhausted(errno: 24), false),
      (.addresses([zero]), .exhausted(errno: 24), .unspecified(zero), true),
      (.exhausted(errno: 24), .addresses([zero]), .unspecified(zero), true),
      (.failed, .addresses([zero]), .unspecified(zero), true), (.addresses([zero]), .failed, .unspecified(zero), true),
      (.addresses([home]), .failed, .hijacked(home), false), (.failed, .addresses([home]), .hijacked(home), false),
      (.addresses([home]), .addresses([zero]), .hijacked(home), true),
      (.addresses([zero]), .addresses([home]), .hijacked(home), true),
      (.addresses([home, IPAddress(ipv4: 0x0A00_0001)]), .noAddress, .hijacked(home), true),
    ] as [(NameLookupResult, NameLookupResult, NameResolution.Failure, Bool)])
  func theFailureThatSaysMostCounts(
    _ first: NameLookupResult, _ second: NameLookupResult, _ failure: NameResolution.Failure, _ hasNoAddress: Bool
  ) {
    var resolution = NameResolution([.ipv6, .ipv4], requiresPublicAddress: true)
    #expect(resolution.isOpen && !resolution.hasNoAddress)
    #expect(resolution.ended(.ipv6, first) == .wait)
    #expect(resolution.ended(.ipv4, second) == .fail(failure))
    #expect(resolution.hasNoAddress == hasNoAddress && !resolution.isOpen)
  }

  @Test func oneFamilyAloneWaitsForNoOther() {
    var resolution = NameResolution([.ipv4], requiresPublicAddress: false)
    #expect(resolution.ended(.ipv4, .addresses([Self.home])) == .connect([Self.home]), "private ones count here")
    resolution = NameResolution([.ipv4], requiresPublicAddress: true)
    #expect(resolution.ended(.ipv4, .addresses([Self.home, Self.four])) == .connect([Self.four]))
    #expect(resolution.delayPassed() == .wait && !resolution.hasNoAddress)
  }

  @Test func whatIsGivenUpIsNotWaitedFor() {
    var resolution = NameResolution([.ipv6, .ipv4], requiresPublicAddress: false)
    resolution.close()
    #expect(!resolution.isOpen)
    #expect(resolution.ended(.ipv4, .addresses([Self.four])) == .connect([Self.four]), "late, and at once")
    #expect(resolution.ended(.ipv6, .failed) == .wait, "it fails only if nothing was handed out")
  }

  @Test func anAddressHasNoLookup() {
    let search = AddressSearch(SiteCheckConfiguration())
    #expect(search.resolution == nil && search.missingPath == nil && search.refused == nil)
    var check = ScriptedCheck("http://192.0.2.1/")
    _ = check.start()
    #expect(check.take(.lookupEnded(.ipv4, .noAddress)) == [] && check.take(.resolutionDelayPassed) == [])
  }
}
