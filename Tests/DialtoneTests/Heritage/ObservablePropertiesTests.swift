// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Observation
import TestSupport
import Testing

/// What KSReachability's users observed by key paths: `flags`, `reachable`, `WWANOnly` and `initialized`.
@Suite(.timeLimit(.minutes(2)))
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
