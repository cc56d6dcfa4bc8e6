// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import TestSupport
import Testing

/// How long notifications are posted, and what that keeps alive.
@Suite(.timeLimit(.minutes(5)))
struct NotificationLifetimeTests {
  @Test(arguments: Posting.allCases)
  func aRegistrationKeepsTheMonitorAndItsReleaseEndsBoth(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let listener = Listener(center)
    weak var monitor: ReachabilityMonitor?
    var token: ReachabilityObservation?
    do {
      let made = network.monitor()
      monitor = made
      token = posting.begin(made, to: center)
    }
    try await listener.hear(change: 1)
    network.set(.numbered(2))
    try await listener.hear(change: 2)
    #expect(monitor != nil)
    withExtendedLifetime(token) {}
    token = nil
    // While a notification is being posted, it keeps the monitor.
    try await eventually("the monitor is released") { monitor == nil }
    network.set(.numbered(3))
    try await network.settle()
    #expect(listener.count == 3)
  }

  @Test(arguments: Posting.allCases)
  func aReleasedRegistrationPostsNothing(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let center = NotificationCenter()
    let listener = Listener(center)
    do {
      let token = posting.begin(monitor, to: center)
      try await listener.hear(change: 1)
      withExtendedLifetime(token) {}
    }
    let other = NotificationCenter()
    let control = Listener(other)
    let token = posting.begin(monitor, to: other)
    network.set(.numbered(2))
    try await control.hear(change: 2)
    #expect(listener.count == 2)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func theMonitorMayBeReleasedInsideANotification(posting: Posting) async throws {
    let network = ScriptedNetwork()
    let center = NotificationCenter()
    let held = Box<(monitor: ReachabilityMonitor, token: ReachabilityObservation)?>(nil)
    let listener = Listener(center) { if $0.name == .reachabilityWasDetermined { held.value = nil } }
    weak var gone: ReachabilityMonitor?
    network.set(.denied)
    do {
      let monitor = network.monitor()
      gone = monitor
      held.value = (monitor, posting.begin(monitor, to: center))
    }
    try await listener.hear { $0.state?.reason == .denied }
    network.set(.numbered(1))
    try await listener.hear { $0.name == .reachabilityWasDetermined }
    try await eventually("the monitor is released") { gone == nil }
    #expect(listener.names == [.reachabilityDidChange, .reachabilityWasDetermined])
  }

  @Test(arguments: Posting.allCases)
  func theCenterIsReleasedWithTheRegistration(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    weak var gone: NotificationCenter?
    do {
      let center = NotificationCenter()
      gone = center
      let listener = Listener(center)
      let token = posting.begin(monitor, to: center)
      try await listener.hear(change: 1)
      token.cancel()
    }
    try await eventually("the center is released") { gone == nil }
  }
}
