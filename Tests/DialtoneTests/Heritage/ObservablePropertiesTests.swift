// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Observation
import TestSupport
import Testing

/// What KSReachability's users observed by key paths: `flags`, `reachable`, `WWANOnly` and `initialized`.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct ObservablePropertiesTests {
  @Test @MainActor
  func observersOfEveryPropertyAreTold() async throws {
    let network = ScriptedNetwork()
    network.set(.hanging, forName: "example.com")
    network.set(.cellular)
    let observable = ObservableReachability(try .host("example.com"), environment: network.environment)
    let properties: [@MainActor () -> Bool] = [
      { observable.isDetermined }, { observable.isReachable }, { observable.flags.isCellularOnly },
    ]
    #expect(properties.map { $0() } == [false, false, false])
    #expect(observable.flags.isEmpty)

    let told = properties.map { property in Self.follow(property) }
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    for log in told { try await eventually("it is true") { log.last == true } }
    #expect(observable.flags == [.reachable, .isWWAN, .transientConnection])

    network.set(.wifi)
    try await eventually("it is cellular no more") { told[2].last == false }
    #expect(told[0].last == true && told[1].last == true)
    network.set(.unreachable())
    try await eventually("it is reachable no more") { told[1].last == false }
    #expect(told[0].last == true)
    #expect(observable.flags.isEmpty)
  }

  /// KVO told of `reachable` and `WWANOnly` only when they changed, and of `flags` when these did.
  @Test @MainActor
  func anObserverOfOnePropertyIsToldWhenItChangesAndOfNothingElse() async throws {
    let network = ScriptedNetwork()
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

  /// Notes the property now and after each change, as a view that shows it does.
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
