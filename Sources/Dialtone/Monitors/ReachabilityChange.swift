// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state, and the one that was given before it.
public struct ReachabilityChange: Sendable, Hashable {
  /// The new state.
  public let state: Reachability

  /// The state that the same iterator gave before; `nil` at first.
  ///
  /// If the program was slow, there may have been others between the two.
  public let former: Reachability?

  /// Creates a change, for tests and previews.
  public init(to state: Reachability, from former: Reachability? = nil) {
    self.state = state
    self.former = former
  }

  /// How long it was from the beginning of the former state to that of the new one; `nil` at first, if one of them is
  /// not known, or if the system's clock was set back between the two.
  ///
  /// It is the time between two timestamps of the system's clock: setting that clock forward adds to it.
  public var lasted: Duration? {
    guard let start = former?.timestamp, let end = state.timestamp, start <= end else { return nil }
    return start.duration(to: end)
  }
}

extension ReachabilityChange: CustomStringConvertible {
  /// The new state, and how long which state was before it: "reachable via wired (eth0), after 3.004 seconds
  /// unreachable".
  public var description: String {
    guard let former else { return "\(state)" }
    let time = lasted.map { "\(Duration.milliseconds($0.nanosecondsClamped / 1_000_000)) " } ?? ""
    return "\(state), after \(time)\(former.status.identifier)"
  }
}

extension ReachabilityMonitor {
  /// The states, each with the one before it and how long that lasted: the known state first, then each change.
  ///
  /// ```swift
  /// for await change in monitor.changes {
  ///   if change.state.isReachable, let lasted = change.lasted { print("back after", lasted) }
  /// }
  /// ```
  public var changes: DerivedUpdates<Reachability, ReachabilityChange> {
    DerivedUpdates(updates) { state, last in ReachabilityChange(to: state, from: last?.state) }
  }
}
