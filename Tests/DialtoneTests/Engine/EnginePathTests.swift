// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When a turn asks for paths, alone and beside targets.
struct EnginePathTests {
  private static let millisecond: Int64 = 1_000_000
  private let lab = TurnLab()
  private let address = ip("2001:db8::1")
  private let server = ip("2001:db8::53")
  private let roots = [IPAddress.rootServer(.ipv4), .rootServer(.ipv6)]
  private let unsatisfied = NetworkPath(.unsatisfied, reason: .noCarrier)
  private var source: TurnSource { lab.source }

  private func interest(_ addresses: [IPAddress]) -> NetworkInterest {
    NetworkInterest(destinations: addresses, includesNames: true)
  }

  /// What was asked, in order, except for the addresses of one question.
  private var calls: [TurnSource.Call] {
    source.calls.map { call in
      if case .ask(let addresses) = call { .ask(addresses.sorted { $0.bits < $1.bits }) } else { call }
    }
  }

  private func isSatisfied(_ cell: StateCell<NetworkPath>) -> Bool { cell.current.status == .satisfied }

  // MARK: With few queries

  @Test func aPathIsAskedWithTheTargets() {
    let cell = lab.watchPath()
    #expect(calls == [.drain, .watch(interest(roots)), .ask(roots), .path, .drain])
    #expect(isSatisfied(cell) && cell.current.realtime == 1_000)
    source.path.path = unsatisfied
    source.calls = []
    let outcome = lab.change()
    #expect(source.calls == [.drain, .ask(roots), .path, .drain])
    #expect(outcome.paths.count == 1 && outcome.paths.first === cell && !isSatisfied(cell) && !outcome.isUnfinished)
  }

  /// A change of a route to them may have come before the source was told of them.
  @Test func newNameServersAreAnnouncedBeforeThePathIsAskedOnceMore() {
    source.path.nameServers = [server]
    lab.watchPath()
    let known = [roots[0], roots[1], server]
    #expect(
      calls == [
        .drain, .watch(interest(roots)), .ask(roots), .path,  //
        .drain, .watch(interest(known)), .ask([server]), .path, .drain,
      ])
  }

  @Test func aPathThatIsNotKnownYetIsNotTold() {
    source.path = .pending
    let cell = lab.watchPath()
    #expect(!cell.current.isKnown)
    // It is not satisfied: an idle link may be the reason.
    source.calls = []
    source.events = [{ $0.touchesUnreachable = true }]
    source.path = PathAnswer(NetworkPath(.satisfied))
    lab.turn()
    #expect(isSatisfied(cell) && source.count(.path) == 1)
  }

  @Test func onlyWhatTouchesAPathHasItAsked() {
    lab.watchPath()
    lab.watch(.address(address))
    let marks: [(mark: TurnSource.Mark, asked: [IPAddress], paths: Int)] = [
      ({ $0.markRoute(.init(ip("2001:db8::").bits, length: 32)) }, [address], 0),
      ({ $0.markRoute(.init(ip("0.0.0.0").bits, length: 0)) }, [roots[0]], 1),
      ({ $0.markRoute(.init(ip("::").bits, length: 0)) }, [roots[1], address], 1),
      ({ $0.touchesUnreachable = true }, [], 0),
      ({ $0.touchesNameServers = true }, [], 1), ({ $0.touchesNames = true }, [], 1),
      ({ $0.markEverything() }, [roots[0], roots[1], address], 1), ({ $0.isUnfinished = true }, [], 0),
    ]
    for (number, row) in marks.enumerated() {
      source.calls = []
      source.events = [row.mark]
      lab.turn()
      #expect(source.asked == row.asked && source.count(.path) == row.paths, "\(number)")
    }
  }

  @Test func aPathThatIsNotWatchedAnyMoreIsNotAskedFor() {
    let (cell, kept) = (lab.watchPath(), lab.watchPath())
    lab.turn(.unwatch(.path(PathConfiguration(), cell)))
    source.calls = []
    source.path.path = unsatisfied
    lab.change()
    #expect(isSatisfied(cell) && !isSatisfied(kept) && source.count(.path) == 1)
    lab.turn(.unwatch(.path(PathConfiguration(), kept)))
    #expect(source.interests == [NetworkInterest(destinations: [], includesNames: false)])
    source.calls = []
    lab.change()
    #expect(source.calls == [.drain])
  }

  // MARK: With many queries

  /// A path that takes 500 queries: it is asked again after 50 ms at the earliest.
  private func watchLarge() -> StateCell<NetworkPath> {
    source.path.queryCount = 500
    let cell = lab.watchPath()
    #expect(isSatisfied(cell))
    source.path.path = unsatisfied
    source.calls = []
    return cell
  }

  @Test func receiversOfTargetsComeFirstForOneTurn() {
    let cell = watchLarge()
    lab.watch(.address(address))
    lab.pass(TurnLab.second)
    source.calls = []
    let first = lab.change(address, .lost())
    #expect(first.targets.count == 1 && first.paths.isEmpty && first.isUnfinished && source.count(.path) == 0)
    let second = lab.turn()
    #expect(second.paths.count == 1 && !second.isUnfinished && !isSatisfied(cell))
    #expect(source.count(.path) == 1)
  }

  @Test func aLargePathIsAskedOnceItsPauseIsOver() {
    let cell = watchLarge()
    lab.pass(10 * Self.millisecond)
    #expect(lab.state.deadline == nil)
    lab.change()
    #expect(source.count(.path) == 0 && lab.state.deadline == 50 * Self.millisecond)
    lab.pass(40 * Self.millisecond - 1)
    lab.turn()
    #expect(source.count(.path) == 0)
    lab.pass(1)
    let outcome = lab.turn()
    #expect(outcome.paths.count == 1 && !isSatisfied(cell) && !outcome.isUnfinished)
    #expect(lab.state.deadline == nil)
  }

  @Test func inDoubtALargePathIsNotWaitedFor() {
    _ = watchLarge()
    source.nextPoll = 70 * Self.millisecond
    lab.change()
    #expect(lab.state.deadline == 50 * Self.millisecond)
    source.standing = { $0.isInDoubt = true }
    lab.turn()
    #expect(lab.state.deadline == 70 * Self.millisecond)
  }

  @Test func whatIsReadBehindALargePathHasItAskedOnceMore() {
    let cell = watchLarge()
    lab.pass(TurnLab.second)
    source.onPath = { [source] in
      // Of no query: only the path depends on it.
      if source.count(.path) == 1 { source.events = [{ $0.touchesNames = true }] }
    }
    let outcome = lab.change()
    #expect(source.count(.path) == 2 && outcome.paths.count == 1 && !outcome.isUnfinished && !isSatisfied(cell))
  }

  @Test func whatIsReadBehindTheSecondAnswerIsForTheNextTurn() {
    _ = watchLarge()
    lab.pass(TurnLab.second)
    source.onPath = { [source] in source.events = [{ $0.touchesNames = true }] }
    let outcome = lab.change()
    #expect(source.count(.path) == 2 && outcome.isUnfinished)
    #expect(lab.state.deadline == TurnLab.second + 50 * Self.millisecond)
  }

  @Test func whatTouchesNoPathDoesNotHaveItAskedOnceMore() {
    _ = watchLarge()
    lab.pass(TurnLab.second)
    source.onPath = { [source] in source.events = [{ $0.markRoute(.init(ip("192.0.2.0").bits, length: 24)) }] }
    let outcome = lab.change()
    #expect(source.count(.path) == 1 && outcome.paths.count == 1 && !outcome.isUnfinished)
  }

  @Test func aLargePathThatWasFoundInDoubtIsNotTold() {
    let cell = watchLarge()
    lab.pass(TurnLab.second)
    source.onPath = { [source] in source.standing = { $0.isInDoubt = true } }
    #expect(lab.change().paths.isEmpty && isSatisfied(cell))
    source.onPath = {}
    source.standing = { _ in }
    lab.turn()
    #expect(isSatisfied(cell), "not before its pause is over")
    lab.pass(50 * Self.millisecond)
    #expect(lab.turn().paths.count == 1 && !isSatisfied(cell))
  }

  @Test func theNameServersOfALargePathAreAnnouncedInTheSameTurn() {
    _ = watchLarge()
    lab.pass(TurnLab.second)
    source.path.nameServers = [server]
    let outcome = lab.change()
    #expect(outcome.isUnfinished, "their routes are not asked about yet")
    #expect(source.interests == [interest([roots[0], roots[1], server])])
    lab.turn()
    #expect(source.asked.last == server)
  }
}
