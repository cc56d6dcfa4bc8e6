// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The paths that checks under way wait for: one monitor for each, however many checks share it.
final class SharedMonitors: Sendable {
  fileprivate struct Key: Hashable {
    let target: ReachabilityTarget
    let configuration: ReachabilityConfiguration
  }

  private struct Entry {
    let monitor: ReachabilityMonitor
    var users = 0
  }

  private let environment: ReachabilityEnvironment
  private let entries = Lock<[Key: Entry]>([:])

  init(_ environment: ReachabilityEnvironment) { self.environment = environment }

  /// A path that is watched for as long as this is held.
  final class Path: Sendable {
    let monitor: ReachabilityMonitor
    private let monitors: SharedMonitors
    private let key: Key

    fileprivate init(_ monitor: ReachabilityMonitor, _ monitors: SharedMonitors, _ key: Key) {
      self.monitor = monitor
      self.monitors = monitors
      self.key = key
    }

    deinit { monitors.release(key) }

    /// What is known of it; `nil` if nothing is.
    var known: Reachability? {
      let state = monitor.current
      return state.isDetermined || state.reason != nil ? state : nil
    }
  }

  /// Begins to watch the path to `target`, or shares the monitor of another check.
  func path(to target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Path {
    let key = Key(target: target, configuration: configuration)
    let monitor = entries.withLock { entries in
      var entry =
        entries[key]
        ?? Entry(monitor: ReachabilityMonitor(target, configuration: configuration, environment: environment))
      entry.users += 1
      entries[key] = entry
      return entry.monitor
    }
    return Path(monitor, self, key)
  }

  private func release(_ key: Key) {
    let ended = entries.withLock { entries -> ReachabilityMonitor? in
      entries[key]?.users -= 1
      guard let entry = entries[key], entry.users == 0 else { return nil }
      entries[key] = nil
      return entry.monitor
    }
    // Released here, outside the lock.
    withExtendedLifetime(ended) {}
  }
}
