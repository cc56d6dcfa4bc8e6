// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// Promise 5: after `cancel()` returns, no callback starts. One that already runs on another thread may still finish.
@Suite(.timeLimit(.minutes(5)))
struct Promise5CancelTests {
  @Test(arguments: Receiver.handlers)
  func cancelledInsideItsOwnHandlerIsNotCalledAgain(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = Box<ReachabilityObservation?>(nil)
    let isReady = Latch()
    token.value = receiver.observe(monitor) { state in
      isReady.wait()
      log.append(state)
      token.value?.cancel()
    }
    isReady.open()
    let control = Log<Reachability>()
    let reception = await Receiver.updates.follow(monitor) { control.append($0) }
    for number in 2...20 {
      network.set(.numbered(number))
      try await control.wait("state \(number)") { $0.number == number }
    }
    try await eventually("it was called") { log.count > 0 }
    try await network.settle()
    #expect(log.count == 1)
    reception.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func releasedInsideItsOwnHandlerIsNotCalledAgain(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = Box<ReachabilityObservation?>(nil)
    let isReady = Latch()
    token.value = receiver.observe(monitor) { state in
      isReady.wait()
      log.append(state)
      token.value = nil
    }
    isReady.open()
    try await eventually("it was called") { log.count == 1 }
    let control = Log<Reachability>()
    let reception = await receiver.follow(monitor) { control.append($0) }
    network.set(.numbered(2))
    try await control.wait("the change") { $0.number == 2 }
    #expect(log.count == 1)
    reception.cancel()
  }

  /// On the receiver's own queue or actor no call can be about to start, so there the promise holds strictly.
  @Test(arguments: [Receiver.queue, .actor, .mainActor])
  func cancelledWhereItIsCalledStartsNoCallAfterwards(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let queue = DispatchQueue(label: "dialtone-tests.cancel")
    let actor = ThreadedActor()
    let late = Counter()
    for round in 1...200 {
      network.set(.numbered(2 * round))
      let hasEnded = Box(false)
      let mark: @Sendable () -> Void = { hasEnded.value = true }
      let handler: @Sendable (Reachability) -> Void = { _ in if hasEnded.value { late.add() } }
      let token: ReachabilityObservation =
        switch receiver {
        case .queue: monitor.observe(on: queue, handler)
        case .actor: monitor.observe(on: actor) { _, state in handler(state) }
        default: monitor.observeOnMainActor { handler($0) }
        }
      network.set(.numbered(2 * round + 1))
      if round % 3 == 0 { await Task.yield() }
      switch receiver {
      case .queue:
        queue.async {
          token.cancel()
          mark()
        }
      case .actor:
        await actor.run { _ in
          token.cancel()
          mark()
        }
      default:
        await MainActor.run {
          token.cancel()
          mark()
        }
      }
      network.set(.numbered(2 * round))
    }
    try await network.settle()
    // Everything put on the queue or the actor before this has run when this has.
    queue.sync {}
    await actor.run { _ in }
    await MainActor.run {}
    #expect(late.value == 0)
  }

  @Test(arguments: Receiver.handlers)
  func cancelledFromAnotherThreadStartsAtMostTheCallThatWasBeginning(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let control = Log<Reachability>()
    let reception = await Receiver.updates.follow(monitor) { control.append($0) }
    for round in 1...50 {
      let calls = Counter()
      let token = receiver.observe(monitor) { _ in calls.add() }
      for step in 1...5 { network.set(.numbered(round * 100 + step)) }
      token.cancel()
      let atMost = calls.value + 1
      for step in 6...8 {
        network.set(.numbered(round * 100 + step))
        try await control.wait("state \(step)") { $0.number == round * 100 + step }
      }
      #expect(calls.value <= atMost)
    }
    reception.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func releasingTheTokenEndsItAndReleasesTheHandler(receiver: Receiver) async throws {
    final class Captured: Sendable {}
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    weak var captured: Captured?
    do {
      let object = Captured()
      captured = object
      let token = receiver.observe(monitor) { state in
        withExtendedLifetime(object) { log.append(state) }
      }
      try await log.wait("the first state") { $0.number == 1 }
      withExtendedLifetime(token) {}
    }
    try await eventually("the handler is released") { captured == nil }
    network.set(.numbered(2))
    #expect(try await monitor.waitUntilReachable(over: .any).isReachable)
    try await eventually("the engine has it") { monitor.current.number == 2 }
    #expect(log.count == 1)
  }

  @Test func anEndedActorEndsItsObservation() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    weak var gone: ThreadedActor?
    var token: ReachabilityObservation?
    do {
      let actor = ThreadedActor()
      gone = actor
      token = monitor.observe(on: actor) { _, state in log.append(state) }
      try await log.wait("the first state") { $0.number == 1 }
      await actor.run { _ in }
    }
    try await eventually("the actor is not retained") { gone == nil }
    network.set(.numbered(2))
    try await network.settle()
    #expect(log.count == 1)
    token?.cancel()
  }

  @Test func cancellingTwiceAndAfterwardsDoesNoHarm() async throws {
    let network = scriptedNetwork()
    let token = network.monitor().observe { _ in }
    token.cancel()
    token.cancel()
    let once = network.monitor().whenReachable {}
    once.cancel()
    once.cancel()
    network.set(.wifi)
    try await network.settle()
  }

  @Test func aCancelledTaskEndsItsSequence() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let task = Task {
      for await state in monitor.updates { log.append(state) }
      return true
    }
    try await log.wait("the first state") { $0.isReachable }
    task.cancel()
    #expect(await task.value)
    let begunCancelled = Task {
      while !Task.isCancelled { await Task.yield() }
      var iterator = monitor.updates.makeAsyncIterator()
      return await iterator.next()
    }
    begunCancelled.cancel()
    #expect(await begunCancelled.value == nil)
  }
}
