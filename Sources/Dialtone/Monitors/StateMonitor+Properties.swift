// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension StateMonitor {
  /// Calls `handler` with one property of the known state, as soon as there is one, and then each time the property
  /// changes.
  ///
  /// ```swift
  /// let token = monitor.observe(\.isReachable) { isReachable in
  ///   print(isReachable ? "online" : "offline")
  /// }
  /// ```
  ///
  /// No other change makes a call. Of several changes in a row, only the newest value counts; if it is the former value
  /// again, there is no call. You can give any key path to an `Equatable` value, also through optional values:
  /// `\.interface?.kind`.
  ///
  /// - Parameters:
  ///   - property: The property. It is read on the thread that calls the handler.
  ///   - handler: The function to call, as for ``observe(_:)``.
  /// - Returns: The registration. The handler is called until you cancel or release it.
  public func observe<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, _ handler: @escaping @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let change = newValues(of: property)
    return observe { state in
      if let value = change(state) { handler(value) }
    }
  }

  /// Like ``observe(_:_:)`` on a queue, where the property is read, too.
  public func observe<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let change = newValues(of: property)
    return observe(on: queue) { state in
      if let value = change(state) { handler(value) }
    }
  }

  /// Like ``observe(_:_:)`` on an actor, where the property is read, too.
  public func observe<Value: Equatable & Sendable, Isolation: Actor>(
    _ property: any KeyPath<State, Value> & Sendable, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Value) -> Void
  ) -> ReachabilityObservation {
    let change = newValues(of: property)
    return observe(on: actor) { actor, state in
      if let value = change(state) { handler(actor, value) }
    }
  }

  /// Like ``observe(_:_:)`` on the main actor, where the property is read, too.
  public func observeOnMainActor<Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, _ handler: @escaping @MainActor @Sendable (Value) -> Void
  ) -> ReachabilityObservation {
    let change = newValues(of: property)
    return observeOnMainActor { state in
      if let value = change(state) { handler(value) }
    }
  }

  /// The values of one property as an asynchronous sequence: the known state's value first, then each change.
  ///
  /// ```swift
  /// for await kind in monitor.updates(of: \.interface?.kind) {
  ///   print(kind ?? "no interface")
  /// }
  /// ```
  ///
  /// - Parameter property: The property.
  /// - Returns: A sequence that keeps the monitoring alive, and ends only when its task is cancelled.
  public func updates<Value: Equatable & Sendable>(
    of property: any KeyPath<State, Value> & Sendable
  ) -> DerivedUpdates<State, Value> {
    DerivedUpdates(updates) { state, last in
      let value = state[keyPath: property]
      return value == last ? nil : value
    }
  }
}

/// Returns a function that returns the property's value, if it differs from the one in the state before. Its calls come
/// one at a time.
private func newValues<State, Value: Equatable & Sendable>(
  of property: any KeyPath<State, Value> & Sendable
) -> @Sendable (State) -> Value? {
  let last = Lock<Value?>(nil)
  return { state in
    // The property and its comparison may be the user's: neither runs under the lock.
    let value = state[keyPath: property]
    if last.withLock({ $0 }) == value { return nil }
    _ = last.exchange(value)
    return value
  }
}
