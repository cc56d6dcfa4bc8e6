// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// `Reachability.blockingLookup`: for threads that may block.
@Suite(.timeLimit(.minutes(5)))
struct BlockingLookupTests {
  /// Looks the target up on a thread that may block.
  private static func lookUp(
    _ target: ReachabilityTarget, timeout: Duration = .seconds(60), _ environment: ReachabilityEnvironment
  ) async throws -> Reachability {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "dialtone-tests.blocking", qos: .utility).async {
        continuation.resume(
          with: Result { try Reachability.blockingLookup(of: target, timeout: timeout, environment: environment) })
      }
    }
  }

  @Test func looksANameUp() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.65")]), forName: "name.example")
    let state = try await Self.lookUp(.host("name.example"), network.environment)
    #expect(state.isVia("wlan0"))
    #expect(state.destination == ip("192.0.2.65"))
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test(arguments: [
    (ScriptedNames.nonexistent, Reachability.Status.unreachable), (.failing, .undetermined),
  ])
  func tellsWhatIsKnownOfANameWithoutAnAddress(names: ScriptedNames, status: Reachability.Status) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(names, forName: "name.example")
    let state = try await Self.lookUp(.host("name.example"), network.environment)
    #expect(state.status == status)
    #expect(state.reason == .nameNotResolved)
  }

  @Test func waitsForASlowLookup() async throws {
    let lab = NameLab()
    lab.set(.wifi)
    lab.hang("slow.example")
    async let state = Self.lookUp(.host("slow.example"), lab.environment)
    try await eventually("the name is looked up") { lab.running("slow.example") == 1 }
    // Monitors tell that it takes long.
    let monitor = try lab.monitor("slow.example")
    lab.advance(by: .seconds(2))
    try await eventually("it takes long") { monitor.current.isUndetermined(.nameNotResolved) }
    lab.answer("slow.example", .addresses([ip("192.0.2.65")]))
    #expect(try await state.isVia("wlan0"))
  }

  /// The system's clock measures the timeout: the environment's clock stands still here.
  @Test(arguments: [Duration.zero, .milliseconds(50)] + Duration.negative)
  func letsTheThreadGoAtItsDeadlineWhateverHangs(timeout: Duration) async throws {
    let lab = NameLab()
    lab.set(.wifi)
    lab.hang("slow.example")
    let start = ContinuousClock.now
    do {
      _ = try await Self.lookUp(.host("slow.example"), timeout: timeout, lab.environment)
      Issue.record("nothing is known")
    } catch let error as ReachabilityError {
      #expect(error.code == .timedOut)
      #expect(error.message.contains("slow.example"))
    }
    let elapsed = start.duration(to: .now)
    #expect(elapsed >= timeout)
    #expect(elapsed < .seconds(30))
    try await eventually("the engine has ended") { lab.environment.provider.runningEngine == nil }
    lab.answer("slow.example", .noAddress)
  }

  @Test(arguments: Duration.endless)
  func waitsForAsLongAsItTakes(timeout: Duration) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    #expect(try await Self.lookUp(.internet, timeout: timeout, network.environment).isVia("wlan0"))
  }

  @Test func aHandlerThatBlocksADifferentThreadDoesNotHoldItUp() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let latch = Latch()
    let asked = Counter()
    let token = network.monitor().observe(on: DispatchQueue(label: "dialtone-tests.blocked", qos: .utility)) { _ in
      asked.add()
      latch.wait()
    }
    try await eventually("it blocks") { asked.value == 1 }
    #expect(try await Self.lookUp(.localNetwork, network.environment).isVia("wlan0"))
    latch.open()
    token.cancel()
  }

  /// Plain closures run one at a time, so one of them can block the others.
  @Test func aPlainClosureThatBlocksDoesNotHoldItUp() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.65")]), forName: "name.example")
    let latch = Latch()
    let asked = Counter()
    let token = network.monitor().observe { _ in
      asked.add()
      latch.wait()
    }
    try await eventually("it blocks") { asked.value == 1 }
    for target in [ReachabilityTarget.localNetwork, try .host("name.example")] {
      #expect(try await Self.lookUp(target, timeout: .seconds(20), network.environment).isVia("wlan0"))
    }
    #expect(!latch.isOpen)
    latch.open()
    token.cancel()
  }
}
