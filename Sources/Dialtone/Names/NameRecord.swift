// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A name to be looked up.
struct NameQuestion: Hashable, Sendable {
  let host: HostName
  /// The only family that is asked for; `nil` for both.
  let family: IPAddress.Family?
}

/// What was last learnt of a name.
enum NameOutcome: Equatable {
  /// It has not been answered yet.
  case pending
  /// It has not been answered for so long that the state of the path is told meanwhile.
  case overdue
  /// Its addresses; never none.
  case addresses([IPAddress])
  /// The name has no address: an answer that stands.
  case noAddress
  /// It could not be looked up, for now.
  case failed
}

/// What was last learnt of a name, when it is looked up again, and who wants to know, of whom nothing is known here.
final class NameRecord<User: AnyObject> {
  let question: NameQuestion
  private(set) var outcome = NameOutcome.pending
  var users: [User] = []

  /// The look-up that is under way.
  private(set) var lookup: NameLookupPool.Ticket?
  /// The number of that look-up: an answer with another one comes too late.
  private(set) var serial: UInt64 = 0
  /// Whether something changed since it began, so that it has to be asked once more.
  var isStale = false
  /// When the last look-up began.
  private(set) var lastStart: Int64?
  /// When the last look-up came to its end.
  private(set) var lastEnd: Int64?
  /// The time of the next look-up, if none is caused before.
  var refresh: Int64?
  private var failures = 0

  /// Two look-ups of a name begin at least so far apart, whatever happens on the network.
  static var minimumSpacing: Int64 { 1_000_000_000 }
  /// How long an answer is good for.
  static var lifetime: Int64 { 300_000_000_000 }
  /// How long the first answer may take before it is said that nothing is known.
  static var patience: Int64 { 1_000_000_000 }

  init(_ question: NameQuestion) { self.question = question }

  /// The addresses that it has; none where it has none, or that is not known.
  var addresses: [IPAddress] { if case .addresses(let found) = outcome { found } else { [] } }

  func begin(_ ticket: NameLookupPool.Ticket, serial: UInt64, at now: Int64) {
    lookup = ticket
    self.serial = serial
    lastStart = now
    isStale = false
    refresh = nil
  }

  /// Nobody wants to know any more.
  func abandon() {
    lookup?.cancel()
    lookup = nil
  }

  /// Takes an answer in. Returns whether anything changed.
  func finish(_ result: NameLookupResult, at now: Int64) -> Bool {
    let old = outcome
    lookup = nil
    lastEnd = now
    switch result {
    case .addresses(let addresses):
      // Unspecified addresses, with which filters of advertising answer, are no destination (RFC 1122, 3.2.1.3; RFC
      // 4291, 2.5.2).
      let destinations = addresses.filter { !$0.unmapped.isUnspecified }
      outcome = destinations.isEmpty ? .noAddress : .addresses(destinations)
      failures = 0
    case .noAddress:
      outcome = .noAddress
      failures = 0
    case .failed, .exhausted:
      // What was learnt before stays in use.
      if case .addresses = outcome {} else { outcome = .failed }
      failures += 1
    }
    // After a failure 2 s, 4 s, 8 s, … and at most the lifetime of an answer.
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
