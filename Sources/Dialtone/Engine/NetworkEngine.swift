// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// The engine that monitors hold: two threads that take turns, and what they have to do. It runs while a monitor holds
/// it, and ends when the last one releases it. Without a waiter it stands in for the threads (`+StandIn`).
///
/// Invariants:
/// - The thread that is woken does the whole turn, from the kernel's event to the last receiver. So one wake-up lies
///   between them.
/// - It runs handlers outside the engine's lock, and only if the other thread runs none (``DeliveryQueue``). So one
///   thread is always free to read events.
/// - The threads hold it only during a turn. Monitors are held by commands and records alone, which a monitor withdraws
///   when it goes.
/// - The engine's lock, that of ``Known``, is taken before that of ``Control``.
///
/// In a child of fork(2) the engine of the parent does nothing any more: its threads do not exist there, and may have
/// held its locks. Monitors get another one (``Watch``).
package final class NetworkEngine: Sendable {
  /// What is known, under the engine's lock. The threads hold it, too. So it ends on one of them: the end of a source
  /// may take a while.
  final class Known: Sendable {
    let opened = Lock<Opened?>(nil)
  }

  /// The state with its source. An object, since the type of an optional state would be made at run time.
  final class Opened {
    var state: EngineState

    init(_ state: EngineState) { self.state = state }

    deinit { state.removeAll() }
  }

  /// What the threads have to do, or what stands in for them.
  struct Control {
    /// What the threads sleep on; `nil` while there are none.
    var waiter: (any EventWaiter)?
    /// For the next turn.
    var commands = Few<EngineCommand>()
    /// What is noted while there is no waiter.
    var standIn = StandIn()

    var hasAnswer: Bool { commands.contains { if case .lookupEnded = $0 { true } else { false } } }
  }

  let provider: EngineProvider
  /// Shared by all threads of the engine, so that handlers run one at a time, whichever thread calls them.
  let deliveries = DeliveryQueue()
  /// Wakes the thread that stands in.
  let wakeup = DispatchSemaphore(value: 0)
  let control = Lock(Control())
  let known = Known()
  private let forkCount = ForkCount.current
  /// Where its threads and sockets are.
  let namespace = NetworkNamespace()

  package var time: TimeSource { provider.time }

  init(_ provider: EngineProvider) {
    self.provider = provider
    retry()
  }

  deinit {
    if isInherited { return abandon() }
    let ended = control.withLock { control in
      defer { control = Control() }
      return control
    }
    // If the waiter is lost, there is no thread to tell.
    ended.waiter?.wake()
    wakeup.signal()
    // Released outside the lock.
    withExtendedLifetime(ended) {}
  }

  /// Whether this object was made by the process that this one was forked from.
  var isInherited: Bool { forkCount != ForkCount.current }

  /// Gives up what the engine of the parent holds, in a child of fork(2).
  func abandon() {
    control.withLockIfAvailable { $0.waiter }??.abandon()
    // If a thread was in a turn at fork(2), the lock is held for good, and what the source has open stays open.
    _ = known.opened.withLockIfAvailable { $0 = nil }
  }

  // MARK: Commands

  /// Has the subject's states published, as states of its cell's present epoch. The caller must wake its receivers,
  /// outside all locks.
  func watch(_ subject: EngineSubject) { post(.watch(subject, subject.epoch)) }

  func unwatch(_ subject: EngineSubject) { post(.unwatch(subject)) }

  /// Has a thread of the engine perform the command, soon, or notes it for later. The caller may hold locks: no handler
  /// runs here, and nothing waits for the network.
  func post(_ command: EngineCommand) {
    guard let waiter = add(command), !waiter.wake() else { return }
    replace(waiter)
    _ = wakeThread()
  }

  /// Returns the waiter to wake, if it has not been woken for an earlier command.
  private func add(_ command: EngineCommand) -> (any EventWaiter)? {
    if isInherited { return nil }
    return control.withLock { control in
      guard let waiter = control.waiter else {
        note(command, &control)
        return nil
      }
      control.commands.append(command)
      return control.commands.count == 1 ? waiter : nil
    }
  }

  /// Has `wake` wake receivers, and their handlers called soon by a thread of the engine. If the system gives no
  /// thread, they are called before this returns, and so are others that found none. Call it outside all locks.
  package func deliver(_ wake: (DeliveryQueue) -> Void) {
    // In a forked child, a thread that does not exist there may hold the lock of the engine's queue.
    if isInherited { return wake(DeliveryQueue()) }
    wake(deliveries)
    if !deliveries.isEmpty, !wakeThread() { deliveries.deliver() }
  }

  /// Wakes a thread that runs what waits. Returns `false` if the system gives none.
  private func wakeThread() -> Bool {
    while true {
      let (waiter, isKept) = control.withLock { ($0.waiter, $0.waiter == nil && hasThread(&$0)) }
      guard let waiter else {
        if isKept { wakeup.signal() }
        return isKept
      }
      if waiter.wake() { return true }
      replace(waiter)
    }
  }

  /// Has a thread do a turn, since something has changed that it cannot see by itself. The caller holds no lock.
  private func wake(_ waiter: any EventWaiter) { if !waiter.wake() { deliver { _ in replace(waiter) } } }

  /// Has the engine look at the clock and at its source, which a test has changed. Without a waiter, has the thread
  /// that stands in try to get one.
  package func wake() {
    if isInherited { return }
    let waiter = control.withLock { control in
      if control.waiter == nil, control.standIn.hasThread { control.standIn.isTryDue = true } else { start(&control) }
      return control.waiter
    }
    if let waiter { wake(waiter) } else { wakeup.signal() }
  }

  // MARK: Questions

  /// Returns what is true of a target now. Waits for a turn that is under way, but never for the network.
  ///
  /// It is asked on the calling thread. In another network namespace, that thread opens nothing: if it has to, a thread
  /// of the engine asks.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    let state = answerHere(target, configuration)
    if isInherited || state.reason != .denied || namespace.isCurrent { return state }
    let answer = Lock(state)
    let isThere = DispatchSemaphore(value: 0)
    let timer = schedule(at: time.now()) {
      let state = self.answerHere(target, configuration)
      answer.withLock { $0 = state }
      isThere.signal()
    }
    // The threads may be lost meanwhile, and no others be given.
    if timer != nil { _ = isThere.wait(timeout: .now() + .seconds(1)) }
    timer?.cancel()
    return answer.withLock { $0 }
  }

  private func answerHere(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    if isInherited { return .denied(for: .denied) }
    let found = known.opened.withLock { opened -> (state: Reachability, woken: (any EventWaiter)?)? in
      guard let waiter = control.withLock({ $0.waiter }) else { return nil }
      if opened == nil, !namespace.isCurrent { return (.denied, nil) }
      let (answer, isTurnDue) = open(&opened, waiter).state.answer(target, configuration)
      return (answer, isTurnDue ? waiter : nil)
    }
    guard let found else { return .denied(for: control.withLock { $0.standIn.shortage }) }
    // The events read on the way may concern monitors, too.
    if let waiter = found.woken { wake(waiter) }
    return found.state
  }

  /// Returns the addresses of a name that monitors have looked up within the last second, or `nil` if none has. Waits
  /// for a turn that is under way.
  package func recentAddresses(of host: HostName, _ family: IPAddress.Family?) -> [IPAddress]? {
    if isInherited { return nil }
    return known.opened.withLock { $0?.state.recentAddresses(of: NameQuestion(name: host.ascii, family: family)) }
  }

  /// Returns once everything that the system has announced until now is read, and decided for all targets.
  package func settled() async {
    var next: Int64? = time.now()
    while let deadline = next {
      await withCheckedContinuation { continuation in
        // Timers that are due fire at the end of a turn. Without a thread there is nothing to wait for.
        let timer = schedule(at: deadline) { continuation.resume() }
        if timer == nil { continuation.resume() }
      }
      // The turn may have decided nothing, or begun lookups that a script has answered at once.
      if isInherited { return }
      next = known.opened.withLock { opened in
        control.withLock { $0.hasAnswer } ? deadline : opened?.state.nextDecision
      }
    }
  }

  // MARK: Timers

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before. Returns `nil`, and
  /// never calls `action`, if the system has no thread to keep the time.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer? {
    schedule(at: time.now().addingClamped(max(0, delay.nanosecondsClamped)), action)
  }

  private func schedule(at deadline: Int64, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer? {
    let timer = DeliveryTimer(at: deadline, action) { [weak self] in self?.post(.forgetTimer) }
    post(.schedule(timer))
    if isInherited || !isTimeKept() {
      timer.cancel()
      return nil
    }
    return timer
  }

  private func isTimeKept() -> Bool {
    let (hasWaiter, isKept) = control.withLock { ($0.waiter != nil, $0.waiter != nil || hasThread(&$0)) }
    // The thread that stands in has to see the new deadline.
    if !hasWaiter { wakeup.signal() }
    return isKept
  }

  // MARK: The threads

  /// Starts the threads. Returns `false` if the system has none to give. They do nothing before the caller lets go of
  /// its lock: one alone would stop reading while a handler blocks.
  func startThreads(_ waiter: any EventWaiter) -> Bool {
    for _ in 0..<2 {
      let isStarted = Thread.start(named: "dialtone") { [weak self, known, deliveries, forkCount] in
        while self?.turn(waiter) ?? false {
          // Last, since a handler may block: it must not hold up anything of the turn.
          deliveries.deliver()
          // If a handler has forked, its child is here, too: the events are the parent's.
          if forkCount == ForkCount.current, ForkGate.atRest({ waiter.wait() }) { continue }
          if let self { self.deliver { _ in self.replace(waiter) } }
          break
        }
        // Handlers may have been added just before. Each counts on being called, and nobody would call it again,
        // although its monitor may go on with another engine.
        deliveries.deliver()
        // The end of the engine woke one thread only: wake the other.
        waiter.wake()
        withExtendedLifetime(known) {}
      }
      if !isStarted { return false }
    }
    return true
  }

  /// Performs a turn. Returns `false` if the waiter is not the engine's any more.
  private func turn(_ waiter: any EventWaiter) -> Bool {
    let outcome = known.opened.withLock { opened -> EngineState.Outcome? in
      let isFirst = opened == nil
      // First, since the caller that starts the threads may hold the other lock for longer than this takes.
      let open = open(&opened, waiter)
      // Under the engine's lock. Otherwise two threads could perform commands in another order than the posted one.
      var commands = Few<EngineCommand>()
      let isOurs = control.withLock { control in
        if control.waiter !== waiter { return false }
        swap(&commands, &control.commands)
        return true
      }
      if !isOurs {
        if isFirst { opened = nil }
        return nil
      }
      defer { open.state.setDeadline(waiter) }
      return open.state.turn(commands)
    }
    guard let outcome else { return false }
    for cell in outcome.targets { cell.wakeReceivers(deliveries) }
    for cell in outcome.paths { cell.wakeReceivers(deliveries) }
    // Before any handler, since one may block: the other thread goes on with what is left.
    if outcome.isUnfinished { wake(waiter) }
    for timer in outcome.timers { timer.fire() }
    return true
  }

  /// Returns the state, and makes it if there is none: mostly on a thread of the engine, where nobody waits for the
  /// source.
  private func open(_ opened: inout Opened?, _ waiter: any EventWaiter) -> Opened {
    if let opened { return opened }
    let state = EngineState(provider.makeSource(waiter, time), time) { [weak self, provider] question, serial in
      let thread = Thread.current
      return provider.names.submit(question, by: provider.lookup) { [weak self] result in
        let command = EngineCommand.lookupEnded(question, serial: serial, result)
        if Thread.current == thread {
          // The lookup got no thread, and this turn still holds the engine's lock. If the waiter is lost, the thread
          // sees that when it waits.
          self?.add(command)?.wake()
        } else {
          self?.post(command)
        }
      }
    }
    let new = Opened(state)
    opened = new
    return new
  }
}
