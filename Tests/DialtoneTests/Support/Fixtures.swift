// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting

/// An address that the test's author knows to be well-formed.
func ip(_ text: String) -> IPAddress {
  guard let address = IPAddress(text) else { preconditionFailure("\(text) is no IP address") }
  return address
}

/// An interface whose name the test's author knows to be well-formed.
func interface(_ name: String, _ index: UInt32 = 2, _ kind: InterfaceKind = .wifi) -> NetworkInterface {
  guard let interface = NetworkInterface(name: name, index: index, kind: kind) else {
    preconditionFailure("\(name) is no interface's name")
  }
  return interface
}

extension ScriptedPath {
  /// A path for this number; paths of different numbers differ.
  static func numbered(_ number: Int) -> ScriptedPath { .reachable(over: interface("wlan0", UInt32(number))) }
}

extension Reachability {
  /// The number of a path made with `numbered`.
  var number: Int? { interface.map { Int($0.index) } }

  func isUnreachable(_ reason: Reason) -> Bool { status == .unreachable && self.reason == reason }
  func isUndetermined(_ reason: Reason) -> Bool { status == .undetermined && self.reason == reason }
  func isVia(_ name: String) -> Bool { isReachable && interface?.name == name }
}

extension ScriptedNetwork {
  func monitor(
    _ target: ReachabilityTarget = .internet, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) -> ReachabilityMonitor {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    return ReachabilityMonitor(target, configuration: configuration, environment: environment)
  }
}
