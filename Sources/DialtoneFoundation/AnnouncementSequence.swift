// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Announces the states of one registration: "was determined" once for each target, before the "did change" with the
/// same state.
///
/// Invariants:
/// - "Was determined" is announced at most once for a target.
/// - Two "did change" in a row are never the same in what is asked for.
/// - Nothing is announced once the registration has ended, even if a listener to the first of two has ended it.
/// - No lock is held while listeners run.
final class AnnouncementSequence: Sendable {
  typealias Announcement = @Sendable (Reachability, ReachabilityMonitor) -> Void

  private enum Registration {
    /// The caller does not have it yet, so nobody can have ended it.
    case beingMade
    /// Weak, since it holds what calls this object.
    case made(Weak)
  }

  private struct Weak {
    weak var observation: ReachabilityObservation?
  }

  private struct State {
    var registration = Registration.beingMade
    var last: Snapshot<Reachability>?
    /// Whether a state of the last state's target was determined.
    var isDetermined = false
  }

  private let state = Lock(State())
  private let isSame: @Sendable (Reachability, Reachability) -> Bool
  private let wasDetermined: Announcement
  private let didChange: Announcement

  /// `isSame` says whether a second state is no change of the first.
  init(
    isSame: @escaping @Sendable (Reachability, Reachability) -> Bool, wasDetermined: @escaping Announcement,
    didChange: @escaping Announcement
  ) {
    self.isSame = isSame
    self.wasDetermined = wasDetermined
    self.didChange = didChange
  }

  /// Notes the registration that can end the sequence, and returns it.
  func begin(_ observation: ReachabilityObservation) -> ReachabilityObservation {
    state.withLock { $0.registration = .made(Weak(observation: observation)) }
    return observation
  }

  /// Announces a state, if it differs from the last one, or is the first determined one of its target. Called one at a
  /// time, in the order of change. Without a monitor, the registration has ended.
  func announce(_ new: Snapshot<Reachability>, of monitor: ReachabilityMonitor?) {
    guard let monitor else { return }
    let (isFirst, hasChanged) = state.withLock { state in
      let last = state.last
      let wasDetermined = state.isDetermined && last?.subjectNumber == new.subjectNumber
      state.last = new
      state.isDetermined = wasDetermined || new.state.isDetermined
      let isUnchanged = last.map { isSame($0.state, new.state) } ?? false
      return (new.state.isDetermined && !wasDetermined, !isUnchanged)
    }
    if isFirst {
      wasDetermined(new.state, monitor)
      if hasEnded { return }
    }
    if hasChanged { didChange(new.state, monitor) }
  }

  private var hasEnded: Bool {
    // Asked outside our lock, since the question may release the registration.
    let registration = state.withLock { $0.registration }
    return switch registration {
    case .beingMade: false
    case .made(let registration): registration.observation?.hasEnded ?? true
    }
  }
}
