// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What monitors hold of the engine. It runs while a monitor holds it, and ends when the last one releases it.
///
/// In a child of fork(2) the engine of the parent does nothing any more. Monitors get another one (``Watch``).
package final class NetworkEngine: Sendable {
  private let starter: EngineStarter
  package let time: TimeSource

  init(_ provider: EngineProvider) {
    time = provider.time
    starter = EngineStarter(provider)
  }

  deinit { starter.stop() }

  /// Gives up what the engine of the parent holds, in a child of fork(2).
  func abandon() { starter.stop() }

  /// Tries again at once, if the system gave no waiter or no threads.
  func retry() { if starter.core == nil { starter.retry() } }

  /// Has the subject's states published, as states of its cell's present epoch. The caller must wake its receivers,
  /// outside all locks.
  func watch(_ subject: EngineSubject) { starter.post(.watch(subject, subject.epoch)) }

  func unwatch(_ subject: EngineSubject) { starter.post(.unwatch(subject)) }

  /// Has receivers' handlers run soon, since the caller has something new for them. The caller holds no lock. A thread
  /// of the engine runs them, or the caller's if the system has no thread to give.
  package func deliver(_ deliveries: [Delivery]) { starter.deliver(deliveries) }

  /// Returns what is true of a target now, asked on the calling thread. Waits for a turn that is under way, but never
  /// for the network.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    starter.core?.answer(target, configuration) ?? .denied(for: starter.shortage)
  }

  /// Returns the addresses of a name that monitors have looked up within the last second, or `nil` if none has.
  package func recentAddresses(of host: HostName, _ family: IPAddress.Family?) -> [IPAddress]? {
    starter.core?.recentAddresses(of: NameQuestion(name: host.ascii, family: family))
  }

  /// Returns once everything that the system has announced until now is read, and decided for all targets.
  func settled() async {
    var deadline: Int64? = time.now()
    while let time = deadline {
      await withCheckedContinuation { continuation in
        // Timers that are due fire at the end of a turn. Without a thread there is nothing to wait for.
        let timer = schedule(at: time) { continuation.resume() }
        if timer == nil { continuation.resume() }
      }
      // The turn may have decided nothing.
      deadline = starter.core?.nextDecision
    }
  }

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before. Returns `nil`, and
  /// never calls `action`, if the system has no thread to keep the time.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer? {
    schedule(at: time.now().addingClamped(max(0, delay.nanosecondsClamped)), action)
  }

  private func schedule(at deadline: Int64, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer? {
    let timer = DeliveryTimer(at: deadline, action) { [weak starter] in starter?.post(.forgetTimer) }
    if starter.schedule(timer) { return timer }
    timer.cancel()
    return nil
  }

  /// Has the engine look at the clock and at its source, which a test has changed.
  package func wake() { starter.wake() }
}
