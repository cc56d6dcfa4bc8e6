// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneFoundation
import DialtoneTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Dialtone

/// Which notifications are posted, how often, and in which order.
@Suite(.timeLimit(.minutes(5)))
struct NotificationOrderTests {
  @Test(arguments: Posting.allCases)
  func wasDeterminedComesOnceAndBeforeTheFirstChange(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(network.monitor(), to: center)
    for number in 1...5 {
      network.set(.numbered(number))
      try await listener.hear(change: number)
    }
    #expect(listener.names == [.reachabilityWasDetermined] + Array(repeating: .reachabilityDidChange, count: 5))
    #expect(listener.heard.map { $0.state?.number } == [1, 1, 2, 3, 4, 5])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func bothAreAlsoPostedForARegistrationMadeAfterwards(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(monitor, to: center)
    try await listener.hear(change: 1)
    try await network.settle()
    #expect(listener.names == [.reachabilityWasDetermined, .reachabilityDidChange])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func undeterminedForAReasonIsAChangeAndNotDetermined(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.denied)
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(network.monitor(), to: center)
    try await listener.hear { $0.state?.reason == .denied }
    #expect(listener.names == [.reachabilityDidChange])
    network.set(.numbered(1))
    try await listener.hear(change: 1)
    network.set(.denied)
    try await listener.hear { $0.state?.reason == .denied }
    network.set(.numbered(2))
    try await listener.hear(change: 2)
    #expect(
      listener.names == [
        .reachabilityDidChange, .reachabilityWasDetermined, .reachabilityDidChange, .reachabilityDidChange,
        .reachabilityDidChange,
      ])
    withExtendedLifetime(token) {}
  }

  /// A new target corresponds to a new observer of RKReachabilityObserver.
  @Test(arguments: Posting.allCases)
  func wasDeterminedComesOnceMoreForEachNewTarget(posting: Posting) async throws {
    let (second, third) = (try #require(IPAddress("192.0.2.2")), try #require(IPAddress("192.0.2.3")))
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    network.set(.failing, forName: "name.example")
    network.set(.numbered(2), for: second)
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(monitor, to: center)
    try await listener.hear(change: 1)
    // Another state.
    monitor.target = .address(second)
    try await listener.hear(change: 2)
    // An equal state: it is determined nevertheless, but no change.
    network.set(.numbered(2), for: third)
    monitor.target = .address(third)
    try await listener.hear { $0.name == .reachabilityWasDetermined }
    // A name that cannot be looked up for now is not determined.
    monitor.target = try .host("name.example")
    try await listener.hear { $0.state?.reason == .nameNotResolved }
    // Neither a pause nor the same target is a new target.
    monitor.target = .address(second)
    try await listener.hear(change: 2)
    monitor.pause()
    monitor.resume()
    monitor.target = .address(second)
    network.set(.numbered(3), for: second)
    try await listener.hear(change: 3)
    let heard = listener.heard.map {
      ($0.name == .reachabilityWasDetermined ? "determined " : "change ") + Self.words($0)
    }
    #expect(
      heard == [
        "determined 1", "change 1", "determined 2", "change 2", "determined 2", "change none", "determined 2",
        "change 2", "change 3",
      ])
    withExtendedLifetime(token) {}
  }

  private static func words(_ heard: Listener.Heard) -> String { heard.state?.number.map(String.init) ?? "none" }

  @Test(arguments: Posting.allCases)
  func equalStatesArePostedOnce(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(network.monitor(), to: center)
    try await listener.hear(change: 1)
    for _ in 0..<10 { network.set(.numbered(1)) }
    try await network.settle()
    network.set(.numbered(2))
    try await listener.hear(change: 2)
    #expect(listener.count == 3)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func aListenerThatBlocksMissesStatesBetweenAndNeverTheLast(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let center = NotificationCenter()
    let isBlocked = DispatchGroup()
    isBlocked.enter()
    let listener = Listener(center, to: [.reachabilityDidChange]) { heard in
      if heard.state?.number == 1 { _ = isBlocked.wait(timeout: .now() + .seconds(30)) }
    }
    let token = posting.begin(monitor, to: center)
    let updates = Task { for await state in monitor.updates where state.number == 100 { return } }
    for number in 2...100 { network.set(.numbered(number)) }
    // Meanwhile the engine goes on.
    await updates.value
    isBlocked.leave()
    try await listener.hear(change: 100)
    let numbers = listener.heard.compactMap { $0.state?.number }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers).count == numbers.count)
    #expect(numbers.last == 100)
    withExtendedLifetime(token) {}
  }
}
