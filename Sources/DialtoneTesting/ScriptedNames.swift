// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
internal import Dispatch

/// What a scripted network answers when a name is looked up.
public enum ScriptedNames: Sendable {
  /// The name's addresses, in this order.
  case addresses([IPAddress])
  /// The name does not exist.
  case nonexistent
  /// It cannot be looked up, for now.
  case failing
  /// The lookup hangs until the network is given another answer for the name.
  case hanging

  /// What a lookup of one family comes to, or of both; `nil` if it hangs.
  func result(_ family: IPAddress.Family?) -> NameLookupResult? {
    switch self {
    case .addresses(let addresses):
      let wanted = addresses.filter { family == nil || $0.family == family }
      return wanted.isEmpty ? .noAddress : .addresses(wanted)
    case .nonexistent: return .noAddress
    case .failing: return .failed
    case .hanging: return nil
    }
  }
}

/// Lets hanging lookups wait until the script has another answer. They run on threads that may block.
final class NameGate: Sendable {
  /// Closes the gate when it is released.
  final class Closer: Sendable {
    private let gate: NameGate
    init(_ gate: NameGate) { self.gate = gate }
    deinit { gate.close() }
  }

  private struct State {
    var isClosed = false
    /// What lookups wait on, one each.
    var changes: [DispatchSemaphore] = []
  }

  private let state = Lock(State())

  /// Has waiting lookups look at the script again.
  func open() {
    let changes = state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
    for change in changes { change.signal() }
  }

  /// Makes all hanging lookups fail, those that wait and those to come.
  func close() {
    state.withLock { $0.isClosed = true }
    open()
  }

  /// Returns the script's answer, as soon as that is not `hanging`.
  func lookUp(_ family: IPAddress.Family?, answer: () -> ScriptedNames?) -> NameLookupResult {
    func result() -> NameLookupResult? { (answer() ?? .nonexistent).result(family) }
    if let result = result() { return result }
    while true {
      let change = DispatchSemaphore(value: 0)
      let isClosed = state.withLock { state in
        state.changes.append(change)
        return state.isClosed
      }
      // Once more: the answer may have come in between.
      if let result = result() { return result }
      if isClosed { return .failed }
      change.wait()
    }
  }
}
