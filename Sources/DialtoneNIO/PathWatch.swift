// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
internal import Dialtone
internal import NIOCore
internal import Synchronization

/// Follows the routes of one pair of addresses, for all connections that have it.
///
/// *A handler that was removed is not called any more:* it is removed on its event loop, where it would be called, and
/// no event loop is given work under this lock once its last handler is gone.
final class PathWatch: Sendable {
  /// What the kernel's answer depends on. Of ports, only rules look at the remote one.
  struct Key: Hashable, Sendable {
    var local: IPAddress
    var remote: IPAddress
    var port: UInt16?
    var socket: SocketRouting

    var target: ReachabilityTarget { .address(remote, from: local, port: port) }
  }

  typealias Follower = NIOLoopBound<PathHandler>

  let key: Key
  private let monitor: ReachabilityMonitor
  private let environment: ReachabilityEnvironment
  private let confirmed = Mutex<(routes: ConnectionRoutes, time: ContinuousClock.Instant, changes: UInt)?>(nil)
  /// How many changes it was told of.
  private let changes = Atomic<UInt>(0)
  private let followers = Mutex(Followers())
  private let observation = Mutex<ReachabilityObservation?>(nil)

  /// Most pairs have one, which needs no table.
  private struct Followers {
    var first: Follower?
    var others: [ObjectIdentifier: Follower] = [:]
  }

  init(_ key: Key, in environment: ReachabilityEnvironment) {
    self.key = key
    self.environment = environment
    monitor = ReachabilityMonitor(key.target, configuration: key.socket.configuration, environment: environment)
  }

  /// Begins to tell followers of changes. Apart from the initialiser, since observers may be called before it returns.
  func start() {
    let new = monitor.statesOfEachTarget.observe { [weak self] _ in self?.tell() }
    observation.withLock { $0 = new }
  }

  /// What was decided last.
  var routes: ConnectionRoutes { ConnectionRoutes(monitor.current) }

  /// What the kernel says at this moment.
  ///
  /// Connections that ask in the same moment get one answer, unless it is older than the change they ask for.
  func confirmedRoutes() -> ConnectionRoutes {
    confirmed.withLock { confirmed in
      let changes = changes.load(ordering: .acquiring)
      if let last = confirmed, last.changes == changes, .now < last.time + .milliseconds(1) { return last.routes }
      let routes = ConnectionRoutes(.now(key.target, configuration: key.socket.configuration, environment: environment))
      confirmed = (routes, .now, changes)
      return routes
    }
  }

  func add(_ follower: Follower) {
    followers.withLock {
      if $0.first == nil { $0.first = follower } else { $0.others[ObjectIdentifier(follower.value)] = follower }
    }
  }

  /// Returns whether no follower is left.
  func remove(_ handler: PathHandler) -> Bool {
    followers.withLock { followers in
      // The first may belong to another event loop, on which alone it may be looked at.
      if followers.others.removeValue(forKey: ObjectIdentifier(handler)) == nil { followers.first = nil }
      return followers.first == nil && followers.others.isEmpty
    }
  }

  private func tell() {
    changes.wrappingAdd(1, ordering: .releasing)
    followers.withLock { followers in
      if let first = followers.first { first.eventLoop.execute { first.value.routesChanged() } }
      for list in Dictionary(grouping: followers.others.values, by: { ObjectIdentifier($0.eventLoop) }).values {
        list[0].eventLoop.execute { for follower in list { follower.value.routesChanged() } }
      }
    }
  }
}

extension SocketRouting {
  var configuration: ReachabilityConfiguration {
    var configuration = ReachabilityConfiguration()
    configuration.interface = interface
    configuration.mark = mark
    configuration.usesNAT64 = false
    configuration.comparesSources = true
    return configuration
  }
}
#endif
