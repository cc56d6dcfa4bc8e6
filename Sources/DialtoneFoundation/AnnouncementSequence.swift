// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Announces the states of one registration: "was determined" once, before the "did change" with the same state.
///
/// Invariants: the first is announced at most once; nothing is announced once the registration has ended, also where it was
/// ended by a listener to the first of two. No lock is held while listeners run.
final class AnnouncementSequence: Sendable {
  typealias Announcement = @Sendable (Reachability, ReachabilityMonitor) -> Void

  private enum Registration {
    /// The caller has not got it yet, so nobody can have ended it.
    case beingMade
    /// Weak: it holds what calls this object.
    case made(Weak)
  }

  private struct Weak {
    weak var observation: ReachabilityObservation?
  }

  private struct State {
    var registration = Registration.beingMade
    var isDetermined = false
  }

  private let state = Lock(State())
  private let wasDetermined: Announcement
  private let didChange: Announcement

  init(wasDetermined: @escaping Announcement, didChange: @escaping Announcement) {
    self.wasDetermined = wasDetermined
    self.didChange = didChange
  }

  /// Says by what the sequence can be ended, and hands that on.
  func begin(_ observation: ReachabilityObservation) -> ReachabilityObservation {
    state.withLock { $0.registration = .made(Weak(observation: observation)) }
    return observation
  }

  /// Announces a state. One call at a time, in the order of change. Without a monitor the registration has ended.
  func announce(_ new: Reachability, of monitor: ReachabilityMonitor?) {
    guard let monitor else { return }
    let isFirst = state.withLock { state in
      defer { state.isDetermined = state.isDetermined || new.isDetermined }
      return new.isDetermined && !state.isDetermined
    }
    if isFirst {
      wasDetermined(new, monitor)
      if hasEnded { return }
    }
    didChange(new, monitor)
  }

  private var hasEnded: Bool {
    // Whether a registration has ended is asked outside of our lock: the answer may release it.
    let registration = state.withLock { $0.registration }
    return switch registration {
    case .beingMade: false
    case .made(let registration): registration.observation?.hasEnded ?? true
    }
  }
}
