// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The states of a monitor: the known state first, as soon as there is one, then each change.
///
/// The sequence keeps the monitoring alive. Each iterator is a subscription of its own, and any number can run. An
/// iterator gets every change that it is quick enough for, and always the last one. It ends only if its task is
/// cancelled.
public struct MonitorUpdates<State: DeterminableState>: AsyncSequence, Sendable {
  package let feed: StateFeed<State>

  package init(_ feed: StateFeed<State>) { self.feed = feed }

  /// Begins a subscription. It ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(feed) }

  /// Gives the states to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let registration: ReachabilityObservation
    private let subscription: Subscription<State>

    fileprivate init(_ feed: StateFeed<State>) { (registration, subscription) = feed.subscribe() }

    /// Returns the next state, as soon as one differs from the last one returned; `nil` once the task is cancelled.
    ///
    /// Of the states that came since the last call, it returns only the newest.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
      await subscription.next()?.state
    }
  }
}

@available(*, unavailable)
extension MonitorUpdates.Iterator: Sendable {}

/// What is made of the states of a monitor: the values of one property (``StateMonitor/updates(of:)``), or each state
/// with the one before it (``ReachabilityMonitor/changes``).
///
/// Like ``MonitorUpdates``, it keeps the monitoring alive, and each iterator is a subscription of its own. An iterator
/// ends only if its task is cancelled.
public struct DerivedUpdates<State: DeterminableState, Element: Sendable>: AsyncSequence, Sendable {
  /// Makes the next element of a state and the element before it; `nil` leaves the state out.
  typealias Derivation = @Sendable (_ state: State, _ last: Element?) -> Element?

  private let updates: MonitorUpdates<State>
  private let derive: Derivation

  init(_ updates: MonitorUpdates<State>, _ derive: @escaping Derivation) {
    self.updates = updates
    self.derive = derive
  }

  /// Begins a subscription. It ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(states: updates.makeAsyncIterator(), derive: derive) }

  /// Gives the elements to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: MonitorUpdates<State>.Iterator
    private let derive: Derivation
    private var last: Element?

    fileprivate init(states: MonitorUpdates<State>.Iterator, derive: @escaping Derivation) {
      self.states = states
      self.derive = derive
    }

    /// Returns the next element, as soon as there is one; `nil` once the task is cancelled.
    ///
    /// Of the states that came since the last call, it is made of the newest alone.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while let state = await states.next(isolation: actor) {
        guard let element = derive(state, last) else { continue }
        last = element
        return element
      }
      return nil
    }
  }
}

@available(*, unavailable)
extension DerivedUpdates.Iterator: Sendable {}
