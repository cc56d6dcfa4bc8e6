// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Dispatch
import TestSupport
import Testing

@testable import Dialtone

/// When an engine wakes its threads, what replaces a waiter that is lost, and what the thread does that stands in.
@Suite(.timeLimit(.minutes(5)))
struct EngineThreadTests {
  private struct Weak<Object: AnyObject> {
    weak var object: Object?
  }

  private let lab = WaiterLab()

  /// Begins to watch an address, and returns where its states go.
  private func watch(_ engine: NetworkEngine) -> StateCell<Reachability> {
    let cell = StateCell(unknown: Reachability.unknown)
    engine.watch(.target(TargetQuestion(.address(ip("192.0.2.1")), .init()), cell))
    return cell
  }

  /// An engine that watches an address, and whose threads sleep.
  private func resting() async throws -> (engine: NetworkEngine, cell: StateCell<Reachability>) {
    lab.network.set(.wifi)
    let engine = lab.provider.engine()
    let cell = watch(engine)
    try await eventually("it is known") { cell.current.isVia("wlan0") }
    try await eventually("its threads sleep") { lab.first?.isAtRest ?? false }
    return (engine, cell)
  }

  private func delivery(_ ran: Counter) -> Delivery {
    Delivery(place: DeliveryPlace()) {
      ran.add()
      return false
    }
  }

  /// Has a thread of the engine run a handler twice, each time after the last one has run.
  private func deliver(_ engine: NetworkEngine) async throws {
    let ran = Counter()
    for count in 1...2 {
      engine.deliver { queue in queue.add(delivery(ran)) }
      try await eventually("the handler has run") { ran.value == count }
    }
  }

  // MARK: Wake-ups

  /// A command wakes a thread at most once, and a turn that has read everything wakes nobody.
  @Test func aWaiterIsWokenOnlyIfThereIsSomethingToDo() async throws {
    let (engine, _) = try await resting()
    let before = try #require(lab.first).state.wakes
    for _ in 0..<50 { await engine.settled() }
    #expect(try #require(lab.first).state.wakes - before <= 50 && lab.count == 1)
    withExtendedLifetime(engine) {}
  }

  @Test func whatTheSourceHasLeftIsReadInTurnsThatNobodyElseCauses() async throws {
    let source = HastySource()
    let provider = EngineProvider(
      time: lab.network.environment.provider.time, lookup: { _, _ in .failed },
      makeWaiter: { time throws(SystemError) in SemaphoreWaiter(time) }, makeSource: { _, _ in source })
    let engine = provider.engine()
    await engine.settled()
    source.unfinished.add(5)
    engine.post(.forgetTimer)
    try await eventually("all is read") { source.unfinished.value == 0 }
    withExtendedLifetime(engine) {}
  }

  /// The queue of an engine that has ended, whose threads do not know that yet.
  private func queueOfAnEndedEngine() async throws -> DeliveryQueue {
    let engine = try await resting().engine
    lab.first?.hold()
    let ran = Counter()
    engine.deliver { $0.add(delivery(ran)) }
    #expect(ran.value == 0, "handlers are called by the engine's threads, which sleep")
    return engine.deliveries
  }

  @Test func theThreadsThatEndCallTheLastHandlers() async throws {
    let queue = try await queueOfAnEndedEngine()
    let ran = Counter()
    queue.add(delivery(ran))
    lab.first?.release()
    try await eventually("it is called") { ran.value == 1 }
    try await eventually("both threads have ended") { lab.first == nil }
  }

  // MARK: Lost waiters

  enum Call: CaseIterable { case post, wake, deliver }

  /// Its threads sleep on and learn nothing of the loss: a thread that wants to wake one sees it.
  @Test(arguments: Call.allCases)
  func whoWakesNobodyReplacesTheWaiter(call: Call) async throws {
    let (engine, cell) = try await resting()
    lab.first?.lose()
    switch call {
    case .post: engine.post(.forgetTimer)
    case .wake: engine.wake()
    case .deliver: engine.deliver { $0.add(delivery(Counter())) }
    }
    #expect(lab.count == 2, "there is another")
    lab.network.set(.wired)
    engine.wake()
    try await eventually("what was watched is watched") { cell.current.isVia("eth0") }
    // Once they wake up, they see that they are not needed any more.
    lab.first?.release()
    try await eventually("its threads have ended") { lab.first == nil }
    #expect(lab.count == 2)
    withExtendedLifetime(engine) {}
  }

  private func watchedCell(_ engine: NetworkEngine) async throws -> Weak<StateCell<Reachability>> {
    let cell = watch(engine)
    try await eventually("it is known") { cell.current.isKnown }
    try await eventually("its threads sleep") { lab.first?.isAtRest ?? false }
    return Weak(object: cell)
  }

  /// What a child of fork(2) does with the engine of its parent.
  @Test func whatIsAbandonedHoldsNothing() async throws {
    let engine = lab.provider.engine()
    let left = try await watchedCell(engine)
    #expect(left.object != nil, "it is watched")
    engine.abandon()
    #expect(lab.first?.state.abandons == 1 && left.object == nil)
    withExtendedLifetime(engine) {}
  }

  // MARK: The thread that stands in

  /// An engine without a waiter.
  private func standingIn() -> NetworkEngine {
    lab.areOut.value = true
    return lab.provider.engine()
  }

  private func hasThread(_ engine: NetworkEngine) -> Bool { engine.control.withLock { $0.standIn.hasThread } }

  @Test func aThreadStandsInAsLongAsThereIsSomethingToDo() async throws {
    let engine = standingIn()
    #expect(!hasThread(engine))
    try await deliver(engine)
    let (fired, ran) = (Counter(), Counter())
    // What is left to be called when the thread ends is called.
    let timer = engine.schedule(after: .nanoseconds(1)) { [queue = engine.deliveries] in
      fired.add()
      queue.add(delivery(ran))
    }
    #expect(timer != nil)
    try await eventually("it keeps the time") { fired.value == 1 }
    try await eventually("the last handler has run") { ran.value == 1 }
    try await eventually("it has ended") { !hasThread(engine) }
    // Without it, the thread that wakes the engine tries to get a waiter by itself.
    lab.areOut.value = false
    engine.wake()
    #expect(lab.count == 1 && engine.control.withLock { $0.waiter != nil })
  }

  /// Where a test moves the clock, it sleeps until somebody wakes it.
  @Test func aThreadThatStandsInIsWokenForWhatIsNew() async throws {
    let engine = standingIn()
    let cell = watch(engine)
    #expect(cell.current.isUndetermined(.outOfDescriptors) && hasThread(engine))
    try await deliver(engine)
    let fired = Counter()
    #expect(engine.schedule(after: .milliseconds(1)) { fired.add() } != nil)
    try await eventually("a timer fires") { fired.value == 1 }
    try await deliver(engine)
    lab.areOut.value = false
    engine.retry()
    try await eventually("it is not needed any more") { !hasThread(engine) }
    try await eventually("the threads of the engine go on") { cell.current.reason == .noRoute }
    withExtendedLifetime(engine) {}
  }

  private func queueOfAnEngineWithoutAWaiter() async throws -> Weak<DeliveryQueue> {
    let engine = standingIn()
    _ = watch(engine)
    try await deliver(engine)
    return Weak(object: engine.deliveries)
  }

  @Test func aThreadThatStandsInEndsWithItsEngine() async throws {
    let queue = try await queueOfAnEngineWithoutAWaiter()
    try await eventually("the thread has ended") { queue.object == nil }
  }

  /// It tries once for each reason to. The clock of a test is none.
  @Test func aWaiterIsTriedForOnlyWithAReason() async throws {
    let engine = standingIn()
    _ = watch(engine)
    engine.control.withLock { $0.standIn.nextTry = .min }
    try await deliver(engine)
    #expect(lab.attempts.count == 1)
    let caller = Thread.current
    engine.wake()
    try await eventually("it tries") { lab.attempts.count == 2 }
    #expect(lab.attempts.last != caller, "the thread that wakes an engine does not wait for the system")
    try await deliver(engine)
    #expect(lab.attempts.count == 2)
    withExtendedLifetime(engine) {}
  }

  @Test func ifTimePassesItTriesEveryFiveSeconds() async throws {
    let lab = WaiterLab(passes: true)
    lab.areOut.value = true
    let before = TimeSource.system.now()
    let engine = lab.provider.engine()
    let after = TimeSource.system.now()
    let next = engine.control.withLock { $0.standIn.nextTry }
    #expect(next >= before + 5 * TurnLab.second && next <= after + 5 * TurnLab.second)
    let cell = watch(engine)
    lab.areOut.value = false
    engine.control.withLock { $0.standIn.nextTry = .min }
    engine.wakeup.signal()
    try await eventually("it has tried again") { cell.current.reason == .noRoute }
    withExtendedLifetime(engine) {}
  }
}

/// Is never done with reading, for a number of times.
private final class HastySource: NetworkSource, Sendable {
  let unfinished = Counter()

  func drain(into change: inout NetworkChange) {
    if unfinished.value == 0 { return }
    unfinished.add(-1)
    change.isUnfinished = true
  }

  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {}
  func path(_ configuration: PathConfiguration) -> PathAnswer { .pending }
}
