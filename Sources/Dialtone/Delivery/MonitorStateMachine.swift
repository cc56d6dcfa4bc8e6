// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Decides what becomes of a newly decided state: pure, event in, action out.
///
/// Invariants:
/// - The newest state is always stored, so `current` is never behind.
/// - Receivers are told of the first known state at once.
/// - They are told of a change once nothing has changed for `settling`, and at most four times `settling` after the
///   first change.
struct MonitorStateMachine {
  enum Action: Equatable {
    /// Nothing is new.
    case ignore
    /// Something is new, but not enough to tell receivers.
    case store
    /// Receivers are told now.
    case deliver
    /// Receivers are told later; ask with `settle` at this time.
    case holdBack(until: Int64)
  }

  /// In nanoseconds; zero tells receivers at once.
  private let settling: Int64
  /// While changes are held back: the time of the first one, and when to look again.
  private var held: (first: Int64, until: Int64)?
  private var isKnown = false

  init(settling: Duration) { self.settling = max(0, settling.nanosecondsClamped) }

  /// A state was decided at `now`; `old` was the newest before.
  mutating func decided<State: MonitoredState>(_ new: State, after old: State, now: Int64) -> Action {
    if new.isSameState(as: old) { return new.isIdentical(to: old) ? .ignore : .store }
    let wasKnown = isKnown
    isKnown = isKnown || new.isKnown
    if !isKnown { return .store }
    if !wasKnown || settling == 0 { return .deliver }
    let first = held?.first ?? now
    let until = min(now.addingClamped(settling), first.addingClamped(settling.multipliedClamped(by: 4)))
    held = (first, until)
    return .holdBack(until: until)
  }

  /// The time of an earlier `holdBack` has come. Returns another `holdBack` if a later change has put it off.
  mutating func settle(now: Int64) -> Action {
    guard let held else { return .ignore }
    if held.until > now { return .holdBack(until: held.until) }
    self.held = nil
    return .deliver
  }
}
