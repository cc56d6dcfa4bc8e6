// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Scripted names in a user's test.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ScriptedNamesTests {
  @Test func aNameThatNothingWasSetForDoesNotExist() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = ReachabilityMonitor(try .host("nobody.example"), environment: network.environment)
    #expect(try await monitor.waitUntilKnown().reason == .nameNotResolved)
  }

  @Test(arguments: ["Name.Example", "name.example."])
  func caseAndTrailingDotDoNotMatter(text: String) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.1")]), forName: "name.example")
    network.set(.nonexistent, forName: "other.example.")
    let monitor = ReachabilityMonitor(try .host(text), environment: network.environment)
    #expect(try await monitor.waitUntilKnown().isReachable)
  }

  @Test(arguments: ["bücher.example", "xn--bcher-kva.example", "Bücher.example."])
  func aNameWithLettersOutsideASCIIHasTwoForms(set name: String) async throws {
    for text in ["bücher.example", "xn--bcher-kva.example"] {
      let network = scriptedNetwork()
      network.set(.wifi)
      network.set(.addresses([ip("192.0.2.1")]), forName: name)
      let monitor = ReachabilityMonitor(try .host(text), environment: network.environment)
      #expect(try await monitor.waitUntilKnown().isReachable)
    }
  }

  @Test func aNewAnswerIsTakenUpOnceTimePasses() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.1")]), forName: "name.example")
    let monitor = ReachabilityMonitor(try .host("name.example"), environment: network.environment)
    try await monitor.waitUntilReachable()
    network.set(.nonexistent, forName: "name.example")
    network.clock.advance(by: .seconds(1))
    try await eventually("the new answer") { monitor.current.reason == .nameNotResolved }
  }

  /// More names hang than a process has threads for lookups.
  @Test func whatDoesNotHangIsDecidedOnceTheNetworkHasSettled() async throws {
    for _ in 0..<50 {
      let network = scriptedNetwork()
      network.set(.wifi)
      let hanging = try (0..<12).map { number in
        network.set(.hanging, forName: "slow\(number).example")
        return network.monitor(try .host("slow\(number).example"))
      }
      network.set(.addresses([ip("192.0.2.1")]), forName: "name.example")
      let monitor = network.monitor(try .host("name.example"))
      try await network.settle()
      #expect(monitor.current.isVia("wlan0"))
      #expect(hanging.allSatisfy { $0.current.status == .undetermined && $0.current.reason == nil })
      network.set(.nonexistent, forName: "name.example")
      network.clock.advance(by: .seconds(1))
      try await network.settle()
      #expect(monitor.current.isUnreachable(.nameNotResolved))
      #expect(hanging.allSatisfy { $0.current.isUndetermined(.nameNotResolved) })
      network.set(.addresses([ip("192.0.2.1")]), forName: "slow7.example")
      try await network.settle()
      #expect(hanging[7].current.isVia("wlan0"))
    }
  }

  @Test func aHangingNameIsAnsweredWhenItIsSet() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = ReachabilityMonitor(try .host("slow.example"), environment: network.environment)
    network.clock.advance(by: .seconds(1))
    #expect(monitor.current.reason == nil)
    network.set(.addresses([ip("192.0.2.1")]), forName: "slow.example")
    try await monitor.waitUntilReachable()
  }

  #if os(Linux)
  @Test func namesThatHangInOneNetworkDelayNoOther() async {
    await #expect(processExitsWith: .success) {
      let networks = (0..<12).map { _ in scriptedNetwork() }
      let monitors = try networks.map { network in
        network.set(.hanging, forName: "slow.example")
        return ReachabilityMonitor(try .host("slow.example"), environment: network.environment)
      }
      let other = scriptedNetwork()
      other.set(.wifi)
      other.set(.addresses([ip("192.0.2.1")]), forName: "slow.example")
      let monitor = ReachabilityMonitor(try .host("slow.example"), environment: other.environment)
      try await eventually("it is answered") { monitor.current.isReachable }
      withExtendedLifetime(monitors) {}
    }
  }
  #endif
}
