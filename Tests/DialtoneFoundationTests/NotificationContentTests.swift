// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import TestSupport
import Testing

/// What a notification contains, its name, and its center.
@Suite(.timeLimit(.minutes(5)))
struct NotificationContentTests {
  @Test(arguments: Posting.allCases)
  func carriesTheMonitorTheStateAndTheFlags(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.cellular)
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listener = Listener(center)
    let token = posting.begin(monitor, to: center)
    let change = try await listener.hear { $0.name == .reachabilityDidChange }
    #expect(change.state == monitor.current)
    #expect(change.state?.interface?.kind == .cellular)
    #expect(change.flags == [.reachable, .isWWAN, .transientConnection])
    // SCNetworkReachability.h: transientConnection is bit 0, reachable bit 1, isWWAN bit 18.
    #expect(change.flagsNumber == 0x4_0003)
    #expect(change.monitor == ObjectIdentifier(monitor))
    let determined = try #require(listener.heard.first)
    #expect(determined.state == change.state)
    #expect(determined.flags == change.flags)
    #expect(determined.monitor == change.monitor)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [false, true])
  func aPropertyThatHasNotChangedIsNotPosted(isOnMainActor: Bool) async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable(.noCarrier))
    let monitor = network.monitor()
    let center = NotificationCenter()
    let listener = Listener(center, to: [.reachabilityDidChange])
    let all = Listener(center, to: [Notification.Name("all")])
    let everything = monitor.postNotifications(to: center, named: Notification.Name("all"))
    let token =
      isOnMainActor
      ? monitor.postNotificationsOnMainActor(of: \.flags, to: center)
      : monitor.postNotifications(of: \.flags, to: center)
    try await listener.hear { $0.flags == [] }
    try await all.hear { $0.state?.reason == .noCarrier }
    network.set(.unreachable(.linkDown))
    try await all.hear { $0.state?.reason == .linkDown }
    network.set(.wired)
    try await listener.hear { $0.flags == .reachable }
    #expect(listener.heard.map(\.flags) == [[], .reachable])
    withExtendedLifetime((token, everything)) {}
  }

  @Test func userInfoIsReadByItsKeys() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let center = NotificationCenter()
    let read = Box<[String]>([])
    let old = center.addObserver(forName: .reachabilityDidChange, object: monitor, queue: nil) { notification in
      let keys = notification.userInfo?.keys.compactMap { $0 as? String }.sorted() ?? []
      let flags = notification.userInfo?[ReachabilityNotificationKey.flags] as? ReachabilityFlags
      // This is how a listener of the older libraries reads it.
      let number = notification.userInfo?[ReachabilityNotificationKey.flagsNumber] as? NSNumber
      read.value = keys + [flags?.description ?? "no flags", number.map { "\($0.uint32Value)" } ?? "no number"]
    }
    let listener = Listener(center)
    let token = monitor.postNotifications(to: center)
    network.set(.wired)
    try await listener.hear { $0.state?.interface?.kind == .wired && $0.name == .reachabilityDidChange }
    token.cancel()
    center.removeObserver(old)
    #expect(
      read.value == [
        "DialtoneReachability", "DialtoneReachabilityFlags", "DialtoneReachabilityFlagsNumber", "-R -------", "2",
      ])
  }

  @Test func thereIsNoStateInNotificationsOfOthers() {
    for notification in [
      Notification(name: Notification.Name("other")),
      Notification(name: .reachabilityDidChange, object: "a text", userInfo: ["DialtoneReachability": 1]),
    ] {
      #expect(notification.reachability == nil)
    }
  }

  @Test(arguments: Posting.allCases)
  func namesCanBeChosen(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let changed = Notification.Name("uplinkDidChange")
    let determined = Notification.Name("uplinkWasDetermined")
    let listener = Listener(center, to: [changed, determined])
    let standard = Listener(center)
    let token = posting.begin(network.monitor(), to: center, named: changed, whenDetermined: determined)
    try await listener.hear { $0.name == changed }
    #expect(listener.names == [determined, changed])
    #expect(standard.names.isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func eachCenterHearsOnlyOfItsOwnRegistration(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let (cancelled, kept, unused) = (NotificationCenter(), NotificationCenter(), NotificationCenter())
    let (short, long, none) = (Listener(cancelled), Listener(kept), Listener(unused))
    let (shortToken, longToken) = (posting.begin(monitor, to: cancelled), posting.begin(monitor, to: kept))
    for listener in [short, long] { try await listener.hear(change: 1) }
    shortToken.cancel()
    network.set(.numbered(2))
    try await long.hear(change: 2)
    try await network.settle()
    #expect(short.count == 2 && long.count == 3 && none.count == 0)
    withExtendedLifetime(longToken) {}
  }

  @Test func theDefaultCenterIsTheDefault() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let listener = Listener(.default, of: monitor)
    let token = monitor.postNotifications()
    try await listener.hear(change: 1)
    #expect(listener.names == [.reachabilityWasDetermined, .reachabilityDidChange])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Posting.allCases)
  func aListenerToOneMonitorDoesNotHearOthers(posting: Posting) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let monitors = [network.monitor(), network.monitor(.localNetwork)]
    let listeners = monitors.map { Listener(center, of: $0) }
    let tokens = monitors.map { posting.begin($0, to: center) }
    for number in 2...4 {
      network.set(.numbered(number))
      for listener in listeners { try await listener.hear(change: number) }
    }
    for (monitor, listener) in zip(monitors, listeners) {
      #expect(listener.heard.allSatisfy { $0.monitor == ObjectIdentifier(monitor) })
    }
    withExtendedLifetime(tokens) {}
  }
}
