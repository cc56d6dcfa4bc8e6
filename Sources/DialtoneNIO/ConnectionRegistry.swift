// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import Dialtone
internal import NIOCore
package import Synchronization

/// The connections of a program, or of a part of it, that follow their paths.
///
/// ```swift
/// let registry = ConnectionRegistry { change in
///   print(change.local, "to", change.remote, "is", change.condition)
/// }
/// ```
///
/// Connections with the same pair of addresses share what is watched. The registry holds no channel open, and ends by
/// itself with its last connection. You can use it from any thread.
public final class ConnectionRegistry: Sendable {
  /// The registry for programs that need one only, with the default policy.
  public static let shared = ConnectionRegistry()

  /// What is done about connections whose path has changed.
  public let policy: ConnectionPolicy

  let environment: ReachabilityEnvironment
  private let onChange: (@Sendable (ConnectionChange) -> Void)?
  private let state = Mutex(State())
  /// What adapters know of requests.
  package let requests = Mutex(RequestNotes())

  private struct State {
    var watches: [PathWatch.Key: PathWatch] = [:]
    var counts: [ConnectionCondition: Int] = [:]
    var closed: [ConnectionCondition: Int] = [:]
  }

  /// Creates a registry without connections.
  ///
  /// - Parameters:
  ///   - policy: What is done about connections whose path has changed.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  ///   - onChange: Is called on a connection's event loop, with each change of its condition: keep it short.
  public init(
    policy: ConnectionPolicy = .init(), environment: ReachabilityEnvironment = .system,
    onChange: (@Sendable (ConnectionChange) -> Void)? = nil
  ) {
    self.policy = policy
    self.environment = environment
    self.onChange = onChange
  }

  /// How many open connections are in each condition.
  public var counts: [ConnectionCondition: Int] { state.withLock { $0.counts.filter { $0.value > 0 } } }

  /// How many connections Dialtone has closed so far, by the condition that they were closed for.
  public var closed: [ConnectionCondition: Int] { state.withLock { $0.closed } }

  /// How many pairs of addresses are watched.
  package var watchCount: Int { state.withLock { $0.watches.count } }

  // MARK: Handlers

  func watch(_ key: PathWatch.Key, for follower: PathWatch.Follower) -> PathWatch {
    let (watch, isNew) = state.withLock { state in
      let known = state.watches[key]
      let watch = known ?? PathWatch(key, in: environment)
      state.watches[key] = watch
      // Under this lock, so that the last other follower cannot end the watch meanwhile.
      watch.add(follower)
      return (watch, known == nil)
    }
    if isNew { watch.start() }
    return watch
  }

  func end(_ watch: PathWatch, for handler: PathHandler) {
    // Released outside of the lock, since that ends monitors.
    let ended = state.withLock { watch.remove(handler) ? $0.watches.removeValue(forKey: watch.key) : nil }
    withExtendedLifetime(ended) {}
  }

  func changed(from former: ConnectionCondition?, to condition: ConnectionCondition?) {
    state.withLock {
      if let former { $0.counts[former, default: 0] -= 1 }
      if let condition { $0.counts[condition, default: 0] += 1 }
    }
  }

  func tell(_ change: ConnectionChange) {
    if change.isClosed { state.withLock { $0.closed[change.condition, default: 0] += 1 } }
    onChange?(change)
  }

  func noteLoss() { requests.withLock { $0.losses += 1 } }
}

/// Requests that await their answer on a connection, by the host that they name, and what else adapters know of them.
package struct RequestNotes: Sendable {
  package private(set) var counts: [String: Int] = [:]
  /// The hosts of requests that somebody waits for, whether or not they are on a connection: how many they are, and how
  /// many were written to that host meanwhile.
  private var named: [String: (requests: Int, written: Int)] = [:]
  /// How many were written to hosts that nobody named.
  private var strays = 0
  /// Grows with each connection that Dialtone begins to close, and again once its client knows that.
  package var losses = 0
  /// Whether a client counts its requests here.
  package var areCounted = false
  /// The address that a host's requests leave from, where it is not left to the system.
  package var sources: [String: IPAddress] = [:]

  package mutating func begin(_ host: String) {
    counts[host, default: 0] += 1
    if named[host] == nil { strays += 1 } else { named[host]?.written += 1 }
  }

  package mutating func end(_ host: String) { counts[host] = counts[host].flatMap { $0 > 1 ? $0 - 1 : nil } }

  package mutating func name(_ host: String) { named[host, default: (0, 0)].requests += 1 }

  package mutating func unname(_ host: String) {
    named[host]?.requests -= 1
    if named[host]?.requests == 0 { named[host] = nil }
  }

  /// Grows as long as the host is named, with each request that may be one for it.
  package func written(to host: String) -> Int { strays + (named[host]?.written ?? 0) }

  /// Whether a request for this host may be on a connection. A host that nobody named may be the one that it was
  /// redirected to, or another spelling of its own.
  package func mayBeUnderWay(_ host: String) -> Bool {
    counts[host] != nil || counts.contains { $0.value > named[$0.key]?.requests ?? 0 }
  }
}

/// A change of what is known of a connection.
public struct ConnectionChange: Hashable, Sendable {
  /// The address of this machine that the connection has.
  public let local: IPAddress
  /// The address at the other end.
  public let remote: IPAddress
  /// The port at the other end.
  public let port: Int?
  /// What is known now.
  public let condition: ConnectionCondition
  /// Why the connection's packets cannot leave; `nil` if they can.
  public let reason: Reachability.Reason?
  /// Whether Dialtone closes the connection for this.
  public let isClosed: Bool
}
#endif
