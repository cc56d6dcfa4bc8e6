// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// An engine stays in the network namespace of the thread that made its first monitor, whichever thread asks.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)), .threadsApart)
struct NamespaceTests {
  private static let far = "2001:db8:ffff::1"

  /// Without a source there is no route to `far`, so connect(2) is asked: from the source that it chooses, there is.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    for words in [
      "-6 rule add from 2001:db8:a::1 lookup 100", "-6 route add default via 2001:db8:a::2 dev v0 table 100",
    ] {
      let result = try lab.ip(words)
      try #require(result.status == 0, "ip \(words): \(result.error)")
    }
    return lab
  }

  @Test("a thread of another namespace asks: the answer is that of connect(2) in the first", arguments: [nil, "v0"])
  func aQuestionFromElsewhereIsAboutTheFirstNamespace(interface: String?) async throws {
    let (lab, other) = (try await makeLab(), try NetworkLab())
    let monitors = try LabMonitors(lab)
    try await monitors.settle()
    var connection = LabConnection(to: Self.far)
    connection.interface = interface
    let outcome = try lab.connect(connection)
    #expect(outcome.source == "2001:db8:a::1" && outcome.link == "v0", "\(outcome)")
    let target = ReachabilityTarget.address(try address(Self.far))
    var configuration = ReachabilityConfiguration()
    configuration.interface = interface
    let fromElsewhere = try other.run { [configuration] in
      Reachability.now(target, configuration: configuration, environment: monitors.environment)
    }
    #expect(fromElsewhere.isVia("v0"), "\(fromElsewhere)")
    // What is asked afterwards is asked by the same sockets.
    let internet = try await monitors.record(target) { $0.interface = interface }
    #expect(internet.last?.isVia("v0") ?? false, "\(internet.states)")
  }

  @Test("a thread of another namespace asks before the engine has opened anything: it opens nothing either")
  func nothingIsOpenedElsewhere() async throws {
    let (lab, other) = (try NetworkLab(), try NetworkLab())
    try lab.makeB()
    let home = try lab.run { FileIdentity(at: "/proc/thread-self/ns/net") }
    let openedElsewhere = Atomic(0)
    for _ in 0..<200 {
      let environment = ReachabilityEnvironment(
        EngineProvider(
          time: .system, lookup: systemNameLookup, makeWaiter: systemWaiter,
          makeSource: { waiter, time in
            if FileIdentity(at: "/proc/thread-self/ns/net") != home { openedElsewhere.add(1, ordering: .relaxed) }
            return systemNetworkSource(waiter, time)
          }))
      // The threads begin on another processor meanwhile.
      let engine = try lab.run { environment.provider.engine() }
      let state = try other.run { Reachability.now(environment: environment) }
      #expect(state.isVia("v0"), "\(state)")
      withExtendedLifetime(engine) {}
    }
    #expect(openedElsewhere.load(ordering: .relaxed) == 0)
  }

  @Test("a thread of another namespace notices closed descriptors: nothing is known until one of the first asks")
  func closedDescriptorsAreReplacedInTheFirstNamespace() async throws {
    await #expect(processExitsWith: .success) {
      let (lab, other) = (try NetworkLab(), try NetworkLab())
      try lab.makeB()
      try await openRuntimeDescriptors()
      let before = Self.descriptors
      let monitors = try LabMonitors(lab, waiter: .epoll)
      let internet = try await monitors.record()
      try await eventually("the engine sleeps") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
      for descriptor in Self.descriptors.subtracting(before) { close(descriptor) }
      let monitor = internet.monitor
      try other.run {
        monitor.target = .address(try address("10.0.0.2"))
        monitor.target = .internet
      }
      try await internet.wait("nothing is known") { $0.status == .undetermined && $0.reason == .denied }
      let fromElsewhere = try other.run { Reachability.now(environment: monitors.environment) }
      #expect(fromElsewhere.status == .undetermined, "\(fromElsewhere)")
      let fromHome = try lab.run { Reachability.now(environment: monitors.environment) }
      #expect(fromHome.isVia("v0"), "\(fromHome)")
      try await internet.wait("known again") { $0.isVia("v0") }
      // Never what the other one is like.
      #expect(!internet.states.contains { $0.status == .unreachable }, "\(internet.states)")
      try lab.down("v0")
      try await internet.wait("announced") { $0.isUnreachable(.linkDown) }
    }
  }

  private static var descriptors: Set<CInt> { Set((0..<1_024).filter { FileIdentity($0) != nil }) }
}
#endif
