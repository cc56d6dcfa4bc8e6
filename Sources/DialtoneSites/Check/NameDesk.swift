// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Look-ups of names, one at a time for each name: who asks while one is under way gets its answer.
final class NameDesk: Sendable {
  fileprivate struct Key: Hashable {
    let name: String
    let family: IPAddress.Family?
  }

  private struct Lookup {
    var serial: UInt64
    var ticket: NameLookupPool.Ticket?
    var waiters: [UInt64: @Sendable (NameLookupResult) -> Void] = [:]
  }

  private struct State {
    var lookups: [Key: Lookup] = [:]
    var lastNumber: UInt64 = 0

    mutating func number() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let slot: EngineSlot
  private let state = Lock(State())

  init(_ slot: EngineSlot) { self.slot = slot }

  /// Ends one asker's interest.
  struct Inquiry: Sendable {
    fileprivate let desk: NameDesk
    fileprivate let key: Key
    fileprivate let number: UInt64

    func cancel() { desk.cancel(self) }
  }

  /// Looks `name` up, and calls `answer` on a thread of the pool, unless the inquiry is cancelled before.
  func ask(
    _ name: String, _ family: IPAddress.Family?, _ answer: @escaping @Sendable (NameLookupResult) -> Void
  ) -> Inquiry {
    let key = Key(name: name, family: family)
    let (number, serial) = state.withLock { state -> (UInt64, UInt64?) in
      let number = state.number()
      let isNew = state.lookups[key] == nil
      state.lookups[key, default: Lookup(serial: number)].waiters[number] = answer
      return (number, isNew ? number : nil)
    }
    if let serial {
      let ticket = slot.names.submit(name, family, by: slot.lookup) { [weak self] in self?.end(key, serial, $0) }
      let isWanted = state.withLock { state in
        guard state.lookups[key]?.serial == serial else { return false }
        state.lookups[key]?.ticket = ticket
        return true
      }
      // Answered already, or nobody wants to know any more.
      if !isWanted { slot.names.cancel(ticket) }
    }
    return Inquiry(desk: self, key: key, number: number)
  }

  private func end(_ key: Key, _ serial: UInt64, _ result: NameLookupResult) {
    let lookup = state.withLock { state -> Lookup? in
      guard state.lookups[key]?.serial == serial else { return nil }
      return state.lookups.removeValue(forKey: key)
    }
    lookup?.waiters.values.forEach { $0(result) }
  }

  private func cancel(_ inquiry: Inquiry) {
    let abandoned = state.withLock { state -> Lookup? in
      let waiter = state.lookups[inquiry.key]?.waiters.removeValue(forKey: inquiry.number)
      guard waiter != nil, state.lookups[inquiry.key]?.waiters.isEmpty ?? false else { return nil }
      return state.lookups.removeValue(forKey: inquiry.key)
    }
    if let ticket = abandoned?.ticket { slot.names.cancel(ticket) }
  }
}
