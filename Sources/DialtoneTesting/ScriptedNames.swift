// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
public import Dialtone
internal import Synchronization

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

/// Lets hanging lookups wait until the script has another answer.
///
/// It is a condition variable, since lookups run on threads that may block. The pointers are made in init, freed in
/// deinit, and never changed in between. A waiting thread holds this object.
@safe final class NameGate: Sendable {
  /// Closes the gate when it is released.
  final class Closer: Sendable {
    private let gate: NameGate
    init(_ gate: NameGate) { self.gate = gate }
    deinit { gate.close() }
  }

  private let isClosed = Atomic<Bool>(false)
  // Both are safe to share: allocated in init, freed in deinit, never changed in between, and POSIX lets any thread use
  // what they point to.
  private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Has waiting lookups look at the script again.
  func open() {
    unsafe pthread_mutex_lock(mutex)
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Makes all hanging lookups fail, those that wait and those to come.
  func close() {
    isClosed.store(true, ordering: .releasing)
    open()
  }

  /// Returns the script's answer, as soon as that is not `hanging`.
  func lookUp(
    _ name: String, _ family: IPAddress.Family?, answer: () -> ScriptedNames?
  ) -> NameLookupResult {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = (answer() ?? .nonexistent).result(family) { return result }
      if isClosed.load(ordering: .acquiring) { return .failed }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }
}
