// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport

@testable import Dialtone

/// The error of work that is retried.
struct WorkFailed: Error, Equatable {
  var run = 0
}

extension ScriptedNetwork {
  /// A network on Wi-Fi, and a monitor that knows it.
  static func onWiFi() async throws -> (network: ScriptedNetwork, monitor: ReachabilityMonitor) {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    return (network, monitor)
  }
}

extension RetryPolicy {
  /// The default policy, changed.
  static func changed(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
    var policy = RetryPolicy()
    change(&policy)
    return policy
  }
}
