// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// Threads that look up names, a limited number: monitors of a process share eight, checks of sites have some of their
/// own. getaddrinfo(3) can hang for as long as it likes and cannot be stopped.
///
/// Invariants: a thread exists only while it looks something up, but for one, the usher, which exists only while a
/// look-up waits for others to become overdue; the pool keeps nothing of who asked but the closure, which it releases
/// when the ticket is cancelled or the answer is there. A ticket that is cancelled before its turn costs no thread. Of
/// one name one look-up runs at a time: one that nobody waits for any more, but that hangs, keeps the next from hanging
/// too.
package final class NameLookupPool: Sendable {
  package static let shared = NameLookupPool(threads: 8)

  /// Of address space, where threads are many: 8 MiB each is what most systems give. Resolvers and their modules get by
  /// with far less.
  private static let stackSize = 1 << 20

  /// A look-up that was asked for.
  package final class Ticket: Sendable {
    /// What two look-ups have in common that ask the same.
    struct Question: Hashable {
      let name: String
      let family: IPAddress.Family?
    }

    private let pool: NameLookupPool
    let question: Question
    fileprivate let lookup: NameLookup
    fileprivate let answer: Lock<(@Sendable (NameLookupResult) -> Void)?>

    init(
      _ pool: NameLookupPool, _ question: Question, _ lookup: @escaping NameLookup,
      _ answer: @escaping @Sendable (NameLookupResult) -> Void
    ) {
      self.pool = pool
      self.question = question
      self.lookup = lookup
      self.answer = Lock(answer)
    }

    /// Forgets the look-up: its answer is not called any more, unless a thread is already calling it.
    func cancel() { pool.cancel(self) }

    fileprivate var isCancelled: Bool { answer.withLock { $0 == nil } }

    fileprivate func takeAnswer() -> (@Sendable (NameLookupResult) -> Void)? {
      answer.withLock { answer in
        defer { answer = nil }
        return answer
      }
    }
  }

  /// The queue, and the process that its threads are of.
  private struct State {
    var queue: NameLookupQueue
    var forkCount = ForkCount.current
  }

  private let time: TimeSource
  private let empty: NameLookupQueue
  private let queue: Lock<State>

  /// - Parameters:
  ///   - limit: How many names are looked up at a time.
  ///   - patience: After how long a look-up is overdue, and does not count against the limit any more; `nil` for never.
  ///   - bound: How many threads there may be in all, those of overdue look-ups included; no less than the limit.
  ///   - time: By which a look-up becomes overdue.
  package init(
    threads limit: Int, patience: Duration? = nil, atMost bound: Int? = nil, time: TimeSource = .system
  ) {
    self.time = time
    empty = NameLookupQueue(
      limit: limit, bound: max(limit, bound ?? limit), patience: patience?.nanosecondsClamped ?? .max)
    queue = Lock(State(queue: empty))
  }

  /// Looks `name` up as soon as a thread is free, and calls `answer` on it. Names whose last look-up was overdue wait
  /// behind others.
  package func submit(
    _ name: String, _ family: IPAddress.Family?, by lookup: @escaping NameLookup,
    answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Ticket {
    let ticket = Ticket(self, Ticket.Question(name: name, family: family), lookup, answer)
    let demand = queue.withLock { state in
      // The threads, and who waited for them, are the parent's.
      if state.forkCount != ForkCount.current { state = State(queue: empty) }
      return state.queue.add(ticket, now: time.now())
    }
    // No thread to be had; those that exist go on with what waits. If there is none, the look-up has failed.
    if !start(demand), queue.withLock({ $0.queue.threads == 0 }) { cancel(ticket, thenAnswer: .failed) }
    return ticket
  }

  /// Forgets the look-up: its answer is not called any more, unless a thread is already calling it.
  package func cancel(_ ticket: Ticket) { cancel(ticket, thenAnswer: nil) }

  private func cancel(_ ticket: Ticket, thenAnswer result: NameLookupResult?) {
    let answer = ticket.takeAnswer()
    queue.withLock { $0.queue.remove(ticket) }
    if let result { answer?(result) }
  }

  // MARK: Threads

  /// Answers whether all threads were to be had.
  private func start(_ demand: NameLookupQueue.Demand) -> Bool {
    var isDone = true
    for _ in 0..<demand.workers {
      if Thread.start(named: "dialtone-names", stackSize: Self.stackSize, { self.work() }) { continue }
      queue.withLock { $0.queue.threadFailed() }
      isDone = false
    }
    if demand.usher, !Thread.start(named: "dialtone-names", stackSize: Self.stackSize, { self.usher() }) {
      queue.withLock { $0.queue.usherFailed() }
      isDone = false
    }
    return isDone
  }

  private func work() {
    var done: Ticket?
    while true {
      let (next, demand) = queue.withLock { [done] state in state.queue.next(after: done, now: time.now())
      }
      // Without an usher those that wait do so until another thread is free.
      _ = start(demand)
      guard let next else { return }
      done = next
      if next.isCancelled { continue }
      let result = next.lookup(next.question.name, next.question.family)
      next.takeAnswer()?(result)
    }
  }

  /// Starts a thread for each look-up that becomes overdue, for as long as others wait.
  private func usher() {
    while true {
      let (workers, pause) = queue.withLock { $0.queue.relieve(now: time.now()) }
      _ = start(NameLookupQueue.Demand(workers: workers))
      guard let pause else { return }
      var rest = timespec()
      rest.tv_sec = Int(pause / 1_000_000_000)
      rest.tv_nsec = Int(pause % 1_000_000_000)
      // Interrupted or not, the queue says what is left. The call keeps no pointer.
      _ = unsafe nanosleep(&rest, nil)
    }
  }
}
