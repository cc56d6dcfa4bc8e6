// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// Waits until something is known of each of several paths. Belongs to its event loop.
final class PathWait {
  private let paths: [SharedMonitors.Path]
  private let loop: any EventLoop
  private let known: (PathWait, [Reachability]) -> Void
  private var observation: ReachabilityObservation?
  /// Numbers the observations: an event of an earlier one, or after the end, changes nothing.
  private var number = 0

  /// Calls `known` once, with what is known of each path. `start` calls it at once if all are known already, as they
  /// are while other checks go the same way.
  init(_ paths: [SharedMonitors.Path], _ loop: any EventLoop, known: @escaping (PathWait, [Reachability]) -> Void) {
    self.paths = paths
    self.loop = loop
    self.known = known
  }

  func start() { look() }

  func cancel() {
    observation?.cancel()
    observation = nil
    number += 1
  }

  private func look() {
    cancel()
    guard let unknown = paths.first(where: { $0.known == nil }) else {
      return known(self, paths.map { $0.known ?? .unknown })
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    observation = unknown.monitor.observe { [loop, number] _ in
      loop.execute {
        let wait = bound.value
        // Several may be on their way to the loop.
        if wait.number == number { wait.look() }
      }
    }
  }
}
