// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import TestSupport
@testable import Dialtone
import NetworkLab
import Synchronization

/// Monitors whose engine lives in a lab: its sockets and threads are made on the lab's thread, inside the namespace.
final class LabMonitors: Sendable {
  let lab: NetworkLab
  let environment: ReachabilityEnvironment
  /// Keeps the engine from ending between two monitors.
  private let anchor: ReachabilityMonitor

  init(
    _ lab: NetworkLab, waiter: LabWaiter = .chosen, clock: TimeSource = .system,
    lookup: @escaping NameLookup = systemNameLookup,
    source: @escaping EngineProvider.MakeSource = systemNetworkSource
  ) throws {
    self.lab = lab
    let environment = ReachabilityEnvironment(
      EngineProvider(time: clock, lookup: lookup, makeWaiter: waiter.make, makeSource: waiter.hasten(source)))
    self.environment = environment
    // The engine's threads are started by the first monitor; a thread belongs to the namespace of the one that starts
    // it.
    anchor = try lab.run { ReachabilityMonitor(.localNetwork, environment: environment) }
  }

  func monitor(
    _ target: ReachabilityTarget = .internet, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) -> ReachabilityMonitor {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    return ReachabilityMonitor(target, configuration: configuration, environment: environment)
  }

  /// A monitor, with a record of everything that it delivers from the first known state on.
  func record(
    _ target: ReachabilityTarget = .internet, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) async throws -> Recording {
    try await lab.waitForCarriers()
    let recording = Recording(monitor(target, configure))
    try await eventually(within: .patience, "\(target) is known") { !recording.states.isEmpty }
    return recording
  }

  /// Returns once everything that the kernel announced before the call is read, decided and delivered to plain
  /// handlers, changes of carriers included.
  func settle() async throws {
    try await lab.waitForCarriers()
    // The first state of a new target is decided in a turn that read all events before it, and handlers run in order.
    let recording = Recording(monitor(.localNetwork))
    try await eventually(within: .patience, "the engine has caught up") { !recording.states.isEmpty }
    // That turn has stored the states of all other targets once it is over.
    try await settleWithoutAsking()
  }

  /// Returns once the engine has done a turn that began after the call. No target is asked about for that.
  func settleWithoutAsking() async throws { await environment.provider.runningEngine?.settled() }
}

/// What was delivered to a plain handler, in order.
final class Recording: Sendable {
  private final class Log: Sendable {
    let states = Mutex<[Reachability]>([])
  }

  let monitor: ReachabilityMonitor
  private let observation: ReachabilityObservation
  private let log: Log

  init(_ monitor: ReachabilityMonitor) {
    let log = Log()
    self.monitor = monitor
    self.log = log
    observation = monitor.observe { state in log.states.withLock { $0.append(state) } }
  }

  var states: [Reachability] { log.states.withLock { $0 } }
  var count: Int { states.count }
  var last: Reachability? { states.last }

  /// Forgets what was delivered so far, except the last state.
  func forget() { log.states.withLock { $0.removeFirst(max(0, $0.count - 1)) } }

  /// What was delivered since `forget`, without the state before.
  var changes: [Reachability] { Array(states.dropFirst()) }

  /// Waits until the last state delivered meets the condition.
  func wait(_ what: String, until condition: @Sendable (Reachability) -> Bool) async throws {
    do {
      try await eventually(within: .patience, what) { last.map(condition) ?? false }
    } catch {
      throw LabError("\(error); delivered: \(states)")
    }
  }
}

extension ReachabilityEnvironment {
  /// An environment with an engine of its own, for a question that is asked on the lab's thread.
  static func ofItsOwn() -> ReachabilityEnvironment { ReachabilityEnvironment(EngineProvider()) }
}

extension Reachability {
  /// Reachable over the interface of this name.
  func isVia(_ name: String) -> Bool { isReachable && interface?.name == name }

  /// Unreachable for this reason.
  func isUnreachable(_ reason: Reason) -> Bool { status == .unreachable && self.reason == reason }
}
#endif
