// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What an engine watches for one monitor, except in its pauses. It watches until this is released.
///
/// Invariant: an epoch is begun, and the engine told, under one lock. So the engine watches the subject of the present
/// epoch, whichever threads pause, resume and change it. Receivers are told afterwards that nothing is known any more.
struct Watch: ~Copyable, Sendable {
  private struct State {
    var subject: EngineSubject
    /// `nil` while paused.
    var engine: NetworkEngine?
  }

  private let environment: ReachabilityEnvironment
  private let state: Lock<State>
  /// The subject once more, behind a lock of its own: handlers may read it while another thread starts an engine. It is
  /// replaced after an epoch begins, and before the engine is told. So an epoch has no state before its subject is
  /// here.
  private let present: Lock<EngineSubject>
  /// The ``ForkCount`` of the process that started the engine.
  private let forkCount: Atomic<UInt32>

  /// `engine` is the environment's. Ask for it before anything else is made: its threads open the source meanwhile.
  init(_ subject: EngineSubject, in environment: ReachabilityEnvironment, by engine: NetworkEngine) {
    self.environment = environment
    forkCount = Atomic(ForkCount.current)
    state = Lock(State(subject: subject, engine: engine))
    present = Lock(subject)
    engine.watch(subject)
  }

  deinit {
    let (subject, engine) = state.withLock { ($0.subject, $0.engine) }
    engine?.unwatch(subject)
  }

  /// What is watched, and the epoch of its states. For any thread; never waits for an engine.
  var assignment: (subject: EngineSubject, epoch: Epoch) { present.withLock { ($0, $0.epoch) } }

  /// The engine that watches; while paused, the environment's.
  var engine: NetworkEngine {
    followFork()
    return state.withLock { $0.engine } ?? environment.provider.engine()
  }

  var isPaused: Bool { state.withLock { $0.engine == nil } }

  /// Watches anew, and forgets what was known, in a child of fork(2): it has no thread except the one that forked. Call
  /// it before anything is read or changed; it costs two plain loads.
  func followFork() {
    if forkCount.load(ordering: .acquiring) != ForkCount.current { watchAnew() }
  }

  private func watchAnew() {
    // Released outside the lock.
    var former: NetworkEngine?
    change { state in
      if forkCount.load(ordering: .relaxed) == ForkCount.current { return nil }
      state.subject.beginEpoch()
      // Last, so that a thread that finds this number reads nothing from before the fork.
      defer { forkCount.store(ForkCount.current, ordering: .releasing) }
      former = state.engine
      if former == nil { return nil }
      let engine = environment.provider.engine()
      engine.watch(state.subject)
      state.engine = engine
      return engine
    }
    withExtendedLifetime(former) {}
  }

  /// Changes what is watched, under the lock. Then the engine that `body` returns has receivers told.
  private func change(_ body: (inout State) -> NetworkEngine?) {
    let (engine, subject) = state.withLock { (body(&$0), $0.subject) }
    // This may be the last reference, whose release ends the engine: outside the lock.
    engine?.deliver(subject.wakeReceivers)
  }

  /// Watches something else, if `successor` returns another subject, which must have the same cell.
  func restart(_ successor: (EngineSubject) -> EngineSubject?) {
    followFork()
    change { state in
      guard let new = successor(state.subject) else { return nil }
      new.beginEpoch(ofNewSubject: true)
      state.engine?.unwatch(state.subject)
      state.subject = new
      present.withLock { $0 = new }
      state.engine?.watch(new)
      return state.engine
    }
  }

  func pause() {
    followFork()
    change { state in
      guard let engine = state.engine else { return nil }
      state.engine = nil
      state.subject.beginEpoch()
      engine.unwatch(state.subject)
      return engine
    }
  }

  func resume() {
    followFork()
    // If the system gives nothing for an engine, receivers are told so at once.
    change { state in
      if state.engine != nil { return nil }
      let engine = environment.provider.engine()
      engine.watch(state.subject)
      state.engine = engine
      return engine
    }
  }
}
