// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is known of a name.
enum NameOutcome: Equatable {
  /// There is no answer yet.
  case pending
  /// There has been no answer for so long that the state of the path is told meanwhile.
  case overdue
  /// Its addresses; never empty.
  case addresses([IPAddress])
  /// The name has no address. This is a definite answer.
  case noAddress
  /// It could not be looked up, for now.
  case failed
}

/// What is known of a name, when it is looked up again, and its users, of which this type knows nothing.
final class NameRecord<User: AnyObject> {
  let question: NameQuestion
  private(set) var outcome = NameOutcome.pending
  var users: [User] = []

  /// The lookup that is under way.
  private(set) var lookup: NameLookupPool.Ticket?
  /// The number of that lookup. An answer with another number comes too late.
  private(set) var serial: UInt64 = 0
  /// Whether something changed since it began, so that the name has to be looked up once more.
  var isStale = false
  /// When the last lookup began.
  private(set) var lastStart: Int64?
  /// When the last lookup ended.
  private(set) var lastEnd: Int64?
  /// The time of the next lookup, unless something causes one before.
  var refresh: Int64?
  private var failures = 0

  /// The least time between the beginnings of two lookups of a name, whatever happens on the network.
  static var minimumSpacing: Int64 { 1_000_000_000 }
  /// How long an answer is used before the name is looked up again.
  static var lifetime: Int64 { 300_000_000_000 }
  /// How long the first answer may take before receivers are told that it is not known.
  static var patience: Int64 { 1_000_000_000 }

  init(_ question: NameQuestion) { self.question = question }

  /// The name's addresses; empty if it has none, or if they are not known.
  var addresses: [IPAddress] { if case .addresses(let found) = outcome { found } else { [] } }

  func begin(_ ticket: NameLookupPool.Ticket, serial: UInt64, at now: Int64) {
    lookup = ticket
    self.serial = serial
    lastStart = now
    isStale = false
    refresh = nil
  }

  /// Cancels the lookup, since the name has no users any more.
  func abandon() {
    lookup?.cancel()
    lookup = nil
  }

  /// Takes in an answer. Returns whether anything changed.
  func finish(_ result: NameLookupResult, at now: Int64) -> Bool {
    let old = outcome
    lookup = nil
    lastEnd = now
    switch result {
    case .addresses(let addresses):
      // Filters of advertising answer with unspecified addresses, which are no destinations (RFC 1122, 3.2.1.3;
      // RFC 4291, 2.5.2).
      let destinations = addresses.filter { !$0.unmapped.isUnspecified }
      outcome = destinations.isEmpty ? .noAddress : .addresses(destinations)
      failures = 0
    case .noAddress:
      outcome = .noAddress
      failures = 0
    case .failed, .exhausted:
      // Earlier addresses stay in use.
      if case .addresses = outcome {} else { outcome = .failed }
      failures += 1
    }
    // After failures: 2 s, 4 s, 8 s, … and at most the lifetime of an answer.
    let delay = failures == 0 ? Self.lifetime : min(Self.lifetime, 1_000_000_000 << Int64(min(failures, 30)))
    refresh = now.addingClamped(delay)
    return outcome != old
  }

  /// The first answer takes long. Returns whether that changes anything.
  func becomeOverdue() -> Bool {
    guard outcome == .pending else { return false }
    outcome = .overdue
    return true
  }
}
