// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// What a program sees on a system for which there is no source.
@Suite struct DeniedNetworkTests {
  private let environment = ReachabilityEnvironment(
    EngineProvider(
      time: .system, lookup: systemNameLookup,
      makeWaiter: { time throws(SystemError) in SemaphoreWaiter(time) }, makeSource: { _, _ in DeniedNetwork() }))

  @Test(.timeLimit(.minutes(1))) func theInternetIsDenied() async {
    let monitor = ReachabilityMonitor(.internet, environment: environment)
    var states = monitor.updates.makeAsyncIterator()
    let state = await states.next()
    #expect(state?.status == .undetermined)
    #expect(state?.reason == .denied)
  }

  @Test(.timeLimit(.minutes(1))) func thePathIsDenied() async {
    let monitor = PathMonitor(environment: environment)
    var paths = monitor.updates.makeAsyncIterator()
    let path = await paths.next()
    #expect(path?.status == .undetermined)
    #expect(path?.reason == .denied)
  }

  @Test func aQuestionIsDenied() {
    let answer = Reachability.now(.internet, environment: environment)
    #expect(answer.status == .undetermined)
    #expect(answer.reason == .denied)
  }
}
