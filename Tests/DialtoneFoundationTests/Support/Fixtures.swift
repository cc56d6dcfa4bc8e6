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

/// A value that any thread can replace.
final class Box<Value: Sendable>: Sendable {
  private let content: Lock<Value>

  init(_ value: Value) { content = Lock(value) }

  var value: Value {
    get { content.withLock { $0 } }
    set {
      // The old value is released outside the lock.
      let old = content.withLock { content in
        defer { content = newValue }
        return content
      }
      withExtendedLifetime(old) {}
    }
  }
}
