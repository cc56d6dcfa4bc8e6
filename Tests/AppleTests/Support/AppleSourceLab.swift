// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleSource
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// One namespace with two engines: Linux's own, and one whose source is that for Apple's platforms, over the modules
/// with Apple's interfaces, over the first engine.
final class AppleSourceLab: Sendable {
  let linux: AppleLab
  let apple: ReachabilityEnvironment
  /// Keeps the engine from ending between two monitors.
  private let anchor: ReachabilityMonitor

  init(_ linux: AppleLab) throws {
    self.linux = linux
    let apple = ReachabilityEnvironment(Self.provider(linux))
    self.apple = apple
    anchor = try AppleLab.anchor(apple, in: linux.lab)
  }

  static func provider(_ linux: AppleLab) -> EngineProvider {
    EngineProvider(
      time: .system, lookup: { [names = linux.names] name, _ in names.lookUp(name) },
      makeWaiter: { time throws(SystemError) in SemaphoreWaiter(time) },
      makeSource: { [environment = linux.environment] waiter, time in
        AppleNetwork(waiter, time: time) { make in
          ReachabilityEnvironment.$assumed.withValue(environment) { make() }
        }
      })
  }

  static func b(metric: UInt32? = nil) throws -> AppleSourceLab { try AppleSourceLab(.b(metric: metric)) }

  /// Returns once Linux's own engine has decided what the kernel has announced. Otherwise both may be late alike. And
  /// of changes that end where they began, Apple's paths announce nothing, not even another address.
  func settle() async { await linux.environment.provider.engine().settled() }

  func recording(_ target: ReachabilityTarget = .internet) -> StateRecording {
    StateRecording(ReachabilityMonitor(target, environment: apple))
  }
}

/// What a monitor delivered to a plain handler, in order.
final class StateRecording: Sendable {
  let monitor: ReachabilityMonitor
  let log = Log<Reachability>()
  let observation: ReachabilityObservation

  init(_ monitor: ReachabilityMonitor) {
    self.monitor = monitor
    observation = monitor.observe { [log] in log.append($0) }
  }
}
#endif
