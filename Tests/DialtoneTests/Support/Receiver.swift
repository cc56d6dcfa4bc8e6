// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Dispatch
import Observation
import TestSupport

/// The ways in which a program can receive changes.
enum Receiver: String, CaseIterable, Sendable {
  case updates, closure, queue, concurrentQueue, actor, mainActor, observable

  /// The ways that call a handler and return a token.
  static let handlers: [Receiver] = [.closure, .queue, .concurrentQueue, .actor, .mainActor]
  /// The ways that give each state itself. An observer of a property reads it some time later instead.
  static let exact: [Receiver] = [.updates] + handlers

  /// Calls `handler` with each state that this receiver gets, on the receiver's own thread.
  func follow(
    _ monitor: ReachabilityMonitor, _ handler: @escaping @Sendable (Reachability) -> Void
  ) async -> Reception {
    switch self {
    case .updates:
      let updates = monitor.updates
      let task = Task { for await state in updates { handler(state) } }
      return Reception { task.cancel() }
    case .closure, .queue, .concurrentQueue, .actor, .mainActor:
      let token = observe(monitor, handler)
      return Reception { token.cancel() }
    case .observable:
      let follower = await Follower(ObservableReachability(monitor), handler)
      await follower.follow()
      return Reception { Task { @MainActor in follower.end() } }
    }
  }

  /// Calls `handler` with each state of any monitor. An observable object follows one kind of monitor only.
  func follow<State>(
    any monitor: some StateMonitor<State>, _ handler: @escaping @Sendable (State) -> Void
  ) -> Reception {
    guard self == .updates else {
      let token = observe(monitor, handler)
      return Reception { token.cancel() }
    }
    let updates = monitor.updates
    let task = Task { for await state in updates { handler(state) } }
    return Reception { task.cancel() }
  }

  /// Calls `handler` from a receiver that has a token.
  func observe<State>(
    _ monitor: some StateMonitor<State>, _ handler: @escaping @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    switch self {
    case .queue:
      return monitor.observe(on: DispatchQueue(label: "dialtone-tests.serial"), handler)
    case .concurrentQueue:
      // The quality of service differs from that of tasks. A concurrent queue takes its threads from a pool with one
      // per processor, and handlers that block would hold up the tests that release them.
      let queue = DispatchQueue(label: "dialtone-tests.concurrent", qos: .utility, attributes: .concurrent)
      return monitor.observe(on: queue, handler)
    case .actor:
      let actor = ThreadedActor()
      // The observation does not retain the actor; the handler does.
      return monitor.observe(on: actor) { [actor] _, state in withExtendedLifetime(actor) { handler(state) } }
    case .mainActor:
      return monitor.observeOnMainActor { handler($0) }
    case .closure, .updates, .observable:
      return monitor.observe(handler)
    }
  }
}

/// Keeps a receiver going until it is released.
final class Reception: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  func cancel() { end() }
}

/// Reads an observable object's state again after each change, as a view does.
@MainActor
private final class Follower {
  private var observable: ObservableReachability?
  private let handler: @Sendable (Reachability) -> Void
  private var last: Reachability?
  private var wasUnknown = false

  init(_ observable: ObservableReachability, _ handler: @escaping @Sendable (Reachability) -> Void) {
    self.observable = observable
    self.handler = handler
  }

  func follow() {
    guard let observable else { return }
    let state = withObservationTracking {
      observable.current
    } onChange: {
      Task { @MainActor in self.follow() }
    }
    // A property must say that nothing is known, at first and in a pause. Neither that nor the same state afterwards is
    // a delivery.
    if !state.isDetermined, state.reason == nil {
      wasUnknown = true
    } else {
      if !wasUnknown || !(state ≈ last) { handler(state) }
      wasUnknown = false
      last = state
    }
  }

  func end() { observable = nil }
}
