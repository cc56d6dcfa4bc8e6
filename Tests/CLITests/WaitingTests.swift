// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

/// Sessions of sites, questions to name servers, and what a session says that it waits for.
struct WaitingTests {
  private let reachable = Reachability(status: .reachable, flags: .reachable)
  private let unreachable = Reachability(status: .unreachable, reason: .noRoute)
  private let unresolved = Reachability(status: .undetermined, reason: .nameNotResolved)
  private let dormant = Reachability(.requiresConnection, reason: .dormant)
  private let denied = Reachability(status: .undetermined, reason: .denied)
  private let available = SiteVerdict(url: "http://a/", kind: .available, status: 204)
  private let failed = SiteVerdict(url: "http://a/", kind: .failed)
  private let unknown = SiteVerdict(url: "http://a/", kind: .undetermined)

  // MARK: check

  @Test func checkPrintsEachSiteAndEndsWithTheLast() {
    var session = CheckSession(siteCount: 2)
    #expect(session.waiting == Waiting(targets: [0, 1], goal: "to answer") && session.ending == nil)
    #expect(session.receive(available, of: 1, at: .zero) == [StateReport(target: 1, state: available)])
    #expect(session.waiting == Waiting(targets: [0], goal: "to answer") && session.ending == nil)
    #expect(session.timeOut().isEmpty && session.ending == nil)
    #expect(session.receive(failed, of: 0, at: .zero) == [StateReport(target: 0, state: failed)])
    #expect(session.waiting == nil && session.ending == .fails)
    #expect(!session.tellsReasons && session.unmetState(of: 0) == nil)
    var fine = CheckSession(siteCount: 1)
    _ = fine.receive(available, of: 0, at: .zero)
    #expect(fine.ending == .holds && fine.waiting == nil)
  }

  // MARK: wait --site

  @Test func waitsForAllSites() {
    var session = WaitSession<SiteVerdict>(targetCount: 2, goal: .available, anySuffices: false)
    #expect(session.waiting == Waiting(targets: [0, 1], goal: "to be available") && session.tellsReasons)
    #expect(session.unmetState(of: 0) == nil)
    #expect(session.receive(failed, of: 0, at: .zero).isEmpty && session.ending == nil)
    #expect(session.unmetState(of: 0) == failed && session.unmetState(of: 1) == nil)
    #expect(session.receive(available, of: 1, at: .zero).isEmpty)
    #expect(session.unmetState(of: 1) == nil && session.waiting?.targets == [0])
    #expect(session.receive(available, of: 0, at: .zero).map(\.target) == [0, 1])
    #expect(session.ending == .holds && session.waiting == nil)
    // Nothing is said twice.
    #expect(session.receive(failed, of: 0, at: .zero).isEmpty && session.timeOut().isEmpty)
    #expect(session.ending == .holds)
  }

  @Test func waitsForAnySite() {
    var session = WaitSession<SiteVerdict>(targetCount: 3, goal: .available, anySuffices: true)
    #expect(session.receive(failed, of: 0, at: .zero).isEmpty)
    #expect(session.receive(available, of: 2, at: .zero) == [StateReport(target: 2, state: available)])
    #expect(session.ending == .holds)
  }

  @Test func waitsForTheLossOfASite() {
    var session = WaitSession<SiteVerdict>(targetCount: 1, goal: .unavailable, anySuffices: false)
    #expect(session.waiting?.goal == "to be unavailable")
    #expect(session.receive(available, of: 0, at: .zero).isEmpty && session.ending == nil)
    #expect(session.receive(failed, of: 0, at: .zero) == [StateReport(target: 0, state: failed)])
    #expect(session.ending == .holds)
  }

  /// A site without a verdict has no line, and leaves the end open.
  @Test func tellsHowFarSitesHaveCome() {
    var none = WaitSession<SiteVerdict>(targetCount: 2, goal: .available, anySuffices: false)
    _ = none.receive(available, of: 1, at: .zero)
    #expect(none.timeOut() == [StateReport(target: 1, state: available)])
    #expect(none.ending == .undetermined)
    var some = WaitSession<SiteVerdict>(targetCount: 2, goal: .available, anySuffices: false)
    _ = some.receive(failed, of: 0, at: .zero)
    #expect(some.timeOut().map(\.target) == [0] && some.ending == .fails)
  }

  @Test func readsVerdicts() throws {
    let request = try SiteRequest(["http://a/", "http://b/"], configuration: .init())
    #expect(request.names == ["http://a/", "http://b/"])
    #expect(request.goodWord == "available" && request.firstGoal == "to answer")
    #expect(request.holds(available) == .holds && request.holds(failed) == .fails && request.holds(unknown) == .unknown)
    #expect(!request.isDenied(unknown) && !request.isDenied(failed))
    #expect(request.words(for: available, of: 0) == "available, 204")
    #expect(request.words(for: unknown, of: 0) == "undetermined")
    #expect(request.formatter(json: true, showsTime: false) is SiteJSONFormatter)
    // Where an error is accepted as available, the line says how to change that.
    let error = StateReport(target: 0, state: SiteVerdict(url: "http://a/", kind: .available, status: 404))
    #expect(request.formatter(json: false, showsTime: false).line(for: error).contains("--expect success"))
    var configuration = SiteMonitorConfiguration()
    configuration.check.expectation = .statuses([404])
    let strict = try SiteRequest(["http://a/"], configuration: configuration)
    #expect(!strict.formatter(json: false, showsTime: false).line(for: error).contains("--expect success"))
  }

  // MARK: wait

  /// The questions stand behind the targets, and all of them have to be answered.
  @Test func waitsForNameServersToo() {
    var session = WaitSession<Reachability>(targetCount: 2, questionCount: 2, goal: .reachable(), anySuffices: true)
    #expect(session.waiting?.targets == [0, 1, 2, 3] && session.tellsReasons)
    #expect(session.receive(unreachable, of: 2, at: .zero).isEmpty)
    #expect(session.unmetState(of: 2) == unreachable && session.unmetState(of: 3) == nil)
    #expect(session.receive(reachable, of: 1, at: .zero).isEmpty && session.ending == nil)
    // One of the targets suffices: the others are no longer waited for.
    #expect(session.waiting?.targets == [2, 3])
    #expect(session.unmetState(of: 1) == nil && session.unmetState(of: 0) == nil)
    #expect(session.receive(reachable, of: 2, at: .zero).isEmpty && session.waiting?.targets == [3])
    #expect(session.unmetState(of: 2) == nil)
    #expect(session.receive(reachable, of: 3, at: .zero) == [Report(target: 1, state: reachable)])
    #expect(session.ending == .holds && session.waiting == nil)
    #expect(session.receive(unreachable, of: 0, at: .zero).isEmpty && session.timeOut().isEmpty)
    #expect(session.ending == .holds)
  }

  @Test func anUnansweredQuestionFails() {
    var session = WaitSession<Reachability>(targetCount: 1, questionCount: 1, goal: .reachable(), anySuffices: false)
    _ = session.receive(reachable, of: 0, at: .zero)
    _ = session.receive(unreachable, of: 1, at: .zero)
    #expect(session.timeOut() == [Report(target: 0, state: reachable)])
    #expect(session.ending == .fails)
  }

  @Test func saysWhyATargetIsWaitedFor() {
    var session = WaitSession<Reachability>(targetCount: 2, goal: .reachable(), anySuffices: false)
    #expect(session.unmetState(of: 0) == nil, "nothing is known")
    _ = session.receive(unresolved, of: 0, at: .zero)
    _ = session.receive(reachable, of: 1, at: .zero)
    #expect(session.unmetState(of: 0) == unresolved && session.unmetState(of: 1) == nil)
    #expect(session.waiting == Waiting(targets: [0], goal: "to be reachable"))
    var status = StatusSession(targetCount: 2)
    #expect(!status.tellsReasons && status.unmetState(of: 0) == nil)
    _ = status.receive(unresolved, of: 0, at: .zero)
    #expect(status.unmetState(of: 0) == unresolved && status.unmetState(of: 1) == nil)
    #expect(status.waiting == Waiting(targets: [0, 1], goal: "to become known"))
    _ = status.receive(unreachable, of: 1, at: .zero)
    #expect(status.waiting?.targets == [0] && status.ending == nil)
    #expect(status.receive(denied, of: 0, at: .zero).map(\.target) == [0, 1])
    #expect(status.waiting == nil && status.ending == .fails)
  }

  @Test(
    arguments: [
      (.reachable(), "to be reachable"), (.unreachable, "to be unreachable"),
      (.reachable(notOverCellular: true), "to be reachable, not over cellular"),
      (.reachable(acceptingOnDemand: true), "to be reachable or come up on demand"),
      (.reachable(routable: true), "to be reachable from a routable address"),
      (
        .reachable(notOverCellular: true, acceptingOnDemand: true, routable: true),
        "to be reachable from a routable address or come up on demand, not over cellular"
      ),
    ] as [(WaitSession<Reachability>.Goal, String)])
  func saysItsGoal(goal: WaitSession<Reachability>.Goal, words: String) { #expect(goal.words == words) }

  /// 169.254.0.0/16 and fe80::/10 are link-local (RFC 3927, RFC 4291).
  @Test(arguments: [("169.254.0.7", false), ("fe80::1", false), ("192.0.2.7", true), ("10.0.0.1", true), (nil, true)])
  func takesRoutableAddressesAlone(source: String?, isMet: Bool) {
    let state = Reachability(status: .reachable, flags: .reachable, source: source.flatMap { IPAddress($0) })
    #expect(WaitSession<Reachability>.Goal.reachable(routable: true).isMet(state) == isMet)
    #expect(WaitSession<Reachability>.Goal.reachable().isMet(state))
    #expect(!WaitSession<Reachability>.Goal.unreachable.isMet(state))
    #expect(!WaitSession<Reachability>.Goal.reachable(routable: true).isMet(unreachable))
    #expect(
      WaitSession<Reachability>.Goal.unreachable.isMet(unreachable)
        && WaitSession<Reachability>.Goal.unreachable.isMet(dormant))
    // A connection that comes up on demand has no source yet.
    #expect(WaitSession<Reachability>.Goal.reachable(acceptingOnDemand: true, routable: true).isMet(dormant))
    #expect(!WaitSession<Reachability>.Goal.reachable(routable: true).isMet(dormant))
  }

  @Test func readsStates() throws {
    var request = try TargetRequest(["a", "local-network"])
    request.questions = [try HostName("b.example")]
    #expect(request.names == ["a", "local-network", "a name server for b.example"])
    #expect(request.goodWord == "reachable" && request.firstGoal == "to become known")
    #expect(request.holds(reachable) == .holds && request.holds(dormant) == .fails)
    #expect(request.holds(unresolved) == .unknown && request.isDenied(denied) && !request.isDenied(unresolved))
    let ethernet = NetworkInterface(name: "eth0", index: 2, kind: .wired)
    let way = Reachability(status: .reachable, flags: .reachable, interface: ethernet)
    let none = Reachability(status: .unreachable, reason: .noInterface)
    #expect(request.words(for: way, of: 0) == "reachable via wired (eth0)")
    #expect(request.words(for: none, of: 0) == "the interface does not exist")
    #expect(request.words(for: none, of: 1) == "there is no wired or Wi-Fi interface")
    #expect(request.words(for: reachable, of: 2) == "answered")
    #expect(request.words(for: none, of: 2) == "no name server answers")
    var configuration = ReachabilityConfiguration()
    configuration.interface = "eth7"
    let bound = try TargetRequest(["local-network"], configuration: configuration)
    #expect(bound.words(for: none, of: 0) == "the interface does not exist")
    #expect(request.formatter(json: true, showsTime: false) is JSONReportFormatter)
    #expect(request.formatter(json: false, showsTime: false) is TextReportFormatter)
  }

  // MARK: watch

  @Test func watchWaitsForEachFirstState() {
    var session = WatchSession<Int>(targetCount: 3, countLimit: nil, goal: "to answer", isKnown: { $0 > 0 })
    #expect(session.waiting == Waiting(targets: [0, 1, 2], goal: "to answer"))
    _ = session.receive(1, of: 1, at: .seconds(1))
    #expect(session.waiting?.targets == [0, 2] && !session.tellsReasons && session.unmetState(of: 1) == nil)
    let report = session.receive(2, of: 1, at: .seconds(5)).first
    #expect(report?.former == .init(state: 1, lasted: .seconds(4)))
    // The length is that of the last state alone.
    #expect(session.receive(3, of: 1, at: .seconds(7)).first?.former?.lasted == .seconds(2))
    _ = session.timeOut()
    #expect(session.ending == .undetermined)
  }

  // MARK: What a service manager is told

  @Test func tellsAServiceManagerOfOneTarget() {
    var notice = ServiceNotice(names: ["a"])
    #expect(notice.message(of: 0, "via eth0", holds: .holds) == "READY=1\nSTATUS=a: via eth0")
    #expect(notice.message(of: 0, "no route", holds: .fails) == "STATUS=a: no route")
  }

  /// How many are fine, and the first that is not.
  @Test func tellsAServiceManagerOfSeveralTargets() {
    var notice = ServiceNotice(names: ["a", "b", "c"])
    #expect(notice.message(of: 2, "via eth0", holds: .holds) == "STATUS=1 of 3 fine; a: not known yet")
    #expect(notice.message(of: 0, "via eth0", holds: .holds) == "STATUS=2 of 3 fine; b: not known yet")
    #expect(notice.message(of: 2, "no route", holds: .fails) == "STATUS=1 of 3 fine; b: not known yet")
    #expect(notice.message(of: 1, "denied", holds: .unknown) == "READY=1\nSTATUS=1 of 3 fine; b: denied")
    #expect(notice.message(of: 1, "via eth0", holds: .holds) == "STATUS=2 of 3 fine; c: no route")
    #expect(notice.message(of: 2, "via eth0", holds: .holds) == "STATUS=3 of 3 fine")
  }

  // MARK: What is said at the end

  @Test func sumsUpAnOutageWithoutALength() {
    var record = WatchRecord()
    record.note(.fails, at: .seconds(1))
    #expect(record.words("reachable", at: .seconds(1)) == "reachable 0 % of <1 ms; 1 outage of <1 ms")
    var fine = WatchRecord()
    fine.note(.holds, at: .seconds(1))
    #expect(fine.words("reachable", at: .seconds(1)) == "reachable 100 % of <1 ms; no outage")
    // What becomes unknown leaves what was known.
    fine.note(.unknown, at: .seconds(3))
    #expect(fine.words("reachable", at: .seconds(9)) == "reachable 100 % of 2.0 s; no outage")
    // 1 of 8 s is 12.5 %.
    var share = WatchRecord()
    share.note(.fails, at: .zero)
    share.note(.holds, at: .seconds(7))
    #expect(share.words("reachable", at: .seconds(8)) == "reachable 12.5 % of 8.0 s; 1 outage of 7.0 s")
  }

  // MARK: Exit statuses

  /// sysexits.h: EX_OSERR is 71, EX_IOERR is 74.
  @Test func tellsWhatFailed() {
    #expect(ExitStatus(for: SystemError("socket", errno: EMFILE)).rawValue == 71)
    #expect(ExitStatus(for: SystemError(StandardStream.outputName, errno: ENOSPC)).rawValue == 74)
    #expect(TruthValue.holds.exitStatus.rawValue == 0 && TruthValue.fails.exitStatus.rawValue == 1)
    #expect(TruthValue.unknown.exitStatus.rawValue == 2)
    #expect(
      UsageError(message: "no", command: nil).description
        == "Error: no\n  See 'dialtone --help' for more information.")
    #expect(
      UsageError(message: "no", command: "wait").description
        == "Error: no\n  See 'dialtone wait --help' for more information.")
  }

  @Test(arguments: [
    (EMFILE, "ulimit -n"), (ENFILE, "fs.file-max"), (EAGAIN, "ulimit -u"), (ENOMEM, "no memory"),
    (ENOBUFS, "no memory"),
  ])
  func saysWhatHelps(errno: CInt, words: String) {
    #expect(Shortage.remedy(for: SystemError("a", errno: errno))?.contains(words) == true)
    #expect(Shortage.remedy(for: SystemError("a", errno: EACCES)) == nil)
  }
}
