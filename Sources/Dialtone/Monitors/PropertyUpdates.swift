// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The values of one property of a monitor's states one after another: that of the state known when iteration begins, as soon
/// as it is known, then each change of the property.
///
/// As ``MonitorUpdates``, it keeps the monitoring alive, each iterator is a subscription of its own, and it ends only when its
/// task is cancelled.
public struct PropertyUpdates<State: Sendable, Value: Equatable & Sendable>: AsyncSequence, Sendable {
  private let updates: MonitorUpdates<State>
  private let property: any KeyPath<State, Value> & Sendable

  init(_ updates: MonitorUpdates<State>, _ property: any KeyPath<State, Value> & Sendable) {
    self.updates = updates
    self.property = property
  }

  /// Begins a subscription, which ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator(), property) }

  /// Gives the values to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: MonitorUpdates<State>.Iterator
    private let property: any KeyPath<State, Value> & Sendable
    private var last: Value?

    init(_ states: MonitorUpdates<State>.Iterator, _ property: any KeyPath<State, Value> & Sendable) {
      self.states = states
      self.property = property
    }

    /// The next value, as soon as there is one that differs from the last one given; `nil` once the task is cancelled.
    ///
    /// Of values that came since the last call, only the newest is given.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      while let state = await states.next(isolation: actor) {
        let value = state[keyPath: property]
        if value == last { continue }
        last = value
        return value
      }
      return nil
    }

    /// As ``next(isolation:)``.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }
  }
}

@available(*, unavailable)
extension PropertyUpdates.Iterator: Sendable {}
