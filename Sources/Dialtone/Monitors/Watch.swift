// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What an engine watches for a monitor.
protocol Watched: Sendable {
  /// Begins a new epoch: nothing is known until its first state is stored.
  func beginEpoch()

  func begin(on engine: NetworkEngine)

  func end(on engine: NetworkEngine)

  /// Lets every receiver look for a newer state. Answers with those that wait for a thread of the engine.
  func wakeReceivers() -> [any Deliverable]
}

/// The engine that watches for one monitor, but for its pauses. It watches until this is released.
///
/// Invariant: an epoch is begun, and the engine told, under one lock; so what the engine watches is of the present epoch, whichever
/// threads pause, resume and change it. Whoever wants to know that nothing is known any more is told afterwards.
struct Watch<Subject: Watched>: ~Copyable, Sendable {
  private let subject: Subject
  private let environment: ReachabilityEnvironment
  /// `nil` while paused.
  private let running: Lock<NetworkEngine?>
  /// The engine is of the process of this number.
  private let forkCount: Atomic<UInt32>

  init(_ subject: Subject, in environment: ReachabilityEnvironment) {
    self.subject = subject
    self.environment = environment
    forkCount = Atomic(ForkCount.current)
    let engine = environment.slot.engine()
    running = Lock(engine)
    subject.begin(on: engine)
  }

  deinit {
    if let engine = running.withLock({ $0 }) { subject.end(on: engine) }
  }

  /// The engine that watches, or, while paused, the environment's.
  var engine: NetworkEngine {
    followFork()
    return running.withLock { $0 } ?? environment.slot.engine()
  }

  var isPaused: Bool { running.withLock { $0 == nil } }

  /// In a child of fork(2), which has no threads but the one that forked: watches anew, and what was known is not known
  /// any more. To be called before anything is read or changed; costs two plain loads.
  func followFork() {
    if forkCount.load(ordering: .acquiring) != ForkCount.current { watchAnew() }
  }

  private func watchAnew() {
    let engines = running.withLock { engine -> (old: NetworkEngine, new: NetworkEngine)? in
      if forkCount.load(ordering: .relaxed) == ForkCount.current { return nil }
      subject.beginEpoch()
      // Only now: who finds this number reads nothing from before.
      defer { forkCount.store(ForkCount.current, ordering: .releasing) }
      guard let old = engine else { return nil }
      let new = environment.slot.engine()
      subject.begin(on: new)
      engine = new
      return (old, new)
    }
    engines?.new.deliver(subject.wakeReceivers())
  }

  /// Watches anew, if `change` says that it has begun an epoch.
  func restart(if change: () -> Bool) {
    followFork()
    let engine = running.withLock { engine -> NetworkEngine? in
      guard change(), let engine else { return nil }
      subject.end(on: engine)
      subject.begin(on: engine)
      return engine
    }
    engine?.deliver(subject.wakeReceivers())
  }

  func pause() {
    followFork()
    let ended = running.withLock { engine -> NetworkEngine? in
      guard let running = engine else { return nil }
      engine = nil
      subject.beginEpoch()
      subject.end(on: running)
      return running
    }
    // Perhaps the last reference, whose release ends the engine: outside the lock.
    ended?.deliver(subject.wakeReceivers())
  }

  func resume() {
    followFork()
    let begun = running.withLock { engine -> NetworkEngine? in
      if engine != nil { return nil }
      let running = environment.slot.engine()
      subject.begin(on: running)
      engine = running
      return running
    }
    // Where there are no descriptors for an engine, there is something to tell at once.
    begun?.deliver(subject.wakeReceivers())
  }
}
