// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// Threads that look up names, a limited number: monitors of a process share eight, checks of sites have some of their own.
/// getaddrinfo(3) can hang for as long as it likes and cannot be stopped.
///
/// Invariants: a thread exists only while it looks something up; the pool keeps nothing of who asked but the closure, which it
/// releases when the ticket is cancelled or the answer is there. A ticket that is cancelled before its turn costs no thread. Of
/// one name one look-up runs at a time: one that nobody waits for any more, but that hangs, keeps the next from hanging too.
package final class NameLookupPool: Sendable {
  package static let shared = NameLookupPool(threads: 8)

  /// A look-up that was asked for.
  package final class Ticket: Sendable {
    private let pool: NameLookupPool
    fileprivate let name: String
    fileprivate let family: IPAddress.Family?
    fileprivate let lookup: NameLookup
    fileprivate let answer: Lock<(@Sendable (NameLookupResult) -> Void)?>

    fileprivate init(
      _ pool: NameLookupPool, _ name: String, _ family: IPAddress.Family?, _ lookup: @escaping NameLookup,
      _ answer: @escaping @Sendable (NameLookupResult) -> Void
    ) {
      self.pool = pool
      self.name = name
      self.family = family
      self.lookup = lookup
      self.answer = Lock(answer)
    }

    /// Forgets the look-up: its answer is not called any more, unless a thread is already calling it.
    func cancel() { pool.cancel(self) }

    fileprivate func asksTheSame(as other: Ticket) -> Bool { name == other.name && family == other.family }

    fileprivate var isCancelled: Bool { answer.withLock { $0 == nil } }

    fileprivate func takeAnswer() -> (@Sendable (NameLookupResult) -> Void)? {
      answer.withLock { answer in
        defer { answer = nil }
        return answer
      }
    }
  }

  private struct State {
    var waiting: [Ticket] = []
    /// At most one a name.
    var running: [Ticket] = []
    var threads = 0

    func isRunning(_ ticket: Ticket) -> Bool { running.contains { $0.asksTheSame(as: ticket) } }
  }

  private let limit: Int
  private let state = Lock(State())

  package init(threads limit: Int) { self.limit = limit }

  /// Looks `name` up as soon as a thread is free, and calls `answer` on it.
  package func submit(
    _ name: String, _ family: IPAddress.Family?, by lookup: @escaping NameLookup,
    answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Ticket {
    let ticket = Ticket(self, name, family, lookup, answer)
    let needsThread = state.withLock { state in
      state.waiting.append(ticket)
      // The thread that looks the name up now will do so once more.
      if state.threads == limit || state.isRunning(ticket) { return false }
      state.threads += 1
      return true
    }
    if needsThread, !Thread.start(named: "dialtone-names", { self.work() }) {
      // No thread to be had; those that exist go on with what waits. If there is none, the look-up has failed.
      let isAlone = state.withLock { state in
        state.threads -= 1
        return state.threads == 0
      }
      if isAlone {
        cancel(ticket, thenAnswer: .failed)
      }
    }
    return ticket
  }

  /// Forgets the look-up: its answer is not called any more, unless a thread is already calling it.
  package func cancel(_ ticket: Ticket) { cancel(ticket, thenAnswer: nil) }

  private func cancel(_ ticket: Ticket, thenAnswer result: NameLookupResult?) {
    let answer = ticket.takeAnswer()
    state.withLock { $0.waiting.removeAll { $0 === ticket } }
    if let result { answer?(result) }
  }

  private func work() {
    cnetlink_use_utf8()
    var done: Ticket?
    while true {
      let next = state.withLock { state -> Ticket? in
        if let done { state.running.removeAll { $0 === done } }
        guard let position = state.waiting.firstIndex(where: { !state.isRunning($0) }) else {
          state.threads -= 1
          return nil
        }
        let next = state.waiting.remove(at: position)
        state.running.append(next)
        return next
      }
      guard let next else { return }
      done = next
      if next.isCancelled { continue }
      let result = next.lookup(next.name, next.family)
      next.takeAnswer()?(result)
    }
  }
}
