// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
internal import Dialtone

extension NWPathMonitor: AsyncSequence {
  /// What it is a sequence of.
  public typealias Element = NWPath
  /// It never fails.
  public typealias Failure = Never
  /// What waits for its paths.
  public typealias AsyncIterator = Iterator

  /// Waits for one path after another.
  public struct Iterator: AsyncIteratorProtocol {
    /// What it returns.
    public typealias Element = NWPath
    /// It never fails.
    public typealias Failure = Never

    /// Keeps the monitor, and ends the iteration with the last copy of the iterator.
    private final class Lease: Sendable {
      let monitor: NWPathMonitor
      private let observation = Lock<ReachabilityObservation?>(nil)

      init(_ monitor: NWPathMonitor) { self.monitor = monitor }

      func begin(_ continuation: AsyncStream<NWPath>.Continuation) {
        let new = monitor.iterate(ObjectIdentifier(self), continuation)
        observation.withLock { $0 = new }
      }

      deinit {
        observation.withLock { $0 }?.cancel()
        monitor.endIteration(ObjectIdentifier(self))
      }
    }

    private var paths: AsyncStream<NWPath>.Iterator
    private let lease: Lease

    init(_ monitor: NWPathMonitor) {
      let (stream, continuation) = AsyncStream.makeStream(of: NWPath.self, bufferingPolicy: .bufferingNewest(1))
      lease = Lease(monitor)
      paths = stream.makeAsyncIterator()
      lease.begin(continuation)
    }

    /// Returns the first path as soon as it is known, then each change; `nil` once the monitor or the task is
    /// cancelled. A path that nobody has asked for is replaced by the next.
    public mutating func next() async -> NWPath? { await next(isolation: #isolation) }

    /// Like ``next()``, on the given actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPath? {
      guard !lease.monitor.isCancelled, let path = await paths.next(isolation: actor) else { return nil }
      return lease.monitor.isCancelled ? nil : path
    }
  }

  /// Begins to watch, for this iterator alone: the monitor need not be started. It watches until the iterator is
  /// released or the monitor is cancelled.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}
#endif
