// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// The threads that look up names, at most eight in a process: getaddrinfo(3) can hang for as long as it likes and cannot
/// be stopped.
///
/// Invariants: a thread exists only while it looks something up; the pool keeps nothing of who asked but the closure, which it
/// releases when the ticket is cancelled or the answer is there. A ticket that is cancelled before its turn costs no thread.
package final class NameLookupPool: Sendable {
  package static let shared = NameLookupPool(threads: 8)

  /// A look-up that was asked for.
  package final class Ticket: Sendable {
    fileprivate let name: String
    fileprivate let family: IPAddress.Family?
    fileprivate let lookup: NameLookup
    fileprivate let answer: Lock<(@Sendable (NameLookupResult) -> Void)?>

    fileprivate init(
      _ name: String, _ family: IPAddress.Family?, _ lookup: @escaping NameLookup,
      _ answer: @escaping @Sendable (NameLookupResult) -> Void
    ) {
      self.name = name
      self.family = family
      self.lookup = lookup
      self.answer = Lock(answer)
    }

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
    var threads = 0
  }

  private let limit: Int
  private let state = Lock(State())

  package init(threads limit: Int) { self.limit = limit }

  /// Looks `name` up as soon as a thread is free, and calls `answer` on it.
  package func submit(
    _ name: String, _ family: IPAddress.Family?, by lookup: @escaping NameLookup,
    answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Ticket {
    let ticket = Ticket(name, family, lookup, answer)
    let needsThread = state.withLock { state in
      state.waiting.append(ticket)
      if state.threads == limit { return false }
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
    while true {
      let ticket = state.withLock { state -> Ticket? in
        if state.waiting.isEmpty {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let ticket else { return }
      if ticket.isCancelled { continue }
      let result = ticket.lookup(ticket.name, ticket.family)
      ticket.takeAnswer()?(result)
    }
  }
}
