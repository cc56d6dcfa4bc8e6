// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Which look-ups wait, which run, and how many threads there should be: pure, an event and its time in, a decision
/// out.
///
/// Invariants: of one name one look-up runs at a time. Of the threads, no more than `limit` are free of a look-up that
/// is overdue, but for one that has just come back from such a one; and there are never more than `bound` in all.
struct NameLookupQueue {
  typealias Ticket = NameLookupPool.Ticket

  private struct Running {
    let ticket: Ticket
    let start: Int64
  }

  /// What is to be started by whoever holds the queue, outside its lock.
  struct Demand: Equatable {
    var workers = 0
    /// A thread that calls `relieve`.
    var usher = false
  }

  private let limit: Int
  private let bound: Int
  /// For how long a look-up counts, in nanoseconds.
  private let patience: Int64
  private var waiting: [Ticket] = []
  /// Those of names whose last look-up was overdue: they wait behind all others.
  private var waitingSlow: [Ticket] = []
  private var running: [Running] = []
  private(set) var threads = 0
  private var hasUsher = false
  /// Names whose last look-up was overdue, the latest last; as many as can hang at a time.
  private var slow: [Ticket.Question] = []

  init(limit: Int, bound: Int, patience: Int64) {
    self.limit = limit
    self.bound = bound
    self.patience = patience
  }

  // MARK: Events

  /// A look-up is asked for.
  mutating func add(_ ticket: Ticket, now: Int64) -> Demand {
    let predecessor = running.first { $0.ticket.question == ticket.question }
    if slow.contains(ticket.question) || predecessor.map({ isOverdue($0, now) }) ?? false {
      waitingSlow.append(ticket)
    } else {
      waiting.append(ticket)
    }
    // The thread that looks the name up now will do so once more.
    if predecessor != nil || threads == bound { return Demand() }
    if counted(now) < limit {
      threads += 1
      return Demand(workers: 1)
    }
    return Demand(usher: callUsher())
  }

  /// A look-up is not asked for any more.
  mutating func remove(_ ticket: Ticket) {
    waiting.removeAll { $0 === ticket }
    waitingSlow.removeAll { $0 === ticket }
  }

  /// A thread is free, from `done` where it is not a new one: what it looks up next, or that it ends, with `nil`.
  mutating func next(after done: Ticket?, now: Int64) -> (Ticket?, Demand) {
    if let done, let position = running.firstIndex(where: { $0.ticket === done }) {
      let ended = running.remove(at: position)
      slow.removeAll { $0 == done.question }
      if isOverdue(ended, now) {
        if slow.count == bound { slow.removeFirst() }
        slow.append(done.question)
      }
    }
    // One too many, where another has taken this one's place meanwhile.
    if counted(now) > limit {
      threads -= 1
      return (nil, Demand(usher: startable > 0 && callUsher()))
    }
    guard let ticket = take() else {
      threads -= 1
      return (nil, Demand())
    }
    running.append(Running(ticket: ticket, start: now))
    return (ticket, Demand())
  }

  /// A thread that was asked for could not be had.
  mutating func threadFailed() { threads -= 1 }

  /// The usher could not be had.
  mutating func usherFailed() { hasUsher = false }

  /// The usher looks: how many threads are to be started, and after how many nanoseconds it looks again; `nil` where it
  /// is not needed any more.
  mutating func relieve(now: Int64) -> (workers: Int, pause: Int64?) {
    let wanted = startable
    let workers = max(0, min(wanted, limit - counted(now), bound - threads))
    threads += workers
    if wanted <= workers || threads == bound {
      hasUsher = false
      return (workers, nil)
    }
    let next = running.filter { !isOverdue($0, now) }.map(\.start).min() ?? now
    return (workers, next.addingClamped(patience) - now)
  }

  // MARK: What counts

  private func isOverdue(_ running: Running, _ now: Int64) -> Bool { now >= running.start.addingClamped(patience) }

  /// The threads whose look-ups are not overdue; those that begin or end are among them.
  private func counted(_ now: Int64) -> Int { threads - running.count { isOverdue($0, now) } }

  private func isRunning(_ ticket: Ticket) -> Bool { running.contains { $0.ticket.question == ticket.question } }

  /// How many of those that wait need not wait for a look-up of the same name.
  private var startable: Int { (waiting + waitingSlow).count { !isRunning($0) } }

  private mutating func take() -> Ticket? {
    if let position = waiting.firstIndex(where: { !isRunning($0) }) { return waiting.remove(at: position) }
    if let position = waitingSlow.firstIndex(where: { !isRunning($0) }) { return waitingSlow.remove(at: position) }
    return nil
  }

  /// Whether there has to be one, and is none yet.
  private mutating func callUsher() -> Bool {
    if hasUsher || threads == bound { return false }
    hasUsher = true
    return true
  }
}
