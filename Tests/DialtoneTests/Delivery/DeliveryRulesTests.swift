// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

/// What is given to which receiver, and what runs when, without an engine.
struct DeliveryRulesTests {
  private let reachable = Reachability(status: .reachable)
  private let unreachable = Reachability(status: .unreachable, reason: .noRoute)
  private let cell = StateCell(unknown: Reachability.unknown)

  // MARK: Cells

  @Test func onlyWhoWantsItIsGivenTheUnknownState() {
    #expect(cell.next(after: nil, []) == nil && cell.next(after: nil, .eachSubject) == nil)
    #expect(cell.next(after: nil, .unknownStates)?.state == .unknown)
    #expect(ReceiverOptions.unknownStates.isDisjoint(with: .eachSubject))
    cell.publish(reachable)
    for options in [[], .unknownStates, .eachSubject, [.unknownStates, .eachSubject]] as [ReceiverOptions] {
      #expect(cell.next(after: nil, options)?.state == reachable)
      #expect(cell.next(after: Snapshot(reachable), options) == nil, "it has had it")
      #expect(cell.next(after: Snapshot(unreachable), options)?.state == reachable)
    }
  }

  @Test func anotherSubjectIsToldOfOnceThoughItsStateIsTheSame() throws {
    cell.publish(reachable)
    let told = try #require(cell.next(after: nil, .eachSubject))
    // A pause: the subject is the same.
    cell.beginEpoch(.unknown)
    cell.publish(reachable)
    #expect(cell.next(after: told, .eachSubject) == nil)
    cell.beginEpoch(.unknown, ofNewSubject: true)
    #expect(cell.next(after: told, .eachSubject) == nil, "nothing is known yet")
    cell.publish(reachable)
    let again = try #require(cell.next(after: told, .eachSubject))
    #expect(again.subjectNumber == told.subjectNumber + 1 && cell.next(after: again, .eachSubject) == nil)
    #expect(cell.next(after: told, []) == nil)
  }

  @Test func anUnknownStateThatIsPublishedBeginsAnEpoch() {
    cell.publish(reachable)
    let epoch = cell.epoch
    cell.publish(unreachable)
    #expect(cell.epoch == epoch && cell.current == unreachable)
    cell.publish(.unknown)
    #expect(cell.epoch != epoch && !cell.current.isKnown)
    // Receivers are told nothing before its first known state, unless they want the unknown one.
    #expect(cell.next(after: Snapshot(unreachable), []) == nil)
    #expect(cell.next(after: Snapshot(unreachable), .unknownStates)?.state == .unknown)
  }

  @Test func aMarkTellsWhetherAnotherStateHasBegun() {
    let first = cell.mark
    #expect(!cell.hasChanged(since: first))
    cell.publish(reachable)
    #expect(!cell.hasChanged(since: first), "the first known state takes the place of none")
    let known = cell.mark
    #expect(!cell.hasChanged(since: known))
    cell.publish(reachable)
    #expect(cell.hasChanged(since: first) && cell.hasChanged(since: known))
    let again = cell.mark
    cell.beginEpoch(.unknown)
    #expect(cell.hasChanged(since: again))
  }

  @Test func whatTheEngineDecidesCountsForAMarkToo() {
    let publication = Publication(cell, cell.epoch, settling: .zero)
    let first = cell.mark
    _ = publication.publish(reachable, realtime: 1, now: 0)
    #expect(!cell.hasChanged(since: first))
    let known = cell.mark
    _ = publication.publish(reachable, realtime: 2, now: 0)
    #expect(!cell.hasChanged(since: known) && cell.current.realtime == 1, "it is the same state")
    _ = publication.publish(unreachable, realtime: 3, now: 0)
    #expect(cell.hasChanged(since: known) && cell.hasChanged(since: first) && cell.current.realtime == 3)
  }

  @Test func anEpochThatWasReleasedLetsReceiversHaveWhatWasHeldBack() throws {
    let publication = Publication(cell, cell.epoch, settling: .seconds(1))
    _ = publication.publish(reachable, realtime: 1, now: 0)
    let told = try #require(cell.next(after: nil, []))
    #expect(!publication.isSettling)
    _ = publication.publish(unreachable, realtime: 2, now: 0)
    #expect(publication.isSettling && cell.next(after: told, []) == nil)
    #expect(publication.settle(now: 1_000_000_000) == .init(isTold: true) && !publication.isSettling)
    #expect(cell.next(after: told, [])?.state ≈ unreachable)
    #expect(publication.settle(now: 2_000_000_000) == .init(), "nothing is held back any more")
  }

  // MARK: Queues

  @Test func handlersRunOneAtATimeInTheirOrder() {
    let queue = DeliveryQueue()
    let log = Log<Int>()
    for number in 1...3 {
      queue.add(
        Delivery(place: DeliveryPlace()) {
          // Not from within: another handler runs already.
          queue.deliver()
          log.append(number)
          return false
        })
    }
    #expect(!queue.isEmpty && log.count == 0)
    queue.deliver()
    #expect(log.all == [1, 2, 3] && queue.isEmpty)
    queue.deliver()
    #expect(log.count == 3)
  }

  @Test func aHandlerForWhichThereIsMoreRunsAgainBehindTheOthers() {
    let queue = DeliveryQueue()
    let log = Log<Int>()
    for number in 1...2 {
      queue.add(
        Delivery(place: DeliveryPlace()) {
          log.append(number)
          return log.count < 4
        })
    }
    queue.deliver()
    #expect(log.all == [1, 2, 1, 2, 1] && queue.isEmpty)
  }

  @Test func whoIsCancelledDoesNotWait() {
    let queue = DeliveryQueue()
    let log = Log<Int>()
    let places = (0..<3).map { _ in DeliveryPlace() }
    for (number, place) in places.enumerated() {
      queue.add(
        Delivery(place: place) {
          log.append(number)
          return false
        })
    }
    places[1].cancel()
    places[1].cancel()
    queue.deliver()
    #expect(log.all == [0, 2])
    queue.add(Delivery(place: places[1]) { true })
    #expect(queue.isEmpty)
    // Its slot is another's by now.
    queue.add(
      Delivery(place: DeliveryPlace()) {
        log.append(9)
        return false
      })
    for place in places { place.cancel() }
    queue.deliver()
    #expect(log.all == [0, 2, 9])
  }

  @Test(arguments: [(1_024, 1_023), (1_025, 0)])
  func aLargeListThatIsEmptiedBeginsAnew(count: Int, nextSlot: Int) {
    var list = SlotList<Int>()
    for element in 0..<count { list.append(element) }
    while list.popFirst() != nil {}
    #expect(list.nextSlot == nextSlot)
  }

  // MARK: Timers

  @Test func aTimerFiresOnceUnlessItIsCancelled() {
    let log = Log<String>()
    func timer() -> DeliveryTimer {
      DeliveryTimer(at: 7, { log.append("fired") }, whenCancelled: { log.append("gone") })
    }
    let first = timer()
    #expect(first.deadline == 7 && !first.isCancelled)
    for _ in 0..<2 { first.fire() }
    first.cancel()
    #expect(log.all == ["fired"], "it is over: nobody need forget it")
    let second = timer()
    for _ in 0..<2 { second.cancel() }
    second.fire()
    #expect(log.all == ["fired", "gone"] && second.isCancelled)
  }

  // MARK: Registrations

  @Test func aRegistrationEndsOnce() {
    let log = Log<Int>()
    let lease = ReachabilityObservation.Lease(cell)
    lease.onEnd { log.append(1) }
    #expect(!lease.hasEnded && lease.monitor === cell)
    for _ in 0..<2 { lease.end() }
    #expect(lease.hasEnded && lease.monitor == nil && log.all == [1])
    lease.onEnd { log.append(2) }
    #expect(log.all == [1, 2], "it has ended")
  }

  @Test func aRegistrationEndsWithItsObject() {
    let log = Log<Int>()
    do {
      let lease = ReachabilityObservation.Lease(cell)
      lease.onEnd { log.append(1) }
      let observation = ReachabilityObservation(lease)
      #expect(!observation.hasEnded)
      observation.cancel()
      #expect(observation.hasEnded && log.count == 1)
    }
    #expect(log.count == 1)
  }
}
