// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
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

    private let monitor: NWPathMonitor
    private var paths: AsyncStream<NWPath>.Iterator

    init(_ monitor: NWPathMonitor) {
      self.monitor = monitor
      paths = monitor.paths().makeAsyncIterator()
    }

    /// Returns the first path as soon as it is known, then each change; `nil` once the monitor or the task is
    /// cancelled. A path that nobody has asked for is replaced by the next.
    public mutating func next() async -> NWPath? { await next(isolation: #isolation) }

    /// Like ``next()``, on the given actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPath? {
      guard !monitor.isCancelled, let path = await paths.next(isolation: actor) else { return nil }
      return monitor.isCancelled ? nil : path
    }
  }

  /// Begins to watch, for this iterator alone: the monitor need not be started. It watches until the iterator is
  /// released or the monitor is cancelled.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}
#endif
