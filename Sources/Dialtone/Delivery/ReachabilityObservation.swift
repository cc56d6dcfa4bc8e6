// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A receiver's registration. It lasts as long as this object, or until ``cancel()``.
///
/// It keeps the monitoring alive. You can use it from any thread.
public final class ReachabilityObservation: Sendable {
  let lease: Lease

  init(_ lease: Lease) { self.lease = lease }

  deinit { lease.end() }

  /// Ends the registration.
  ///
  /// Once this method has returned, no call of the handler begins, except one that another thread was already about to
  /// make. If you cancel on the handler's own queue or actor, there is no such call. A call that is running may finish.
  /// You can cancel any number of times.
  public func cancel() { lease.end() }

  package var hasEnded: Bool { lease.hasEnded }

  /// What a registration keeps alive, until it ends.
  final class Lease: Sendable {
    private struct Held {
      let monitor: any AnyObject & Sendable
      var end: (@Sendable () -> Void)?
    }

    private let held: Lock<Held?>

    init(_ monitor: any AnyObject & Sendable) { held = Lock(Held(monitor: monitor)) }

    var hasEnded: Bool { held.withLock { $0 == nil } }

    var monitor: (any AnyObject & Sendable)? { held.withLock { $0?.monitor } }

    /// Has `end` called when the registration ends, or now if it has ended.
    func onEnd(_ end: @escaping @Sendable () -> Void) {
      let hasEnded = held.withLock { held in
        held?.end = end
        return held == nil
      }
      if hasEnded { end() }
    }

    func end() {
      // The monitor is released here, outside the lock.
      held.exchange(nil)?.end?()
    }
  }
}
