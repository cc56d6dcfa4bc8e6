// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

enum NameOutcome: Equatable {
  case pending
  /// There has been no answer for so long that the state of the path is told meanwhile.
  case overdue
  /// Its addresses; never empty.
  case addresses([IPAddress])
  /// The name has no address. This is a definite answer.
  case noAddress
  /// It could not be looked up, for now.
  case failed
  /// The same, since the process or the system has run out of something.
  case exhausted(Reachability.Reason)

  /// Whether the lookup has failed, or takes long, and may succeed later.
  var isFailure: Bool {
    switch self {
    case .overdue, .failed, .exhausted: true
    case .pending, .addresses, .noAddress: false
    }
  }
}

/// What is known of a name, when it is looked up again, and its users, of which this type knows nothing.
final class NameRecord<User: AnyObject> {
  let question: NameQuestion
  private(set) var outcome = NameOutcome.pending
  var users = ObjectBag<User>()

  private(set) var lookup: NameLookupPool.Ticket?
  /// The number of that lookup. An answer with another number comes too late.
  private(set) var serial: UInt64 = 0
  /// Whether something changed since it began, so that the name has to be looked up once more.
  var isStale = false
  private(set) var lastStart: Int64?
  private(set) var lastEnd: Int64?
  /// The time of the next lookup, unless something causes one before.
  var refresh: Int64?
  /// How many lookups in a row have failed.
  private(set) var failures = 0
  /// How many lookups in a row have found no address.
  private var absences = 0

  /// The least time between the beginnings of two lookups of a name, no matter what happens on the network.
  static var minimumSpacing: Int64 { 1_000_000_000 }
  /// How long an answer is used before the name is looked up again.
  static var lifetime: Int64 { 300_000_000_000 }
  /// When to look again for a name that has no address: at first, and at most. It may begin to exist at any time, and
  /// getaddrinfo(3) does not tell for how long that answer holds (RFC 2308).
  static var firstAbsence: Int64 { 5_000_000_000 }
  static var longestAbsence: Int64 { 60_000_000_000 }
  /// How long the first answer may take before receivers are told that it is not known.
  static var overdueAfter: Int64 { 1_000_000_000 }

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
    case .noAddress: outcome = .noAddress
    case .failed:
      // Earlier addresses stay in use.
      if case .addresses = outcome {} else { outcome = .failed }
    case .exhausted(let errno):
      if case .addresses = outcome {} else { outcome = .exhausted(Reachability.Reason(shortage: errno)) }
    }
    refresh = now.addingClamped(delay(after: result))
    return outcome != old
  }

  /// How long to wait before the next lookup.
  private func delay(after result: NameLookupResult) -> Int64 {
    switch result {
    case .failed, .exhausted:
      failures += 1
      absences = 0
      // 2 s, 4 s, 8 s, … and at most the lifetime of an answer.
      return min(Self.lifetime, 1_000_000_000 << Int64(min(failures, 30)))
    // A network without a translator never has the name of RFC 7050. That is no absence to wait for.
    case .noAddress where question != NAT64Prefix.discoveryName:
      failures = 0
      absences += 1
      // 5 s, 10 s, 20 s, 40 s, 60 s.
      return min(Self.longestAbsence, Self.firstAbsence << Int64(min(absences - 1, 10)))
    case .noAddress, .addresses:
      failures = 0
      absences = 0
      return Self.lifetime
    }
  }

  /// The first answer takes long. Returns whether that changes anything.
  func becomeOverdue() -> Bool {
    guard outcome == .pending else { return false }
    outcome = .overdue
    return true
  }
}
