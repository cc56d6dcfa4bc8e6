// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The engine's loop: two threads that take turns.
///
/// Invariants: a thread that is woken does the whole turn, from the kernel's event to the last receiver, so that one
/// wake-up lies between them; it runs handlers outside the engine's lock, and only if the other thread runs none
/// (``DeliveryQueue``), so one thread is always free to read events. The threads hold this object; it holds no monitor
/// but by the commands and records that a monitor itself withdraws when it goes.
final class EngineCore: Sendable {
  private struct Inbox {
    var commands: [EngineCommand] = []
    var isStopped = false
  }

  private let inbox: Lock<Inbox>
  private let state = Lock<EngineState?>(nil)
  private let deliveries: DeliveryQueue
  private let waiter: any EventWaiter
  private let provider: EngineProvider
  private let onLoss: @Sendable (EngineCore) -> Void

  /// - Parameters:
  ///   - provider: What the engine is made of.
  ///   - deliveries: Where handlers wait; it outlives this core.
  ///   - commands: What is to be done first.
  ///   - onLoss: Called once or several times, on any thread, where somebody has closed the core's descriptors: it does
  ///     nothing more then.
  /// - Throws: Where the process has no descriptors left.
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

  /// Starts the threads. Returns `false`, and nothing has been done, where the system has none to give.
  func start() -> Bool {
    // Under the engine's lock: neither does anything before both are there. One alone would stop reading while a
    // handler blocks.
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

  /// Ends the threads as soon as they have finished what they are at. For any thread.
  func stop() {
    let dropped = inbox.withLock { inbox in
      inbox.isStopped = true
      defer { inbox.commands = [] }
      return inbox.commands
    }
    withExtendedLifetime(dropped) {}
    // Where the descriptors are closed, there is no thread that could be told.
    waiter.wake()
  }

  /// Gives up, for another core to go on with what is answered: all that is watched, the timers, and what has not been
  /// done yet.
  func surrender() -> [EngineCommand] {
    // In this order: what a turn that is under way leaves is in the engine.
    let watched = state.withLock { state in
      let rest = inbox.withLock { inbox in
        inbox.isStopped = true
        defer { inbox.commands = [] }
        return inbox.commands
      }
      defer { state = nil }
      return (state?.commands ?? []) + rest
    }
    return watched
  }

  /// In a forked child: closes the descriptors. The threads are the parent's, and so is what they hold for good.
  func abandon() {
    waiter.abandon()
    // Where one of the threads was at a turn, the lock is held for good, and the source's descriptors stay open.
    _ = state.withLockIfAvailable { $0 = nil }
  }

  /// Has a thread do what the command says, soon. For any thread; never waits for the network.
  /// Returns `false`, and nothing is done, where it has ended.
  @discardableResult
  func post(_ command: EngineCommand) -> Bool {
    let (isTaken, isFirst) = inbox.withLock { inbox in
      if inbox.isStopped { return (false, false) }
      inbox.commands.append(command)
      return (true, inbox.commands.count == 1)
    }
    if isFirst { wake() }
    return isTaken
  }

  /// Has a thread run receivers' handlers, soon.
  func deliver(_ handlers: [any Deliverable]) {
    deliveries.add(handlers)
    wake()
  }

  /// What is true of a target now, asked on the calling thread.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    let (answer, isTurnDue) = state.withLock { state in
      let engine = state ?? open()
      state = engine
      return engine.answer(target, configuration)
    }
    // What was read on the way concerns others, too.
    if isTurnDue { wake() }
    return answer
  }

  /// What monitors have just learnt of a name; `nil` where they have not. Waits for a turn that is under way.
  func recentAddresses(of question: NameQuestion) -> [IPAddress]? {
    state.withLock { $0?.recentAddresses(of: question) }
  }

  /// Has a thread do a turn: something it cannot see by itself has changed.
  func wake() { if !waiter.wake() { onLoss(self) } }

  // MARK: The threads

  private func run() {
    while true {
      if inbox.withLock({ $0.isStopped }) { break }
      turn()
      // Last, since a handler may block: nothing of the turn is kept meanwhile.
      deliveries.deliver()
      if !waiter.wait() {
        onLoss(self)
        break
      }
    }
    // What was added just before: each of these handlers counts on being asked, and would else never be again, though
    // its monitor may go on with another engine.
    deliveries.deliver()
    // Only one thread was woken by stop(): pass it on.
    waiter.wake()
  }

  private func turn() {
    let outcome = state.withLock { state -> EngineState.Outcome? in
      // Under the engine's lock: else two threads could do commands in another order than they were posted in.
      let (commands, isStopped) = inbox.withLock { inbox in
        defer { inbox.commands = [] }
        return (inbox.commands, inbox.isStopped)
      }
      if isStopped { return nil }
      let engine = state ?? open()
      state = engine
      let outcome = engine.turn(commands)
      if provider.time.passes, engine.armedDeadline != engine.deadline {
        engine.armedDeadline = engine.deadline
        // If it fails, so does the wait that comes next.
        waiter.setDeadline(engine.deadline)
      }
      return outcome
    }
    guard let outcome else { return }
    // Before any handler is run, which may block: the other thread goes on with what is left.
    if outcome.isUnfinished { wake() }
    for cell in outcome.targets { deliveries.add(cell.wakeReceivers()) }
    for cell in outcome.paths { deliveries.add(cell.wakeReceivers()) }
    for timer in outcome.fired { timer.fire() }
  }

  /// Makes the source, mostly on a thread of the engine: it may take a while, and nobody waits for it.
  private func open() -> EngineState {
    let source = provider.makeSource(waiter, provider.time)
    return EngineState(source, provider.time) { [weak self, provider] question, serial in
      provider.names.submit(question.host.text, question.family, by: provider.lookup) { [weak self] result in
        self?.post(.lookupEnded(question, serial: serial, result))
      }
    }
  }
}
