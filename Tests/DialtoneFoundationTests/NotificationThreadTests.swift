// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Dispatch
import Foundation
import TestSupport
import Testing

/// On which threads notifications are posted.
@Suite(.timeLimit(.minutes(5)))
struct NotificationThreadTests {
  @Test(arguments: Posting.allCases)
  func postsOnTheMainActorOnlyIfAsked(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(network.monitor(), to: center)
    for number in 1...3 {
      network.set(.numbered(number))
      try await listener.hear(change: number)
    }
    #expect(listener.heard.allSatisfy { $0.isOnMainQueue == (posting == .mainActor) })
    withExtendedLifetime(token) {}
  }

  @Test func postsOnTheGivenQueue() async throws {
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "foundation-tests.given")
    queue.setSpecific(key: key, value: "given")
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let places = Box<[String?]>([])
    let listener = Listener(center) { _ in places.value.append(DispatchQueue.getSpecific(key: key)) }
    let token = network.monitor().postNotifications(to: center, on: queue)
    try await listener.hear(change: 1)
    #expect(places.value == ["given", "given"])
    withExtendedLifetime(token) {}
  }

  @MainActor
  @Test func listenersAddedInTheSameTurnOfTheMainActorMissNothing() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    for _ in 0..<50 {
      let center = NotificationCenter()
      let token = monitor.postNotificationsOnMainActor(to: center)
      let listener = Listener(center)
      try await listener.hear(change: 1)
      #expect(listener.names == [.reachabilityWasDetermined, .reachabilityDidChange])
      token.cancel()
    }
  }

  @MainActor
  @Test func cancelledOnTheMainActorPostsNothingMore() async throws {
    let network = ScriptedNetwork()
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listener = Listener(center)
    for round in 1...100 {
      network.set(.numbered(2 * round))
      let token = monitor.postNotificationsOnMainActor(to: center)
      network.set(.numbered(2 * round + 1))
      if round % 3 == 0 { try await listener.hear { $0.name == .reachabilityDidChange } }
      let count = listener.count
      token.cancel()
      network.set(.numbered(2 * round))
      for _ in 0..<5 { await Task.yield() }
      #expect(listener.count == count)
    }
  }
}
