// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension StateMonitor {
  /// Calls `handler` with one property of the state that is known, as soon as one is, and then each time this property
  /// changes.
  ///
  /// ```swift
  /// let token = monitor.observe(\.isReachable) { isReachable in
  ///   print(isReachable ? "online" : "offline")
  /// }
  /// ```
  ///
  /// Changes of anything else are not told. Of several changes in a row only the newest value is given, and a value that
  /// has come back by then is none. Any path to an `Equatable` value will do, also into optional values:
  /// `\.interface?.kind`.
  ///
  /// - Parameters:
  ///   - property: What is told of. It is read where the handler is called.
  ///   - handler: Called as for ``observe(_:)``.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, _ handler: @escaping @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let filter = PropertyFilter(property)
    return observe { state in
      if let value = filter.change(in: state) { handler(value) }
    }
  }

  /// Calls `handler` on `queue` with one property of the state that is known, as soon as one is, and then each time this
  /// property changes.
  ///
  /// As ``observe(_:_:)``.
  ///
  /// - Parameters:
  ///   - property: What is told of. It is read on the queue.
  ///   - queue: Where to call the handler; one call at a time, also where the queue is concurrent.
  ///   - handler: What to call.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let filter = PropertyFilter(property)
    return observe(on: queue) { state in
      if let value = filter.change(in: state) { handler(value) }
    }
  }

  /// Calls `handler` on `actor` with one property of the state that is known, as soon as one is, and then each time this
  /// property changes.
  ///
  /// As ``observe(_:_:)``.
  ///
  /// - Parameters:
  ///   - property: What is told of. It is read on the actor.
  ///   - actor: Where to call the handler. It is not retained; once it has gone, the observation ends at the next change.
  ///   - handler: What to call. After `cancel()` was called on the actor, no call begins.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe<Value: Equatable & Sendable, Isolation: Actor>(
    _ property: any KeyPath<State, Value> & Sendable, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Value) -> Void
  ) -> ReachabilityObservation {
    let filter = PropertyFilter(property)
    return observe(on: actor) { actor, state in
      if let value = filter.change(in: state) { handler(actor, value) }
    }
  }

  /// Calls `handler` on the main actor with one property of the state that is known, as soon as one is, and then each time
  /// this property changes.
  ///
  /// As ``observe(_:_:)``.
  ///
  /// - Parameters:
  ///   - property: What is told of. It is read on the main actor.
  ///   - handler: What to call. After `cancel()` was called on the main actor, no call begins.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observeOnMainActor<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, _ handler: @escaping @MainActor @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let filter = PropertyFilter(property)
    return observeOnMainActor { state in
      if let value = filter.change(in: state) { handler(value) }
    }
  }

  /// The values of one property one after another, as an asynchronous sequence: first that of the state that is known, then
  /// each change of this property.
  ///
  /// ```swift
  /// for await kind in monitor.updates(of: \.interface?.kind) {
  ///   print(kind ?? "no interface")
  /// }
  /// ```
  ///
  /// - Parameter property: What is told of.
  /// - Returns: A sequence that keeps the monitoring alive, and ends only when its task is cancelled.
  public func updates<Value: Equatable & Sendable>(
    of property: any KeyPath<State, Value> & Sendable
  ) -> PropertyUpdates<State, Value> {
    PropertyUpdates(updates, property)
  }
}

/// What one receiver was told of a property last. Its calls come one at a time.
private final class PropertyFilter<State, Value: Equatable & Sendable>: Sendable {
  private let property: any KeyPath<State, Value> & Sendable
  private let last = Lock<Value?>(nil)

  init(_ property: any KeyPath<State, Value> & Sendable) { self.property = property }

  /// The property's value, if it differs from that of the state before.
  func change(in state: State) -> Value? {
    // The property and its comparison may be the user's: neither runs under the lock.
    let value = state[keyPath: property]
    if last.withLock({ $0 }) == value { return nil }
    last.withLock { $0 = value }
    return value
  }
}
