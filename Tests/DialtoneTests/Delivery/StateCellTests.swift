// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// What a receiver is told next, without an engine.
struct StateCellTests {
  private let cell = StateCell(unknown: Reachability.unknown)
  private let reachable = Reachability(status: .reachable)

  @Test func anEpochThatIsReleasedEarlyTellsNothingUnknown() throws {
    cell.publish(reachable)
    let told = try #require(cell.next(after: nil, []))
    cell.beginEpoch(.unknown)
    cell.release(cell.epoch)
    #expect(cell.next(after: told, []) == nil)
    #expect(cell.next(after: told, .unknownStates)?.state == .unknown)
  }

  @Test func aReceiverOfEachSubjectIsNeverToldOfAnUnknownState() throws {
    cell.publish(reachable)
    let told = try #require(cell.next(after: nil, .eachSubject))
    // Decided by the engine, in the same epoch: nothing can be said for now.
    #expect(cell.publish(.unknown, of: cell.epoch))
    #expect(cell.next(after: told, .eachSubject) == nil)
    #expect(cell.next(after: told, [])?.state == .unknown)
  }

  @Test func whatIsHeldBackStaysSoUntilItIsReleased() throws {
    cell.publish(reachable)
    let told = try #require(cell.next(after: nil, []))
    let unreachable = Reachability(status: .unreachable, reason: .noRoute)
    #expect(cell.store(unreachable, of: cell.epoch, holdingBack: true))
    #expect(cell.next(after: told, []) == nil)
    // Another state before that: it does not let the receiver have what it has to wait for.
    let other = Reachability(status: .unreachable, reason: .noCarrier)
    #expect(cell.store(other, of: cell.epoch, holdingBack: false))
    #expect(cell.next(after: told, []) == nil)
    cell.release(cell.epoch)
    #expect(cell.next(after: told, [])?.state ≈ other)
  }

  @Test func aReceiverThatKnowsNothingYetDoesNotWaitForAStateThatSettles() throws {
    let nothing = try #require(cell.next(after: nil, .unknownStates))
    #expect(!nothing.state.isKnown)
    #expect(cell.store(reachable, of: cell.epoch, holdingBack: true))
    #expect(cell.next(after: nothing, .unknownStates)?.state ≈ reachable)
    // One that has had a state does.
    let told = Snapshot(Reachability(status: .unreachable, reason: .noRoute))
    #expect(cell.next(after: told, .unknownStates) == nil)
  }

  @Test func anEpochThatHasEndedStoresNothing() {
    let former = cell.epoch
    cell.beginEpoch(.unknown)
    #expect(!cell.publish(reachable, of: former))
    #expect(!cell.store(reachable, of: former, holdingBack: false))
    cell.release(former)
    #expect(cell.current ≈ .unknown)
  }

  /// Its state holds an object whose end takes the cell's own lock.
  @Test func whatAStateHeldIsReleasedOutsideAllLocks() {
    final class Holder: Sendable {
      private let onEnd: @Sendable () -> Void
      init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
      deinit { onEnd() }
    }
    struct Holding: MonitoredState {
      var holder: Holder?
      var isKnown: Bool { holder != nil }
      var isDetermined: Bool { isKnown }
      func isSameState(as other: Holding) -> Bool { self == other }
      func isIdentical(to other: Holding) -> Bool { self == other }
      static func == (one: Holding, other: Holding) -> Bool { one.holder === other.holder }
    }
    let cell = StateCell(unknown: Holding())
    let ended = Counter()
    func holding() -> Holding {
      Holding(
        holder: Holder { [weak cell] in
          _ = cell?.epoch
          ended.add()
        })
    }
    cell.publish(holding())
    cell.publish(holding())
    #expect(cell.store(holding(), of: cell.epoch, holdingBack: true))
    cell.beginEpoch(Holding())
    #expect(ended.value == 3)
  }
}
