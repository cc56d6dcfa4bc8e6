// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Dispatch
import Foundation
import TestSupport
import Testing

/// Listeners may do anything while they are notified.
@Suite(.timeLimit(.minutes(5)))
struct NotificationReentrancyTests {
  @Test(arguments: Posting.allCases)
  func listenersCanBeAddedAndRemovedInsideANotification(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listeners = Box<[Listener]>([])
    let listener = Listener(center, to: [.reachabilityDidChange]) { heard in
      guard let number = heard.state?.number else { return }
      // Adds one at odd numbers, removes all at even ones.
      listeners.value = number % 2 == 0 ? [] : listeners.value + [Listener(center), Listener(center, of: nil)]
    }
    let token = posting.begin(monitor, to: center)
    for number in 1...20 {
      network.set(.numbered(number))
      try await listener.hear(change: number)
      #expect(listeners.value.count == (number % 2 == 0 ? 0 : 2))
    }
    #expect(listener.count == 20)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases, [Notification.Name.reachabilityWasDetermined, .reachabilityDidChange])
  func cancelledInsideANotificationPostsNothingMore(posting: Posting, name: Notification.Name) async throws {
    let network = ScriptedNetwork()
    network.set(.denied)
    let monitor = network.monitor()
    let center = NotificationCenter()
    let token = Box<ReachabilityObservation?>(nil)
    let isReady = DispatchGroup()
    isReady.enter()
    let listener = Listener(center) {
      _ = isReady.wait(timeout: .now() + .seconds(30))
      if $0.name == name { token.value?.cancel() }
    }
    token.value = posting.begin(monitor, to: center)
    isReady.leave()
    try await listener.hear { $0.state?.reason == .denied }
    if name == .reachabilityDidChange {
      #expect(listener.names == [.reachabilityDidChange])
    } else {
      network.set(.numbered(1))
      try await listener.hear { $0.name == name }
      #expect(listener.names == [.reachabilityDidChange, .reachabilityWasDetermined])
    }
    let count = listener.count
    try await heardByAnother(monitor, network, posting)
    #expect(listener.count == count)
  }

  @Test(arguments: Posting.allCases)
  func releasedInsideANotificationPostsNothingMore(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.denied)
    let monitor = network.monitor()
    let center = NotificationCenter()
    let token = Box<ReachabilityObservation?>(nil)
    let listener = Listener(center) { if $0.name == .reachabilityWasDetermined { token.value = nil } }
    token.value = posting.begin(monitor, to: center)
    try await listener.hear { $0.state?.reason == .denied }
    network.set(.numbered(1))
    try await listener.hear { $0.name == .reachabilityWasDetermined }
    try await heardByAnother(monitor, network, posting)
    #expect(listener.names == [.reachabilityDidChange, .reachabilityWasDetermined])
  }

  @Test(arguments: Posting.allCases)
  func registrationsCanBeMadeInsideANotification(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let other = NotificationCenter()
    let inner = Listener(other)
    let tokens = Box<[ReachabilityObservation]>([])
    let center = NotificationCenter()
    let listener = Listener(center, to: [.reachabilityWasDetermined]) { [weak monitor] _ in
      if let monitor { tokens.value.append(posting.begin(monitor, to: other)) }
    }
    let token = posting.begin(monitor, to: center)
    try await inner.hear(change: 1)
    #expect(inner.names == [.reachabilityWasDetermined, .reachabilityDidChange])
    #expect(listener.count == 1)
    withExtendedLifetime(token) {}
  }

  @Test func listenersAndRegistrationsComeAndGoOnManyThreads() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listener = Listener(center, to: [.reachabilityDidChange])
    let token = monitor.postNotifications(to: center)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<50 {
            let posting = Posting.allCases[(worker + round) % Posting.allCases.count]
            let name = Notification.Name("worker\(worker)")
            let own = Listener(center, to: [name])
            let token = posting.begin(monitor, to: center, named: name, whenDetermined: name)
            network.set(.numbered(2 + round))
            if round % 2 == 0 { token.cancel() }
            withExtendedLifetime((own, token)) {}
          }
        }
      }
    }
    network.set(.numbered(1_000))
    try await listener.hear(change: 1_000)
    let numbers = listener.heard.map { $0.state?.number }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 != $1 })
    withExtendedLifetime(token) {}
  }

  /// Registers anew, changes the state, and returns once that change is posted.
  private func heardByAnother(
    _ monitor: ReachabilityMonitor, _ network: ScriptedNetwork, _ posting: Posting
  ) async throws {
    let center = NotificationCenter()
    let control = Listener(center)
    let token = posting.begin(monitor, to: center)
    network.set(.numbered(99))
    try await control.hear(change: 99)
    try await network.settle()
    withExtendedLifetime(token) {}
  }
}
