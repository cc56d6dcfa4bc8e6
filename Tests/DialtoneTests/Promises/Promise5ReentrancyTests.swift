// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import Observation
import TestSupport
import Testing

/// Promise 5, no deadlock: a callback may call anything.
@Suite(.timeLimit(.minutes(5)))
struct Promise5ReentrancyTests {
  /// What a handler may call. Each call returns, and the handler goes on.
  enum Call: String, CaseIterable, Sendable {
    case current, observeInEveryWay, cancel, release, makeMonitors, releaseMonitors, makeIterators, actOnce,
      setTheNetwork
    case waitForATask
  }

  @Test(arguments: Receiver.handlers, Call.allCases)
  func aHandlerMayCallAnything(receiver: Receiver, call: Call) async throws {
    if call == .waitForATask, receiver == .mainActor { return }  // a task may need the main thread that it would hold
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let done = Counter()
    let token = receiver.observe(monitor) { state in
      if state.number != 1 { return }
      Self.perform(call, monitor, network)
      done.add()
    }
    try await eventually("the call comes back") { done.value == 1 }
    // Afterwards everything goes on.
    network.set(.numbered(3))
    try await eventually("the engine has the change") { monitor.current.number == 3 }
    token.cancel()
  }

  private static func perform(_ call: Call, _ monitor: ReachabilityMonitor, _ network: ScriptedNetwork) {
    switch call {
    case .current:
      for _ in 0..<100 { _ = monitor.current }
    case .observeInEveryWay:
      for receiver in Receiver.handlers { receiver.observe(monitor) { _ in }.cancel() }
    case .cancel:
      let token = monitor.observe { _ in }
      token.cancel()
      token.cancel()
    case .release:
      withExtendedLifetime(monitor.observe { _ in }) {}
    case .makeMonitors:
      let made = (0..<20).map { network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32($0)))) }
      for monitor in made { _ = monitor.current }
    case .releaseMonitors:
      for _ in 0..<20 {
        let monitor = scriptedNetwork().monitor()
        withExtendedLifetime(monitor.observe { _ in }) {}
      }
    case .makeIterators:
      withExtendedLifetime((0..<5).map { _ in monitor.updates.makeAsyncIterator() }) {}
    case .actOnce:
      monitor.whenReachable {}.cancel()
      withExtendedLifetime(monitor.whenReachable(over: .only(.loopback)) {}) {}
    case .setTheNetwork:
      network.set(.numbered(2))
      network.clock.advance(by: .seconds(1))
    case .waitForATask:
      let finished = DispatchSemaphore(value: 0)
      Task {
        _ = try await monitor.waitUntilReachable()
        await #expect(throws: ReachabilityError.self) {
          try await monitor.waitUntilReachable(over: .only(.loopback), timeout: .zero)
        }
        finished.signal()
      }
      #expect(finished.wait(timeout: .now() + .seconds(20)) == .success)
    }
  }

  @Test(arguments: Receiver.handlers)
  func aHandlerMayWaitForAnotherReceiver(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let other = Log<Reachability>()
    let reception = await Receiver.queue.follow(monitor) { other.append($0) }
    let done = Counter()
    let token = receiver.observe(monitor) { state in
      guard state.number == 1 else { return }
      network.set(.numbered(2))
      let limit = ContinuousClock.now + .seconds(60)
      while other.last?.number != 2, ContinuousClock.now < limit { _ = monitor.current }
      done.add()
    }
    try await eventually("the other one was told") { done.value == 1 }
    #expect(other.last?.number == 2)
    token.cancel()
    reception.cancel()
  }

  @Test func anObservablePropertyMayBeUsedInItsObserver() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let seen = Log<Bool>()
    let observable = await ObservableReachability(network.monitor())
    await MainActor.run {
      withObservationTracking {
        _ = observable.current
      } onChange: {
        let another = network.monitor()
        another.observe { _ in }.cancel()
        seen.append(another.current.isReachable)
      }
    }
    network.set(.unreachable())
    try await eventually("the property changes") { await !observable.isReachable }
  }
}
