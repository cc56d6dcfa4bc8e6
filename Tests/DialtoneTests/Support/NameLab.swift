// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport

@testable import Dialtone

/// A scripted network that counts lookups, and answers them as a test says.
final class NameLab: Sendable {
  private final class Script: Sendable {
    struct Name {
      var answer = NameLookupResult.noAddress
      /// What lookups that hang wait for.
      var latch: Latch?
      var started = 0
      var running = 0
    }

    let names = Lock<[String: Name]>([:])

    func lookUp(_ name: String) -> NameLookupResult {
      let latch = names.withLock { names in
        names[name, default: Name()].started += 1
        names[name, default: Name()].running += 1
        return names[name]?.latch
      }
      latch?.wait()
      return names.withLock { names in
        names[name, default: Name()].running -= 1
        return names[name]?.answer ?? .noAddress
      }
    }
  }

  let network = scriptedNetwork()
  let environment: ReachabilityEnvironment
  private let script = Script()

  init() {
    let base = network.environment.provider
    environment = ReachabilityEnvironment(
      EngineProvider(
        time: base.time, lookup: { [script] name, _ in script.lookUp(name) }, makeWaiter: base.makeWaiter,
        makeSource: base.makeSource))
  }

  deinit { script.names.withLock { names in for name in names.values { name.latch?.open() } } }

  func monitor(
    _ host: String, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws -> ReachabilityMonitor {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    return ReachabilityMonitor(try .host(host), configuration: configuration, environment: environment)
  }

  /// From now on, lookups of the name have this answer, including those that hang.
  func answer(_ name: String, _ answer: NameLookupResult) {
    let latch = script.names.withLock { names in
      names[name, default: .init()].answer = answer
      let latch = names[name]?.latch
      names[name]?.latch = nil
      return latch
    }
    latch?.open()
  }

  /// From now on the name's lookups hang.
  func hang(_ name: String) { script.names.withLock { $0[name, default: .init()].latch = Latch() } }

  /// How many lookups of the name have begun.
  func started(_ name: String) -> Int { script.names.withLock { $0[name]?.started ?? 0 } }

  /// How many lookups of the name are under way.
  func running(_ name: String) -> Int { script.names.withLock { $0[name]?.running ?? 0 } }

  func set(_ path: ScriptedPath) {
    network.set(path)
    wake()
  }

  func advance(by duration: Duration) {
    network.clock.advance(by: duration)
    wake()
  }

  /// Returns once everything announced before has been decided.
  func settle() async throws {
    _ = try await ReachabilityMonitor(.localNetwork, environment: environment).waitUntilKnown()
  }

  private func wake() { environment.provider.runningEngine?.wake() }
}
