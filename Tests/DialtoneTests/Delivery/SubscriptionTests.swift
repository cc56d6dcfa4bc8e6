// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

@testable import Dialtone

/// Handlers that are woken while they wait and while they run, and what is left of them.
@Suite(.timeLimit(.minutes(5)))
struct SubscriptionTests {
  private let unreachable = Reachability(status: .unreachable, reason: .noRoute)
  private let cell = StateCell(unknown: Reachability.unknown)
  private let queue = DeliveryQueue()
  private let told = Log<Reachability.Status>()

  init() { cell.publish(Reachability(status: .reachable)) }

  @Test func whoIsWokenTwiceWaitsOnce() {
    weak var released: Subscription<Reachability>?
    do {
      let subscription = Subscription(cell, []) { [told] in told.append($0.state.status) }
      released = subscription
      cell.add(subscription)
      for _ in 0..<2 { cell.wakeReceivers(queue) }
      queue.deliver()
      #expect(told.all == [.reachable] && queue.isEmpty)
      for _ in 0..<2 { cell.wakeReceivers(queue) }
      subscription.cancel()
      #expect(queue.isEmpty, "who is cancelled does not wait")
    }
    #expect(released == nil && !Snapshot(unreachable).isHeldBack)
  }

  /// A state that comes while the handler runs is given to it afterwards.
  @Test func whoIsWokenWhileItRunsRunsAgain() {
    let subscription = Subscription(cell, []) { [told, cell, queue, unreachable] in
      told.append($0.state.status)
      if told.count > 1 { return }
      cell.publish(unreachable)
      cell.wakeReceivers(queue)
      #expect(queue.isEmpty, "not at the same time")
    }
    cell.add(subscription)
    cell.wakeReceivers(queue)
    queue.deliver()
    #expect(told.all == [.reachable, .unreachable] && queue.isEmpty)
    subscription.cancel()
  }

  /// A dispatch queue has one block of a receiver at a time, even if it could run several.
  @Test func aConcurrentQueueRunsOneCallAtATime() async throws {
    let (running, overlaps) = (Counter(), Counter())
    let dispatch = DispatchQueue(label: "dialtone-tests.subscription", attributes: .concurrent)
    let schedule: Subscription<Reachability>.Scheduler = { dispatch.async(execute: $0) }
    let subscription = Subscription(cell, [], by: schedule) { [told, cell, queue, unreachable] given in
      if running.add() > 1 { overlaps.add() }
      told.append(given.state.status)
      // Another state for each of the first hundred: it must wait for this call to end.
      if told.count < 100 {
        cell.publish(given.state.isReachable ? unreachable : Reachability(status: .reachable))
        cell.wakeReceivers(queue)
        for _ in 0..<10 { sched_yield() }
      }
      running.add(-1)
    }
    cell.add(subscription)
    cell.wakeReceivers(queue)
    try await eventually("all are told") { told.count == 100 && running.value == 0 }
    #expect(overlaps.value == 0)
    subscription.cancel()
  }

  /// The end of a wait's time cancels it, perhaps before its actor is free to take what came in time.
  @Test func whatCameBeforeTheEndIsGivenAfterIt() async {
    let subscription = Subscription(cell, [])
    cell.add(subscription)
    #expect(await subscription.next()?.state.status == .reachable)
    let waiting = Task { await subscription.next()?.state.status }
    cell.publish(unreachable)
    cell.wakeReceivers(queue)
    subscription.cancel()
    #expect(await waiting.value == .unreachable)
    #expect(await subscription.next() == nil)
  }

  private actor Listener {}

  /// "Once it is gone, the observation ends at the next change": the documentation of `observe(on:_:)`.
  @Test func aRegistrationEndsAfterItsActor() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    weak var listener: Listener?
    func observe() -> ReachabilityObservation {
      let actor = Listener()
      listener = actor
      return monitor.observe(on: actor) { _, _ in }
    }
    let registration = observe()
    try await monitor.waitUntilKnown()
    // As long as it is being called it is there, and takes the next change as well.
    try await eventually("the actor is gone") { listener == nil }
    network.set(.wifi)
    try await eventually("it has ended") { registration.hasEnded }
  }

  /// A task that is cancelled before it waits is told nothing, though there would be something to tell.
  @Test func aCancelledTaskIsNotGivenTheStateThatIsThere() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    let waiting = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await monitor.waitUntilReachable(timeout: .zero)
    }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
