// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// What a receiver is told next, without an engine.
struct StateCellTests {
  private let cell = StateCell(unknown: Reachability.unknown)
  private let reachable = Reachability(status: .reachable)
  private let unreachable = Reachability(status: .unreachable, reason: .noRoute)

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
    let publication = Publication(cell, cell.epoch, settling: .seconds(1))
    #expect(publication.publish(reachable, realtime: 1, now: 0).isTold)
    let told = try #require(cell.next(after: nil, []))
    let effect = publication.publish(unreachable, realtime: 2, now: 0)
    #expect(effect == .init(isTold: true, settleAt: 1_000_000_000))
    #expect(cell.next(after: told, []) == nil)
    // The same to receivers, before that: it does not let the receiver have what it has to wait for.
    var other = unreachable
    other.source = IPAddress("192.0.2.1")
    #expect(publication.publish(other, realtime: 3, now: 0) == .init(isTold: true))
    #expect(cell.current.source == other.source)
    #expect(cell.next(after: told, []) == nil && cell.next(after: told, .details) == nil)
    cell.release(cell.epoch)
    #expect(cell.next(after: told, [])?.state ≈ other)
    #expect(cell.current.realtime == 2)
  }

  @Test func aReceiverOfDetailsIsToldOfAnotherSource() throws {
    let publication = Publication(cell, cell.epoch, settling: .zero)
    _ = publication.publish(reachable, realtime: 1, now: 0)
    let told = try #require(cell.next(after: nil, .details))
    var other = reachable
    other.source = IPAddress("192.0.2.1")
    #expect(publication.publish(other, realtime: 2, now: 0).isTold)
    #expect(cell.next(after: told, []) == nil)
    let next = try #require(cell.next(after: told, .details))
    #expect(next.state.source == other.source && cell.next(after: next, .details) == nil)
  }

  @Test func whatIsPutOffHasOneTimer() {
    let publication = Publication(cell, cell.epoch, settling: .seconds(1))
    _ = publication.publish(reachable, realtime: 1, now: 0)
    #expect(publication.publish(unreachable, realtime: 2, now: 0).settleAt == 1_000_000_000)
    #expect(publication.publish(reachable, realtime: 3, now: 500_000_000) == .init(isTold: true))
    // The timer comes too early for the second change, and is set anew. A third one needs no timer of its own.
    #expect(publication.settle(now: 1_000_000_000) == .init(settleAt: 1_500_000_000))
    #expect(publication.publish(unreachable, realtime: 4, now: 1_200_000_000) == .init(isTold: true))
    #expect(publication.settle(now: 1_500_000_000) == .init(settleAt: 2_200_000_000))
    #expect(publication.settle(now: 2_200_000_000) == .init(isTold: true))
    #expect(publication.publish(reachable, realtime: 5, now: 3_000_000_000).settleAt == 4_000_000_000)
  }

  @Test func aReceiverThatKnowsNothingYetDoesNotWaitForAStateThatSettles() throws {
    let nothing = try #require(cell.next(after: nil, .unknownStates))
    #expect(!nothing.state.isKnown)
    let publication = Publication(cell, cell.epoch, settling: .seconds(1))
    _ = publication.publish(unreachable, realtime: 1, now: 0)
    _ = publication.publish(reachable, realtime: 2, now: 0)
    #expect(cell.next(after: nothing, .unknownStates)?.state ≈ reachable)
    // One that has had a state does.
    #expect(cell.next(after: Snapshot(unreachable), .unknownStates) == nil)
  }

  @Test func anEpochThatHasEndedStoresNothing() {
    let former = cell.epoch
    cell.beginEpoch(.unknown)
    #expect(!cell.publish(reachable, of: former))
    let publication = Publication(cell, former, settling: .zero)
    #expect(publication.publish(reachable, realtime: 1, now: 0) == .init())
    cell.release(former)
    #expect(cell.current ≈ .unknown)
  }

  #if os(Linux)
  /// The time that eight times the receivers take to go, the last first, is some eight times as long, not 64 times.
  @Test func manyReceiversGoWithoutASearch() {
    func nanoseconds(_ count: Int) -> Int {
      let receivers = (0..<count).map { _ in Subscription(cell, []) }
      for receiver in receivers { cell.add(receiver) }
      let start = threadTime()
      // Twice, as a wait that has timed out does.
      for receiver in receivers.reversed() + receivers { receiver.cancel() }
      return threadTime() - start
    }
    func threadTime() -> Int {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    _ = nanoseconds(100)
    let few = nanoseconds(2_000)
    #expect(nanoseconds(16_000) < 24 * few)
  }
  #endif

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
    #expect(cell.publish(holding(), of: cell.epoch))
    cell.beginEpoch(Holding())
    #expect(ended.value == 3)
  }
}
