// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The engine's loop: two threads that take turns.
///
/// Invariants:
/// - The thread that is woken does the whole turn, from the kernel's event to the last receiver. So one wake-up lies
///   between them.
/// - It runs handlers outside the engine's lock, and only if the other thread runs none (``DeliveryQueue``). So one
///   thread is always free to read events.
/// - The threads hold this object. It holds monitors only by commands and records, which a monitor withdraws when it
///   goes.
final class EngineCore: Sendable {
  private struct Inbox {
    var commands: [EngineCommand] = []
    var isStopped = false
  }

  private let inbox: Lock<Inbox>
  /// Whether a command came from within a turn, which wakes a thread when it has ended.
  private let isWakeDue = Atomic(false)
  private let state = Lock<EngineStateOwner?>(nil)
  private let deliveries: DeliveryQueue
  private let waiter: any EventWaiter
  private let provider: EngineProvider
  private let onLoss: @Sendable (EngineCore) -> Void

  /// - Parameters:
  ///   - provider: What the engine is made of.
  ///   - deliveries: Where handlers wait; it outlives this core.
  ///   - commands: What is to be done first.
  ///   - onLoss: Called once or several times, on any thread, if the waiter is lost: on Linux, because somebody has
  ///     closed its descriptors. The core does nothing more then.
  /// - Throws: If the system has nothing left to wait with.
  init(
    _ provider: EngineProvider, _ deliveries: DeliveryQueue, _ commands: [EngineCommand],
    onLoss: @escaping @Sendable (EngineCore) -> Void
  ) throws(SystemError) {
    waiter = try provider.makeWaiter(provider.time)
    inbox = Lock(Inbox(commands: commands))
    self.deliveries = deliveries
    self.provider = provider
    self.onLoss = onLoss
  }

  /// Starts the threads. Returns `false`, and does nothing, if the system has none to give.
  func start() -> Bool {
    // Under the engine's lock, so that neither thread does anything before both exist. One alone would stop reading
    // while a handler blocks.
    let isStarted = state.withLock { _ in
      for _ in 0..<2 where !Thread.start(named: "dialtone", { self.run() }) {
        inbox.withLock { $0.isStopped = true }
        return false
      }
      return true
    }
    waiter.wake()
    return isStarted
  }

  /// Ends the threads as soon as they have finished what they are doing. For any thread.
  func stop() {
    let dropped = inbox.withLock { inbox in
      inbox.isStopped = true
      defer { inbox.commands = [] }
      return inbox.commands
    }
    withExtendedLifetime(dropped) {}
    // If the waiter is lost, there is no thread to tell.
    waiter.wake()
  }

  /// Ends. Returns what another core needs to go on: all that is watched, the timers, and what has not been done
  /// yet.
  func handOver() -> [EngineCommand] {
    // The engine's lock comes first: a turn under way ends before, and leaves its commands in the engine.
    let watched = state.withLock { state in
      let rest = inbox.withLock { inbox in
        inbox.isStopped = true
        defer { inbox.commands = [] }
        return inbox.commands
      }
      defer { state = nil }
      return (state?.state.commands ?? []) + rest
    }
    return watched
  }

  /// Gives up the waiter, in a forked child. The threads exist in the parent only; what they held stays held here.
  func abandon() {
    waiter.abandon()
    // If a thread was in a turn at fork(2), the lock is held for good, and what the source has open stays open.
    _ = state.withLockIfAvailable { $0 = nil }
  }

  /// What became of a command that was posted.
  enum Receipt {
    case taken
    /// It is taken, but the waiter is lost: the caller has the core replaced.
    case takenWithoutWaiter
    /// The core has ended.
    case refused
  }

  /// Has a thread of the engine perform the command, soon. For any thread, which may hold locks: this never waits for
  /// the network, and calls nobody.
  func post(_ command: EngineCommand) -> Receipt {
    let (isTaken, isFirst) = add(command)
    if !isTaken { return .refused }
    return !isFirst || waiter.wake() ? .taken : .takenWithoutWaiter
  }

  private func add(_ command: EngineCommand) -> (isTaken: Bool, isFirst: Bool) {
    inbox.withLock { inbox in
      if inbox.isStopped { return (false, false) }
      inbox.commands.append(command)
      return (true, inbox.commands.count == 1)
    }
  }

  /// Posts the answer of a lookup. If the system gave no thread for the lookup, it comes within the turn that begins
  /// it, and a thread is woken when that has ended.
  private func post(_ command: EngineCommand, isFromTurn: Bool) {
    if !add(command).isFirst { return }
    if isFromTurn { isWakeDue.store(true, ordering: .relaxed) } else { wake() }
  }

  /// Returns what is true of a target now, asked on the calling thread.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    let (answer, isTurnDue) = state.withLock { state in
      let engine = state ?? open()
      state = engine
      return engine.state.answer(target, configuration)
    }
    // The events read on the way may concern monitors, too.
    if isTurnDue { wake() }
    return answer
  }

  /// Returns the addresses that monitors have just found for a name, or `nil`. Waits for a turn that is under way.
  func recentAddresses(of question: NameQuestion) -> [IPAddress]? {
    state.withLock { $0?.state.recentAddresses(of: question) }
  }

  /// When a turn is due that may decide what the last one could not; `nil` if it left nothing.
  /// Waits for a turn that is under way.
  var nextDecision: Int64? { state.withLock { $0?.state.nextDecision } }

  /// Has a thread do a turn, since something has changed that it cannot see by itself. The caller holds no lock.
  func wake() { if !isAwakened() { onLoss(self) } }

  /// The same for a caller that may hold locks. Returns `false` if the waiter is lost: the caller has the core
  /// replaced.
  func isAwakened() -> Bool { waiter.wake() }

  // MARK: The threads

  private func run() {
    while true {
      if inbox.withLock({ $0.isStopped }) { break }
      turn()
      // Last, since a handler may block: it must not hold up anything of the turn.
      deliveries.deliver()
      if !waiter.wait() {
        onLoss(self)
        break
      }
    }
    // Handlers may have been added just before. Each counts on being called, and nobody would call it again, although
    // its monitor may go on with another engine.
    deliveries.deliver()
    // stop() woke one thread only: wake the other.
    waiter.wake()
  }

  private func turn() {
    let outcome = state.withLock { state -> EngineState.Outcome? in
      // Under the engine's lock. Otherwise two threads could perform commands in another order than the posted one.
      let (commands, isStopped) = inbox.withLock { inbox -> ([EngineCommand], Bool) in
        if inbox.commands.isEmpty { return ([], inbox.isStopped) }
        defer { inbox.commands = [] }
        return (inbox.commands, inbox.isStopped)
      }
      if isStopped { return nil }
      let engine = state ?? open()
      state = engine
      let (outcome, deadline) = engine.turn(commands)
      // If this fails, so does the next wait.
      if let deadline { waiter.setDeadline(deadline) }
      return outcome
    }
    if isWakeDue.exchange(false, ordering: .relaxed) { wake() }
    guard let outcome else { return }
    // Before any handler, since one may block: the other thread goes on with what is left.
    if outcome.isUnfinished { wake() }
    if let cell = outcome.firstTarget { deliveries.add(cell.wakeReceivers()) }
    guard let rest = outcome.rest else { return }
    for cell in rest.targets { deliveries.add(cell.wakeReceivers()) }
    for cell in rest.paths { deliveries.add(cell.wakeReceivers()) }
    for timer in rest.fired { timer.fire() }
  }

  /// Makes the source, mostly on a thread of the engine, where nobody waits for it: it may take a while.
  private func open() -> EngineStateOwner {
    let source = provider.makeSource(waiter, provider.time)
    let state = EngineState(source, provider.time) { [weak self, provider] question, serial in
      let thread = Thread.current
      return provider.names.submit(question, by: provider.lookup) { [weak self] result in
        self?.post(.lookupEnded(question, serial: serial, result), isFromTurn: Thread.current == thread)
      }
    }
    return EngineStateOwner(state)
  }
}

/// Owns an engine's state until it goes. Used under the engine's lock.
final class EngineStateOwner {
  var state: EngineState

  init(_ state: EngineState) { self.state = state }

  /// Performs a turn. Returns what it leaves to do, and the deadline if it is another one than before.
  func turn(_ commands: [EngineCommand]) -> (EngineState.Outcome, deadline: Int64??) {
    // Access to the state is taken once.
    func turn(_ state: inout EngineState) -> (EngineState.Outcome, deadline: Int64??) {
      let outcome = state.turn(commands)
      return (outcome, state.time.passes ? state.takeChangedDeadline() : nil)
    }
    return turn(&state)
  }

  deinit { state.removeAll() }
}
