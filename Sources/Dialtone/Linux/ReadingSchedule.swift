// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the source may rely on: whether the kernel's tables are read and whole, when they are read anew, and when the
/// network is polled. Pure: an event and its time in, a decision out. All times are nanoseconds of one clock.
///
/// Invariants:
/// - Nothing is answered before the tables were read once, nor after reading them was refused.
/// - After a loss of announcements the tables are in doubt until they are read anew: at once, or ``spacing`` after the
///   last time.
/// - If the socket of queries is lost, another one is opened at once, but not over and over.
struct ReadingSchedule {
  enum Reading {
    case whole
    /// Changes overtook every attempt, so that something may be missing.
    case interrupted
    /// Memory lacked for a moment: the tables before are the best there is.
    case failed
    case refused
    /// There is no socket to ask on.
    case impossible
  }

  /// How often to poll if the kernel does not announce changes, or refuses altogether.
  static let pollInterval: Int64 = 5_000_000_000
  /// The least time between two readings of the tables because of a loss.
  static let spacing: Int64 = 100_000_000

  private var lastReading: Int64?
  /// When to read the tables anew, since announcements were lost; `nil` if none were.
  private var lossDeadline: Int64?
  private var pollDeadline: Int64?
  private var lastSocketLoss: Int64?
  /// Whether the tables were read, so that questions can be answered.
  private(set) var isReady = false
  /// Why nothing can be known, while nothing can.
  private(set) var denial = Reachability.Reason.denied
  /// Whether some changes are not announced, so that there is a poll after each poll.
  private(set) var isPolled = false
  /// How often the tables were read anew because announcements were lost.
  private(set) var rereadCount = 0

  /// Whether announcements were lost, and the tables not read anew since.
  var isInDoubt: Bool { lossDeadline != nil }

  /// When to poll; `.max` for never.
  var deadline: Int64 { min(pollDeadline ?? .max, lossDeadline ?? .max) }

  /// When the tables may be read anew because announcements were lost.
  private var nextReading: Int64 { lastReading?.addingClamped(Self.spacing) ?? .min }

  // MARK: Sockets

  /// The sockets could not be opened, as the system lacks something.
  mutating func openingFailed(for shortage: Reachability.Reason) { denial = shortage }

  /// Everything that could be opened is awaited now, or has to be polled.
  mutating func awaitingBegins(isComplete: Bool) { isPolled = !isComplete }

  /// The socket of announcements cannot be read: it is forbidden, or somebody has closed it.
  mutating func announcementsEnded(at now: Int64) {
    isPolled = true
    poll(from: now)
  }

  mutating func queriesWereLost(at now: Int64) {
    isPolled = true
    let isFirst = lastSocketLoss.map { now - $0 > Self.pollInterval } ?? true
    lastSocketLoss = now
    poll(after: isFirst ? 0 : Self.pollInterval, from: now)
  }

  // MARK: Losses

  /// Announcements were lost. Returns whether to read the tables now.
  mutating func announcementsWereLost(at now: Int64) -> Bool {
    if nextReading > now {
      // They are read anew even if nothing else happens.
      lossDeadline = nextReading
      return false
    }
    rereadCount += 1
    return true
  }

  /// Announcements were lost, which is reported once those that wait are read. If that takes long, the tables are read
  /// before.
  mutating func announcementsWillBeLost(at now: Int64) {
    if lossDeadline == nil { lossDeadline = max(nextReading, now) }
  }

  // MARK: Readings

  /// The tables are read, beginning at `start`.
  mutating func tablesAreRead(_ reading: Reading, from start: Int64, until now: Int64) {
    lastReading = start
    lossDeadline = nil
    switch reading {
    case .whole: isReady = true
    case .interrupted:
      isReady = true
      lossDeadline = start.addingClamped(Self.spacing)
    case .failed: poll(from: now)
    case .refused:
      isReady = false
      denial = .denied
      poll(from: now)
    case .impossible: isReady = false
    }
  }

  // MARK: Polls

  /// Has the network polled after this time, or before.
  mutating func poll(after interval: Int64 = pollInterval, from now: Int64) {
    pollDeadline = min(pollDeadline ?? .max, now.addingClamped(interval))
  }

  /// A poll begins, which reads the tables. `isLost` is whether announcements were found lost just now.
  mutating func pollBegins(isLost: Bool) {
    if isLost || isInDoubt { rereadCount += 1 }
    pollDeadline = nil
  }
}
