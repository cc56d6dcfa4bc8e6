// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Turns, without an engine's threads.
struct EngineStateTests {
  private let source = CountedSource()
  private let clock = Counter()

  private func makeState() -> EngineState {
    let time = TimeSource(passes: false) { [clock] in Int64(clock.value) * 1_000_000_000 }
    return EngineState(source, time) { _, _ in preconditionFailure("no name is asked for") }
  }

  private static func everything() -> NetworkChange {
    var change = NetworkChange()
    change.markEverything()
    return change
  }

  /// With hundreds of interfaces a path takes milliseconds. What is found while something changes may never have been.
  @Test func aPathThatWasFoundWhileSomethingChangedIsNotTold() {
    var state = makeState()
    let cell = StateCell(unknown: NetworkPath.unknown)
    source.path.queryCount = 500
    _ = state.turn([.watch(.path(PathConfiguration(), cell), cell.epoch)])
    #expect(cell.current.status == .satisfied)
    clock.add()
    source.changes = [Self.everything()]
    source.path.path = NetworkPath(.unsatisfied, reason: .prohibited)
    let before = source.pathCount
    source.onPath = { [source] in
      if source.pathCount == before + 1 {
        // Read after this answer.
        source.changes = [Self.everything()]
      } else {
        source.path.path = NetworkPath(.unsatisfied, reason: .noCarrier)
      }
    }
    _ = state.turn([])
    #expect(source.pathCount == before + 2)
    #expect(cell.current.reason == .noCarrier)
  }

  /// Announcements were lost while it was asked for: it may be of a moment that never was.
  @Test func aPathThatWasFoundInDoubtIsAskedForAgain() {
    var state = makeState()
    let cell = StateCell(unknown: NetworkPath.unknown)
    _ = state.turn([.watch(.path(PathConfiguration(), cell), cell.epoch)])
    #expect(cell.current.status == .satisfied)
    source.changes = [Self.everything()]
    source.path = PathAnswer(NetworkPath(.unsatisfied, reason: .prohibited))
    source.onPath = { [source] in
      var lost = NetworkChange()
      lost.isInDoubt = true
      source.changes = [lost]
    }
    _ = state.turn([])
    #expect(cell.current.status == .satisfied, "nothing is told in doubt")
    source.onPath = {}
    source.path = PathAnswer(NetworkPath(.unsatisfied, reason: .noCarrier))
    let before = source.pathCount
    _ = state.turn([])
    #expect(source.pathCount == before + 1 && cell.current.reason == .noCarrier)
  }

  @Test func timersOfPathsThatAreNotWatchedAnyMoreAreRemoved() {
    var state = makeState()
    var configuration = PathConfiguration()
    configuration.settling = .seconds(3_600)
    let cells = (0..<65).map { _ in StateCell(unknown: NetworkPath.unknown) }
    _ = state.turn(Few(cells.map { .watch(.path(configuration, $0), $0.epoch) }))
    #expect(state.deadline == nil)
    // A change is held back until it has settled.
    source.path = PathAnswer(NetworkPath(.unsatisfied, reason: .noCarrier))
    source.changes = [Self.everything()]
    _ = state.turn([])
    #expect(state.deadline == 3_600_000_000_000)
    _ = state.turn(Few(cells.map { .unwatch(.path(configuration, $0)) }))
    #expect(state.deadline == nil)
  }
}
