// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting

@testable import Dialtone

/// A scripted network that announces a change late, as a kernel that is still at it: whoever asks waits until it has.
final class HesitantNetwork: Sendable {
  let environment: ReachabilityEnvironment
  private let network = ScriptedNetwork()
  private let isAnnounced = Box(true)

  init() {
    let slot = network.environment.slot
    environment = ReachabilityEnvironment(
      EngineSlot(clock: slot.clock, lookup: slot.lookup) { [isAnnounced] in Source(slot.makeSource(), isAnnounced) })
  }

  /// Changes the network. Nothing tells of it before the next query.
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

    var descriptors: [CInt] { base.descriptors }
    var nextPoll: Int64? { base.nextPoll }
    func eventsCannotBeAwaited() { base.eventsCannotBeAwaited() }
    func announceRoutes(to addresses: [IPAddress]?) { base.announceRoutes(to: addresses) }
    func announceNameConfiguration(_ isWanted: Bool) { base.announceNameConfiguration(isWanted) }
    func poll(into change: inout NetworkChange) { base.poll(into: &change) }
    func path(_ configuration: PathConfiguration) -> PathAnswer { base.path(configuration) }

    func drain(ready: UInt64, into change: inout NetworkChange) {
      if isAnnounced.value { base.drain(ready: ready, into: &change) }
    }

    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      isAnnounced.value = true
      base.answer(queries, receive)
    }
  }
}
