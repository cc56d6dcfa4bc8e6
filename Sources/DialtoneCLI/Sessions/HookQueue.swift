// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Which changes a hook is run for.
enum HookTrigger: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// A target has become reachable, or a site available.
  case reachable
  /// A target no longer is, or was not when it became known.
  case unreachable
  /// Any change that `watch` prints.
  case change
}

/// Which run of a hook comes next. Pure: reports in, runs out.
///
/// Invariants: one run at a time; each target waits at most once, with its newest state; a target does not wait if it
/// is again as the last run was told.
struct HookQueue<State: Equatable & Sendable>: Sendable {
  private let trigger: HookTrigger
  /// The state that the last run for a target was told.
  private var told: [Int: State] = [:]
  /// Whether a target's newest state is one that the trigger asks for.
  private var matches: [Int: Bool] = [:]
  private var waiting: [Int: StateReport<State>] = [:]
  /// The targets that wait, in the order in which they began to.
  private var order: [Int] = []
  private var isRunning = false

  init(trigger: HookTrigger) { self.trigger = trigger }

  /// Takes a change. `holds` says whether the target is reachable.
  mutating func receive(_ report: StateReport<State>, holds: TruthValue) {
    let target = report.target
    let isDue: Bool
    switch trigger {
    case .change: isDue = told[target] != report.state
    case .reachable, .unreachable:
      let isMatch = holds == (trigger == .reachable ? .holds : .fails)
      // A change of the way alone is none of these.
      isDue = isMatch && (matches[target] != true || waiting[target] != nil)
      matches[target] = isMatch
    }
    if isDue {
      if waiting.updateValue(report, forKey: target) == nil { order.append(target) }
    } else if waiting.removeValue(forKey: target) != nil {
      order.removeAll { $0 == target }
    }
  }

  /// The run to begin now; `nil` if one is under way, or there is none.
  mutating func next() -> StateReport<State>? {
    if isRunning || order.isEmpty { return nil }
    guard let report = waiting.removeValue(forKey: order.removeFirst()) else { return nil }
    told[report.target] = report.state
    isRunning = true
    return report
  }

  mutating func ended() { isRunning = false }
}
