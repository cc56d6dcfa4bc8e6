// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What monitors hold of the engine: while one of them does, it runs; when the last lets go, it ends.
///
/// In a child of fork(2) the engine of the parent does nothing any more; monitors get another one (``Watch``).
package final class NetworkEngine: DeliveryExecutor {
  private let starter: EngineStarter
  package let time: TimeSource

  init(_ provider: EngineProvider) {
    time = provider.time
    starter = EngineStarter(provider)
  }

  deinit { starter.stop() }

  /// Tries again at once where the system had no descriptors or threads to give.
  func retry() { if starter.core == nil { starter.retry() } }

  /// Has the subject's states published, as those of its cell's present epoch. The caller has its receivers woken,
  /// outside all locks.
  func watch(_ subject: EngineSubject) { starter.post(.watch(subject, subject.cell.epoch)) }

  func unwatch(_ subject: EngineSubject) { starter.post(.unwatch(subject.cell)) }

  /// Runs receivers' handlers, soon: the caller has something new for them, and holds no lock. A thread of the engine
  /// does, or, where the system has no thread to give, the caller's.
  package func deliver(_ handlers: [any Deliverable]) { starter.deliver(handlers) }

  /// What is true of a target now, asked on the calling thread. Waits for no network; a turn of the engine that is
  /// under way is waited for.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    starter.core?.answer(target, configuration) ?? .denied
  }

  /// The addresses of a name that monitors have looked up within the last second; `nil` where none has.
  package func recentAddresses(of host: HostName, _ family: IPAddress.Family?) -> [IPAddress]? {
    starter.core?.recentAddresses(of: NameQuestion(host: host, family: family))
  }

  /// Returns once everything that the system had told until now has been read, and decided for all targets.
  func settled() async {
    await withCheckedContinuation { continuation in
      // Timers that are due fire at the end of a turn. Without an engine there is nothing to wait for.
      let timer = schedule(after: .zero) { continuation.resume() }
      if timer == nil { continuation.resume() }
    }
  }

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before. Returns `nil`, and
  /// never calls it, if the system has no thread to give that could keep the time.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer? {
    let deadline = time.now().addingClamped(max(0, delay.nanosecondsClamped))
    let timer = DeliveryTimer(at: deadline, action) { [weak starter] in starter?.post(.forgetTimer) }
    if starter.schedule(timer) { return timer }
    timer.cancel()
    return nil
  }

  /// Has the engine look at the clock and at its source, which have been moved by hand.
  package func wake() { starter.wake() }
}
