// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a command makes of the states of its targets. Pure: event in, lines and an end out.
///
/// Times are those of one monotonic clock.
protocol Session<State>: Sendable {
  associatedtype State: Equatable & Sendable

  /// Takes a state that a target has come to. Returns the lines to print.
  mutating func receive(_ state: State, of target: Int, at now: Duration) -> [StateReport<State>]

  /// The time is up. Returns the lines to print; there is an `ending` afterwards.
  mutating func timeOut() -> [StateReport<State>]

  /// The exit status, once there is nothing more to do.
  var ending: ExitStatus? { get }

  /// What is being waited for, for a person; `nil` if nothing is.
  var waiting: Waiting? { get }

  /// The present state of a target that is waited for, which is the reason why the wait goes on; `nil` if nothing is
  /// known of it.
  func unmetState(of target: Int) -> State?

  /// Whether standard error is told why the wait goes on, if no terminal shows it.
  var tellsReasons: Bool { get }
}

extension Session {
  func unmetState(of target: Int) -> State? { nil }

  var tellsReasons: Bool { false }
}

struct Waiting: Equatable, Sendable {
  /// The positions of the targets that it depends on.
  let targets: [Int]
  /// What they have to become: "to be reachable".
  let goal: String
}
