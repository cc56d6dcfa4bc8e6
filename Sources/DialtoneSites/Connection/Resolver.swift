// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Looks names up, each one once at a time: a question that comes during a lookup gets its answer.
final class Resolver: Sendable {
  private struct Lookup {
    var serial: UInt64
    var ticket: NameLookupPool.Ticket?
    /// The servers that are asked; `nil` until a thread asks them.
    var nameServers: [IPAddress]?
    var waiters: [UInt64: Waiter] = [:]
  }

  private struct Waiter {
    let begun: @Sendable ([IPAddress]) -> Void
    let answer: @Sendable (NameLookupResult) -> Void
  }

  fileprivate struct Question: Hashable {
    let question: NameQuestion
    let isOneOfTwo: Bool
  }

  private struct State {
    var lookups: [Question: Lookup] = [:]
    var lastNumber: UInt64 = 0
  }

  private let lookup: NameLookup
  private let nameServers: @Sendable () -> [IPAddress]
  private let pool: NameLookupPool
  private let state = Lock(State())

  /// Looks names up as `provider` does, on the threads of `pool`.
  init(_ provider: EngineProvider, _ pool: NameLookupPool) {
    lookup = provider.lookup
    nameServers = provider.nameServers
    self.pool = pool
  }

  struct Inquiry: Sendable {
    fileprivate let resolver: Resolver
    fileprivate let question: Question
    fileprivate let number: UInt64

    func cancel() { resolver.cancel(self) }
  }

  /// Looks `name` up. Unless the inquiry is cancelled before, it calls `begun` as soon as a thread looks the name up,
  /// with the name servers as far as they are known. Then it calls `answer`. Both are called on any thread.
  ///
  /// `isOneOfTwo`: whether the other family is asked for, too. Then the answer is a part of what programs get that ask
  /// for both at once: if hosts(5) has one family of the name, they do not ask name servers for the other.
  func ask(
    _ name: String, _ family: IPAddress.Family?, isOneOfTwo: Bool = false,
    begun: @escaping @Sendable ([IPAddress]) -> Void, _ answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Inquiry {
    let question = Question(question: NameQuestion(name: name, family: family), isOneOfTwo: isOneOfTwo)
    let (number, serial, servers) = state.withLock { state -> (UInt64, UInt64?, [IPAddress]?) in
      state.lastNumber += 1
      let number = state.lastNumber
      let isNew = state.lookups[question] == nil
      var lookup = state.lookups[question] ?? Lookup(serial: number)
      lookup.waiters[number] = Waiter(begun: begun, answer: answer)
      state.lookups[question] = lookup
      return (number, isNew ? number : nil, lookup.nameServers)
    }
    if let servers { begun(servers) }
    if let serial {
      let ticket = pool.submit(
        question.question,
        by: { [weak self, lookup, nameServers] name, family in
          // Read here, on the lookup's own thread: reading files may take any time.
          self?.begin(question, serial, nameServers())
          guard isOneOfTwo, HostsFile().has(name) else { return lookup(name, family) }
          return lookup(name, nil)?.only(family)
        }, answer: { [weak self] in self?.end(question, serial, $0) })
      let isWanted = state.withLock { state in
        guard state.lookups[question]?.serial == serial else { return false }
        state.lookups[question]?.ticket = ticket
        return true
      }
      // Answered already, or no longer wanted.
      if !isWanted { ticket.cancel() }
    }
    return Inquiry(resolver: self, question: question, number: number)
  }

  private func begin(_ question: Question, _ serial: UInt64, _ servers: [IPAddress]) {
    let lookup = state.withLock { state -> Lookup? in
      guard state.lookups[question]?.serial == serial else { return nil }
      state.lookups[question]?.nameServers = servers
      return state.lookups[question]
    }
    lookup?.waiters.values.forEach { $0.begun(servers) }
  }

  private func end(_ question: Question, _ serial: UInt64, _ result: NameLookupResult) {
    let lookup = state.withLock { state -> Lookup? in
      guard state.lookups[question]?.serial == serial else { return nil }
      return state.lookups.removeValue(forKey: question)
    }
    lookup?.waiters.values.forEach { $0.answer(result) }
  }

  private func cancel(_ inquiry: Inquiry) {
    let abandoned = state.withLock { state -> Lookup? in
      let waiter = state.lookups[inquiry.question]?.waiters.removeValue(forKey: inquiry.number)
      guard waiter != nil, state.lookups[inquiry.question]?.waiters.isEmpty ?? false else { return nil }
      return state.lookups.removeValue(forKey: inquiry.question)
    }
    abandoned?.ticket?.cancel()
  }
}

extension NameLookupResult {
  /// What it says of one family.
  fileprivate func only(_ family: IPAddress.Family?) -> NameLookupResult {
    guard case .addresses(let all) = self else { return self }
    let addresses = all.filter { $0.unmapped.family == family }
    return addresses.isEmpty ? .noAddress : .addresses(addresses)
  }
}
