// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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

  init(_ subject: Subject, in environment: ReachabilityEnvironment) {
    self.subject = subject
    self.environment = environment
    let engine = environment.slot.engine()
    running = Lock(engine)
    subject.begin(on: engine)
  }

  deinit {
    if let engine = running.withLock({ $0 }) { subject.end(on: engine) }
  }

  /// The engine that watches, or, while paused, the environment's.
  var engine: NetworkEngine { running.withLock { $0 } ?? environment.slot.engine() }

  var isPaused: Bool { running.withLock { $0 == nil } }

  /// Watches anew, if `change` says that it has begun an epoch.
  func restart(if change: () -> Bool) {
    let engine = running.withLock { engine -> NetworkEngine? in
      guard change(), let engine else { return nil }
      subject.end(on: engine)
      subject.begin(on: engine)
      return engine
    }
    engine?.deliver(subject.wakeReceivers())
  }

  func pause() {
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
    running.withLock { engine in
      if engine != nil { return }
      let running = environment.slot.engine()
      subject.begin(on: running)
      engine = running
    }
  }
}
