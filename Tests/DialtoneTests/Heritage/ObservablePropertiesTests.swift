// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Observation
import TestSupport
import Testing

/// What KSReachability's users observed by key paths: `flags`, `reachable`, `WWANOnly` and `initialized`.
@Suite(.timeLimit(.minutes(5)))
struct ObservablePropertiesTests {
  @Test @MainActor
  func observersOfEveryPropertyAreTold() async throws {
    let network = scriptedNetwork()
    network.set(.hanging, forName: "example.com")
    network.set(.cellular)
    let observable = ObservableReachability(try .host("example.com"), environment: network.environment)
    #expect(!observable.isDetermined && !observable.isReachable && !observable.flags.isCellularOnly)
    #expect(observable.flags.isEmpty)

    let isDetermined = Self.follow { observable.isDetermined }
    let isReachable = Self.follow { observable.isReachable }
    let isCellular = Self.follow { observable.flags.isCellularOnly }
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    for log in [isDetermined, isReachable, isCellular] { try await eventually("it is true") { log.last == true } }
    #expect(observable.flags == [.reachable, .isWWAN, .transientConnection])

    network.set(.wifi)
    try await eventually("it is cellular no more") { isCellular.last == false }
    #expect(isDetermined.last == true && isReachable.last == true)
    network.set(.unreachable())
    try await eventually("it is reachable no more") { isReachable.last == false }
    #expect(isDetermined.last == true)
    #expect(observable.flags.isEmpty)
  }

  /// KVO notified of `reachable` and `WWANOnly` only when they changed, and of `flags` when these did.
  @Test @MainActor
  func anObserverOfOnePropertyIsToldWhenItChangesAndOfNothingElse() async throws {
    let network = scriptedNetwork()
    network.set(.unreachable())
    let observable = ObservableReachability(network.monitor())
    try await eventually("it is known") { observable.isDetermined }
    let isReachable = Self.follow { observable.isReachable }
    let isDetermined = Self.follow { observable.isDetermined }
    let isCellularOnly = Self.follow { observable.isCellularOnly }
    let hasFlags = Self.follow { !observable.flags.isEmpty }
    let reasons = Self.follow { observable.reason == .noCarrier }
    let states = Self.follow { observable.current.reason == nil }
    let silent: [ScriptedPath] = [
      .unreachable(.noCarrier), .unreachable(.noAddress), .requiresConnection(.dormant, over: interface("wlan0")),
      .unreachable(.noCarrier),
    ]
    for (position, path) in silent.enumerated() {
      network.set(path)
      try await eventually("the state's observer is told") { states.count == position + 2 }
    }
    #expect(isReachable.all == [false])
    #expect(isDetermined.all == [true])
    #expect(isCellularOnly.all == [false])
    #expect(hasFlags.all == [false, true, false])
    #expect(reasons.all == [false, true, false, false, true])
    network.set(.cellular)
    try await eventually("all that changed is told") { isReachable.count == 2 && isCellularOnly.count == 2 }
    #expect(isReachable.all == [false, true] && isCellularOnly.all == [false, true])
    #expect(isDetermined.all == [true])
  }

  /// A source that rotates is no change. Another interface or gateway does not change whether the target is reachable.
  @Test @MainActor
  func aViewOfOnePropertyIsNotDrawnAgainWhenOthersChange() async throws {
    let network = scriptedNetwork()
    func set(_ name: String, gateway: String, source: String) {
      network.set(.reachable(over: interface(name), gateway: ip(gateway), source: ip(source)))
    }
    set("wlan0", gateway: "192.0.2.1", source: "192.0.2.2")
    let monitor = network.monitor()
    let observable = ObservableReachability(monitor)
    try await eventually("it is known") { observable.isReachable }
    let isReachable = Self.follow { observable.isReachable }
    let flags = Self.follow { observable.flags.contains(.reachable) }
    let gateways = Self.follow { observable.gateway == ip("192.0.2.1") }
    let sources = Self.follow { observable.source == ip("192.0.2.2") }
    let states = Self.follow { observable.current.isReachable }
    set("wlan0", gateway: "192.0.2.1", source: "192.0.2.3")
    try await eventually("the source is read along") { monitor.current.source == ip("192.0.2.3") }
    set("wlan1", gateway: "192.0.2.1", source: "192.0.2.3")
    try await eventually("another interface") { observable.interface?.name == "wlan1" && states.count == 2 }
    set("wlan1", gateway: "192.0.2.9", source: "192.0.2.3")
    try await eventually("another gateway") { gateways.all == [true, false] && states.count == 3 }
    #expect(isReachable.all == [true] && flags.all == [true] && sources.all == [true, false])
    network.set(.unreachable())
    try await eventually("all are told") { isReachable.count == 2 && flags.count == 2 && states.count == 4 }
    #expect(isReachable.all == [true, false])
  }

  /// Records the property now and after each change, as a view that shows it does.
  @MainActor
  private static func follow(_ property: @escaping @MainActor () -> Bool, in log: Log<Bool> = Log()) -> Log<Bool> {
    log.append(
      withObservationTracking {
        property()
      } onChange: {
        Task { @MainActor in _ = follow(property, in: log) }
      })
    return log
  }
}
