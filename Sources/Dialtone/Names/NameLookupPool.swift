// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// A limited number of threads that look up names. The monitors of a process share eight; checks of sites have threads
/// of their own. getaddrinfo(3) can hang for any time, and cannot be stopped.
///
/// Invariants:
/// - A thread exists only while it looks something up. The one exception, the supervisor, exists only while a lookup
///   waits for others to become overdue.
/// - The pool keeps a closure of each question and nothing else. It releases the closure when the ticket is cancelled
///   or the answer is there.
/// - A ticket that is cancelled before its turn costs no thread.
/// - Only one lookup of a name runs at a time. If it hangs, the next one waits instead of hanging, too.
package final class NameLookupPool: Sendable {
  package static let shared = NameLookupPool(threads: 8)

  /// Saves address space if there are many threads: most systems give 8 MiB each. Resolvers and their modules need far
  /// less.
  private static let stackSize = 1 << 20

  package final class Ticket: Sendable {
    private let pool: NameLookupPool
    let question: NameQuestion
    fileprivate let lookup: NameLookup
    fileprivate let answer: Lock<(@Sendable (NameLookupResult) -> Void)?>

    init(
      _ pool: NameLookupPool, _ question: NameQuestion, _ lookup: @escaping NameLookup,
      _ answer: @escaping @Sendable (NameLookupResult) -> Void
    ) {
      self.pool = pool
      self.question = question
      self.lookup = lookup
      self.answer = Lock(answer)
    }

    /// Forgets the lookup. Its answer is not called any more, unless a thread is already calling it.
    package func cancel() { pool.cancel(self, thenAnswer: nil) }

    fileprivate var isCancelled: Bool { answer.withLock { $0 == nil } }
  }

  /// The queue, and the process that its threads belong to.
  private struct State {
    var queue: NameLookupQueue
    var forkCount = ForkCount.current
  }

  private let time: TimeSource
  private let empty: NameLookupQueue
  private let queue: Lock<State>

  /// - Parameters:
  ///   - limit: How many names are looked up at a time. With zero there are no threads: a lookup is asked on the
  ///     caller's, and again by ``askAgain()`` while it hangs.
  ///   - overdueAfter: When a lookup is overdue, and does not count against the limit any more; `nil` for never.
  ///   - bound: How many threads there may be in all, including those of overdue lookups; no less than the limit.
  ///   - time: The clock by which a lookup becomes overdue.
  package init(
    threads limit: Int, overdueAfter: Duration? = nil, atMost bound: Int? = nil, time: TimeSource = .system
  ) {
    self.time = time
    empty = NameLookupQueue(
      limit: limit, bound: max(limit, bound ?? limit), overdueAfter: overdueAfter?.nanosecondsClamped ?? .max)
    queue = Lock(State(queue: empty))
  }

  /// Looks the name up as soon as a thread is free, and calls `answer` on it. Names whose last lookup was overdue wait
  /// behind others.
  package func submit(
    _ question: NameQuestion, by lookup: @escaping NameLookup, answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Ticket {
    let ticket = Ticket(self, question, lookup, answer)
    let demand = queue.withLock { state in
      // The threads, and the tickets that waited for them, belong to the parent.
      if state.forkCount != ForkCount.current { state = State(queue: empty) }
      return state.queue.add(ticket, now: time.now())
    }
    // The system gave no thread. If others exist, they go on with what waits; if there is none, the lookup has failed.
    if !start(demand), queue.withLock({ $0.queue.threads == 0 }) {
      // As pthread_create(3) says it.
      cancel(ticket, thenAnswer: .exhausted(errno: EAGAIN))
    }
    if empty.bound == 0 { ask(ticket) }
    return ticket
  }

  /// Without threads, has each lookup that hangs look for its result once more, and answers it on this thread.
  package func askAgain() { for ticket in queue.withLock({ $0.queue.waiting }) { ask(ticket) } }

  private func ask(_ ticket: Ticket) {
    guard let result = ticket.lookup(ticket.question.name, ticket.question.family) else { return }
    cancel(ticket, thenAnswer: result)
  }

  private func cancel(_ ticket: Ticket, thenAnswer result: NameLookupResult?) {
    let answer = ticket.answer.exchange(nil)
    queue.withLock { $0.queue.remove(ticket) }
    if let result { answer?(result) }
  }

  // MARK: Threads

  /// Returns whether the system gave all threads.
  private func start(_ demand: NameLookupQueue.Demand) -> Bool {
    var isDone = true
    for _ in 0..<demand.workers {
      if Thread.start(named: "dialtone-names", stackSize: Self.stackSize, { self.work() }) { continue }
      queue.withLock { $0.queue.threadFailed() }
      isDone = false
    }
    if demand.supervisor, !Thread.start(named: "dialtone-names", stackSize: Self.stackSize, { self.supervise() }) {
      queue.withLock { $0.queue.supervisorFailed() }
      isDone = false
    }
    return isDone
  }

  private func work() {
    var done: Ticket?
    while true {
      let (next, demand) = queue.withLock { [done] state in state.queue.next(after: done, now: time.now())
      }
      // Without a supervisor, waiting tickets wait until another thread is free.
      _ = start(demand)
      guard let next else { return }
      done = next
      if !next.isCancelled { ask(next) }
    }
  }

  /// The supervisor: starts a thread for each lookup that becomes overdue, as long as others wait.
  private func supervise() {
    while true {
      let (workers, pause) = queue.withLock { $0.queue.relieve(now: time.now()) }
      _ = start(NameLookupQueue.Demand(workers: workers))
      guard let pause else { return }
      var rest = timespec()
      rest.tv_sec = Int(pause / 1_000_000_000)
      rest.tv_nsec = Int(pause % 1_000_000_000)
      // Even if it is interrupted, the queue says what is left. The call keeps no pointer.
      _ = ForkGate.atRest { unsafe nanosleep(&rest, nil) }
    }
  }
}
