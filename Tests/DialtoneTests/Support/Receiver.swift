// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Dispatch
import Observation

/// The ways in which a program can be told of changes.
enum Receiver: String, CaseIterable, Sendable {
  case updates, closure, queue, concurrentQueue, actor, mainActor, observable

  /// Those that call a handler and answer with a token.
  static let handlers: [Receiver] = [.closure, .queue, .concurrentQueue, .actor, .mainActor]
  /// Those that give each state itself, where an observer of a property has to read it some time later.
  static let exact: [Receiver] = [.updates] + handlers

  /// Has `handler` called with each state that this receiver is given, where it is given it.
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

  /// Has `handler` called with each state of any monitor; an observable object follows one kind alone.
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

  /// Has `handler` called, by a receiver that has a token.
  func observe<State>(
    _ monitor: some StateMonitor<State>, _ handler: @escaping @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    switch self {
    case .queue:
      return monitor.observe(on: DispatchQueue(label: "dialtone-tests.serial"), handler)
    case .concurrentQueue:
      // Of another quality of service than tasks have: a concurrent queue takes its threads from a pool as large as
      // there are processors, and handlers that block would hold up the tests that let them go.
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

/// What keeps a receiver going; it ends when this is released.
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
    // A property has to say that nothing is known, at first and in a pause; neither that nor the same state afterwards
    // is a delivery.
    if !state.isDetermined, state.reason == nil {
      wasUnknown = true
    } else {
      if !wasUnknown || state != last { handler(state) }
      wasUnknown = false
      last = state
    }
  }

  func end() { observable = nil }
}
