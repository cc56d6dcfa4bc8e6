// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Promise 8: a denied state reads as undetermined with a reason, never as reachable.
@Suite(.timeLimit(.minutes(5)))
struct Promise8DeniedTests {
  private static let targets: [ReachabilityTarget] = [
    .internet, .localNetwork, .localNetwork(.wifi), .address(ip("192.0.2.1")), .address(ip("2001:db8::1")),
    .address(ip("192.0.2.1"), from: ip("192.0.2.2")),
  ]

  @Test(arguments: Receiver.allCases)
  func deniedIsDeliveredExactlyOnce(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("denied") { $0.isUndetermined(.denied) }
    for _ in 0..<10 {
      network.set(.denied)
      network.clock.advance(by: .seconds(600))
      try await network.settle()
    }
    #expect(log.count == 1)
    #expect(!monitor.current.isReachable)
    #expect(!monitor.current.flags.contains(.reachable))
    network.set(.wifi)
    try await log.wait("no longer denied") { $0.isReachable }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test(arguments: targets)
  func everyTargetReadsAsDenied(target: ReachabilityTarget) async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let state = try await network.monitor(target).waitUntilKnown()
    #expect(state.isUndetermined(.denied))
    #expect(state.flags.isEmpty)
    #expect(state.interface == nil)
  }

  @Test func aHostReadsAsDeniedWithAddressesAndWithout() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    network.set(.addresses([ip("192.0.2.7"), ip("2001:db8::7")]), forName: "known.example")
    network.set(.failing, forName: "failing.example")
    for name in ["known.example", "failing.example"] {
      #expect(try await network.monitor(try .host(name)).waitUntilKnown().isUndetermined(.denied))
    }
  }

  @Test func deniedDoesNotHideAnAnswerThatIsKnown() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    network.set(.wifi, for: ip("192.0.2.7"))
    network.set(.addresses([ip("2001:db8::7"), ip("192.0.2.7")]), forName: "both.example")
    #expect(try await network.monitor(try .host("both.example")).waitUntilKnown().isVia("wlan0"))
  }

  @Test(arguments: [
    (EMFILE, Reachability.Reason.outOfDescriptors), (ENFILE, .outOfDescriptors), (ENOMEM, .outOfMemory),
    (EPERM, .denied),
  ])
  func withoutAnEngineTheReasonSaysWhatIsShort(errno: CInt, reason: Reachability.Reason) async throws {
    let waiters = ScarceWaiters()
    waiters.errno = errno
    let network = waiters.network()
    let (monitor, path, now) = waiters.withoutMore {
      (
        network.monitor(), PathMonitor(environment: network.environment),
        Reachability.now(environment: network.environment)
      )
    }
    #expect(monitor.current.isUndetermined(reason) && monitor.current.isDenied)
    #expect(path.current.reason == reason && path.current.isDenied)
    #expect(now.isUndetermined(reason))
    let error = await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilDetermined() }
    #expect(error?.code == .denied && "\(String(describing: error))".contains("\(reason)"))
  }

  @Test func withoutAnEngineAllReceiversAreToldOnceAndNothingHangs() async throws {
    let waiters = ScarceWaiters()
    let monitor = waiters.withoutMore { waiters.network().monitor() }
    #expect(monitor.current.isUndetermined(.outOfDescriptors))
    let logs = Receiver.allCases.map { _ in Log<Reachability>() }
    var receptions: [Reception] = []
    for (receiver, log) in zip(Receiver.allCases, logs) {
      receptions.append(await receiver.follow(monitor) { log.append($0) })
    }
    for log in logs { try await log.wait("denied") { $0.isUndetermined(.outOfDescriptors) } }
    #expect(logs.allSatisfy { $0.count == 1 })
    #expect(try await monitor.waitUntilKnown().isUndetermined(.outOfDescriptors))
    #expect(try await monitor.waitUntilKnown(timeout: .seconds(60)).isUndetermined(.outOfDescriptors))
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await monitor.waitUntilReachable(timeout: .milliseconds(1))
    }
    withExtendedLifetime(receptions) {}
  }
}
