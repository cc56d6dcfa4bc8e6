// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting

extension ScriptedPath {
  /// A path for this number; paths of different numbers differ.
  static func numbered(_ number: Int) -> ScriptedPath {
    guard let interface = NetworkInterface(name: "wlan0", index: UInt32(number), kind: .wifi) else {
      preconditionFailure("wlan0 is no interface's name")
    }
    return .reachable(over: interface)
  }
}

extension Reachability {
  /// The number of a path made with `numbered`.
  var number: Int? { interface.map { Int($0.index) } }
}

extension ScriptedNetwork {
  func monitor(_ target: ReachabilityTarget = .internet) -> ReachabilityMonitor {
    ReachabilityMonitor(target, environment: environment)
  }
}
