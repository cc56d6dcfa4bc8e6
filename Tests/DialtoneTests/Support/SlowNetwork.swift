// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport

@testable import Dialtone

/// A scripted network of which nothing is known until it is opened.
final class SlowNetwork: Sendable {
  let network = scriptedNetwork()
  let environment: ReachabilityEnvironment
  private let latch = Latch()

  init() {
    let base = network.environment.provider
    environment = ReachabilityEnvironment(
      EngineProvider(time: base.time, lookup: base.lookup, makeWaiter: base.makeWaiter) { [latch] in
        latch.wait()
        return base.makeSource($0, $1)
      })
  }

  func open() { latch.open() }

  func monitor(_ target: ReachabilityTarget = .internet) -> ReachabilityMonitor {
    ReachabilityMonitor(target, environment: environment)
  }

  func set(_ path: ScriptedPath) {
    network.set(path)
    environment.provider.runningEngine?.wake()
  }
}
