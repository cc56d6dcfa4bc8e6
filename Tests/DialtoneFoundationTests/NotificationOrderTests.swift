// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Dispatch
import Foundation
import Testing

/// Which notifications are posted, how often, and in which order.
@Suite(.timeLimit(.minutes(2)))
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
    // The engine goes on meanwhile.
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
