// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport

@testable import Dialtone

/// A scripted network that announces a change late, like a kernel that has not finished it: each query waits until it
/// has.
final class HesitantNetwork: Sendable {
  let environment: ReachabilityEnvironment
  private let network = scriptedNetwork()
  private let isAnnounced = Box(true)

  init() {
    let base = network.environment.provider
    environment = ReachabilityEnvironment(
      EngineProvider(time: base.time, lookup: base.lookup, makeWaiter: base.makeWaiter) { [isAnnounced] in
        Source(base.makeSource($0, $1), isAnnounced)
      })
  }

  /// Changes the network. The change is announced only with the next query.
  func set(_ path: ScriptedPath) {
    isAnnounced.value = false
    network.set(path)
  }

  private final class Source: NetworkSource {
    private let base: any NetworkSource
    private let isAnnounced: Box<Bool>

    init(_ base: any NetworkSource, _ isAnnounced: Box<Bool>) {
      self.base = base
      self.isAnnounced = isAnnounced
    }

    var nextPoll: Int64? { base.nextPoll }
    func watch(_ interest: NetworkInterest) { base.watch(interest) }
    func poll(into change: inout NetworkChange) { base.poll(into: &change) }
    func path(_ configuration: PathConfiguration) -> PathAnswer { base.path(configuration) }

    func drain(into change: inout NetworkChange) {
      if isAnnounced.value { base.drain(into: &change) }
    }

    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      isAnnounced.value = true
      base.answer(queries, receive)
    }
  }
}
