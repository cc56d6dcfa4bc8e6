// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport

@testable import Dialtone

/// A scripted network that loses announcements without end: each time it is polled, some are lost again.
final class DoubtfulNetwork: Sendable {
  let environment: ReachabilityEnvironment
  let network = scriptedNetwork()
  /// Whether announcements are being lost.
  let isInDoubt = Box(false)
  /// How often it was polled in doubt.
  let polls = Counter()

  init() {
    let base = network.environment.provider
    environment = ReachabilityEnvironment(
      EngineProvider(time: base.time, lookup: base.lookup, makeWaiter: base.makeWaiter) { [isInDoubt, polls] in
        Source(base.makeSource($0, $1), isInDoubt, polls)
      })
  }

  private final class Source: NetworkSource {
    private let base: any NetworkSource
    private let isInDoubt: Box<Bool>
    private let polls: Counter

    init(_ base: any NetworkSource, _ isInDoubt: Box<Bool>, _ polls: Counter) {
      self.base = base
      self.isInDoubt = isInDoubt
      self.polls = polls
    }

    /// At once.
    var nextPoll: Int64? { isInDoubt.value ? .min : base.nextPoll }
    func watch(_ interest: NetworkInterest) { base.watch(interest) }
    func path(_ configuration: PathConfiguration) -> PathAnswer { base.path(configuration) }

    func poll(into change: inout NetworkChange) {
      if isInDoubt.value { polls.add() }
      base.poll(into: &change)
    }

    func drain(into change: inout NetworkChange) {
      base.drain(into: &change)
      if isInDoubt.value { change.isInDoubt = true }
    }

    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      base.answer(queries, receive)
    }
  }
}
