// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The names whose addresses are wanted, and when each is looked up.
///
/// That is at first, when something changed that an answer may depend on, when an answer has grown old, and again after
/// a failure.
///
/// It does not look up names itself, and knows nothing of its users: events in, and what they mean for the users out.
/// Every method takes the time, in nanoseconds of a clock that goes on during suspension.
struct NameTable<User: AnyObject> {
  typealias Record = NameRecord<User>

  private enum Deadline {
    case lookUp(Record)
    case overdue(Record)
  }

  /// Begins to look up a name. The answer comes by ``finish(_:serial:_:now:)`` with the same number.
  private let lookUp: (NameQuestion, _ serial: UInt64) -> NameLookupPool.Ticket
  private var records: [NameQuestion: Record] = [:]
  private var timers = TimerQueue<Deadline>()
  private var areSomeStale = false
  private var serial: UInt64 = 0

  init(lookUp: @escaping (NameQuestion, _ serial: UInt64) -> NameLookupPool.Ticket) { self.lookUp = lookUp }

  var isEmpty: Bool { records.isEmpty }

  /// When ``passDeadlines(now:)`` has something to do.
  var deadline: Int64? { timers.next }

  subscript(question: NameQuestion) -> Record? { records[question] }

  // MARK: Users

  mutating func attach(_ user: User, to question: NameQuestion, now: Int64) -> Record {
    let name: Record
    if let known = records[question] {
      name = known
    } else {
      name = Record(question)
      records[question] = name
      markStale(name)
      timers.add(.overdue(name), at: now.addingClamped(Record.overdueAfter))
    }
    name.users.insert(user)
    return name
  }

  mutating func detach(_ user: User, from name: Record) {
    name.users.remove(user)
    if !name.users.objects.isEmpty { return }
    records[name.question] = nil
    name.refresh = nil
    name.abandon()
    // Its next lookup, and the deadline of its first.
    timers.forget(2) { [records] deadline in
      switch deadline {
      case .lookUp(let name), .overdue(let name): records[name.question] !== name
      }
    }
  }

  // MARK: Lookups

  mutating func markStale(_ name: Record) {
    name.isStale = true
    areSomeStale = true
  }

  mutating func markAllStale() {
    for name in records.values { markStale(name) }
  }

  /// Starts the lookups that are due. A lookup too soon after the last one of the same name is put off.
  mutating func startLookups(now: Int64) {
    if !areSomeStale { return }
    areSomeStale = false
    for name in records.values where name.isStale && name.lookup == nil {
      if let last = name.lastStart, now < last.addingClamped(Record.minimumSpacing) {
        let time = last.addingClamped(Record.minimumSpacing)
        if let refresh = name.refresh, refresh <= time { continue }
        name.refresh = time
        timers.add(.lookUp(name), at: time)
      } else {
        serial += 1
        name.begin(lookUp(name.question, serial), serial: serial, at: now)
      }
    }
  }

  /// Takes in the answer of a lookup. Returns the name, if anything has changed.
  mutating func finish(_ question: NameQuestion, serial: UInt64, _ result: NameLookupResult, now: Int64) -> Record? {
    // An answer to a withdrawn question is ignored.
    guard let name = records[question], name.serial == serial else { return nil }
    let hasChanged = name.finish(result, at: now)
    if let refresh = name.refresh { timers.add(.lookUp(name), at: refresh) }
    if name.isStale { areSomeStale = true }
    return hasChanged ? name : nil
  }

  /// Does what is due. Returns the names whose users are told something else from now on.
  mutating func passDeadlines(now: Int64) -> [Record] {
    var overdue: [Record] = []
    while let deadline = timers.popDue(now) {
      switch deadline {
      case .lookUp(let name):
        guard let refresh = name.refresh, refresh <= now else { continue }
        name.refresh = nil
        markStale(name)
      case .overdue(let name):
        if name.becomeOverdue() { overdue.append(name) }
      }
    }
    return overdue
  }

  /// Returns the addresses of a name, if a lookup has found them within the least time between two lookups, and nothing
  /// has changed since.
  func recentAddresses(of question: NameQuestion, now: Int64) -> [IPAddress]? {
    // Those of before a lookup that failed are told on, and were not found now.
    guard let name = records[question], !name.isStale, name.lookup == nil, name.failures == 0, !name.addresses.isEmpty,
      let end = name.lastEnd, now < end.addingClamped(Record.minimumSpacing)
    else { return nil }
    return name.addresses
  }
}
