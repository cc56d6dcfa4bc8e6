// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Decides which lookups wait, which run, and how many threads there should be. Pure: an event and its time in, a
/// decision out.
///
/// Invariants:
/// - Only one lookup of a name runs at a time.
/// - At most `limit` threads have no overdue lookup, except for one more that has just ended such a lookup.
/// - There are never more than `bound` threads in all.
struct NameLookupQueue {
  typealias Ticket = NameLookupPool.Ticket

  private struct Running {
    let ticket: Ticket
    let start: Int64
  }

  /// The threads that the owner of the queue has to start, outside its lock.
  struct Demand: Equatable {
    var workers = 0
    /// A thread that calls `relieve`.
    var supervisor = false
  }

  private let limit: Int
  let bound: Int
  /// How long a lookup counts against the limit, in nanoseconds.
  private let overdueAfter: Int64
  private(set) var waiting: [Ticket] = []
  /// The tickets of names whose last lookup was overdue: they wait behind all others.
  private var waitingSlow: [Ticket] = []
  private var running: [Running] = []
  private(set) var threads = 0
  private var hasSupervisor = false
  /// The names whose last lookup was overdue, the latest last; at most as many as can hang at a time.
  private var slow: [NameQuestion] = []

  init(limit: Int, bound: Int, overdueAfter: Int64) {
    self.limit = limit
    self.bound = bound
    self.overdueAfter = overdueAfter
  }

  // MARK: Events

  mutating func add(_ ticket: Ticket, now: Int64) -> Demand {
    let predecessor = running.first { $0.ticket.question == ticket.question }
    if slow.contains(ticket.question) || predecessor.map({ isOverdue($0, now) }) ?? false {
      waitingSlow.append(ticket)
    } else {
      waiting.append(ticket)
    }
    // The thread that looks up the name now will do so once more.
    if predecessor != nil || threads == bound { return Demand() }
    if counted(now) < limit {
      threads += 1
      return Demand(workers: 1)
    }
    return Demand(supervisor: callSupervisor())
  }

  mutating func remove(_ ticket: Ticket) {
    waiting.removeAll { $0 === ticket }
    waitingSlow.removeAll { $0 === ticket }
  }

  /// A thread is free; `done` is its last ticket, or `nil` for a new thread. Returns what it looks up next, or `nil` if
  /// it has to end.
  mutating func next(after done: Ticket?, now: Int64) -> (Ticket?, Demand) {
    if let done, let position = running.firstIndex(where: { $0.ticket === done }) {
      let ended = running.remove(at: position)
      slow.removeAll { $0 == done.question }
      if isOverdue(ended, now) {
        if slow.count == bound { slow.removeFirst() }
        slow.append(done.question)
      }
    }
    // If another thread has taken this one's place meanwhile, there is one too many.
    if counted(now) > limit {
      threads -= 1
      return (nil, Demand(supervisor: startable > 0 && callSupervisor()))
    }
    guard let ticket = take() else {
      threads -= 1
      return (nil, Demand())
    }
    running.append(Running(ticket: ticket, start: now))
    return (ticket, Demand())
  }

  mutating func threadFailed() { threads -= 1 }

  mutating func supervisorFailed() { hasSupervisor = false }

  /// The supervisor looks. Returns how many threads to start, and after how many nanoseconds it looks again, or `nil`
  /// if it is not needed any more.
  mutating func relieve(now: Int64) -> (workers: Int, pause: Int64?) {
    let wanted = startable
    let workers = max(0, min(wanted, limit - counted(now), bound - threads))
    threads += workers
    if wanted <= workers || threads == bound {
      hasSupervisor = false
      return (workers, nil)
    }
    let next = running.filter { !isOverdue($0, now) }.map(\.start).min() ?? now
    return (workers, next.addingClamped(overdueAfter) - now)
  }

  // MARK: What counts

  private func isOverdue(_ running: Running, _ now: Int64) -> Bool { now >= running.start.addingClamped(overdueAfter) }

  /// Returns how many threads have no overdue lookup, including threads that begin or end.
  private func counted(_ now: Int64) -> Int { threads - running.count { isOverdue($0, now) } }

  private func isRunning(_ ticket: Ticket) -> Bool { running.contains { $0.ticket.question == ticket.question } }

  /// How many waiting tickets need not wait for a lookup of the same name.
  private var startable: Int { (waiting + waitingSlow).count { !isRunning($0) } }

  private mutating func take() -> Ticket? {
    if let position = waiting.firstIndex(where: { !isRunning($0) }) { return waiting.remove(at: position) }
    if let position = waitingSlow.firstIndex(where: { !isRunning($0) }) { return waitingSlow.remove(at: position) }
    return nil
  }

  /// Notes that a supervisor is needed. Returns whether it has to be started.
  private mutating func callSupervisor() -> Bool {
    if hasSupervisor || threads == bound { return false }
    hasSupervisor = true
    return true
  }
}
