// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What all monitors have in common: a newest state, and the ways to be told of the next.
///
/// ``ReachabilityMonitor`` and ``PathMonitor`` are such monitors. Receivers are told of the first known state, then of each
/// change; <doc:Delivery> has the promises. All of it is for any thread and any isolation.
public protocol StateMonitor<State>: AnyObject, Sendable {
  /// What is monitored.
  associatedtype State: Sendable

  /// The newest state. Never blocks.
  var current: State { get }

  /// The states one after another, as an asynchronous sequence: first the one that is known, then each change.
  var updates: MonitorUpdates<State> { get }
}
