// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// `Reachability.now` in real networks: the effects of an operation that has returned are seen at once, without a wait.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct NowTests {
  /// A network with an engine that runs, or one made for each question.
  private struct Questions {
    let lab: NetworkLab
    let monitors: LabMonitors?

    init(_ lab: NetworkLab, isEngineRunning: Bool) async throws {
      self.lab = lab
      monitors = isEngineRunning ? try LabMonitors(lab) : nil
      // The engine opens its sockets on a thread of its own. After this, it has done so.
      try await monitors?.settle()
    }

    func now(
      _ target: ReachabilityTarget = .internet, _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
    ) throws -> Reachability {
      var configuration = ReachabilityConfiguration()
      change(&configuration)
      if let monitors {
        return Reachability.now(target, configuration: configuration, environment: monitors.environment)
      }
      return try lab.run { [configuration] in
        Reachability.now(target, configuration: configuration, environment: .ofItsOwn())
      }
    }
  }

  @Test(arguments: [true, false])
  func saysAtOnceThatALinkWasSwitchedOff(isEngineRunning: Bool) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let near = ReachabilityTarget.address(try #require(IPAddress("10.0.0.2")))
    let questions = try await Questions(lab, isEngineRunning: isEngineRunning)
    try await lab.waitForCarriers()
    for _ in 0..<20 {
      #expect(try questions.now() ≈ lab.reachable("v0", via: "10.0.0.2"))
      #expect(try questions.now(near) ≈ lab.reachable("v0", flags: .isDirect))
      #expect(try questions.now(.localNetwork) { $0.interface = "v0" }.isReachable)
      try lab.down("v0")
      #expect(try questions.now() ≈ lab.unreachable(.linkDown, "v0"))
      #expect(try !questions.now(near).isReachable)
      #expect(try questions.now(.localNetwork) { $0.interface = "v0" } ≈ lab.unreachable(.linkDown, "v0"))
      try lab.up("v0")
      // The default went with the link. If the kernel has also noticed that the carrier went, it takes some time to
      // notice that it is back.
      let switchedOn = try questions.now()
      #expect([.noRoute, .noCarrier].contains(switchedOn.reason), "\(switchedOn)")
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      try await lab.waitUntilOperating("v0", true)
    }
  }

  @Test(arguments: [true, false])
  func saysAtOnceThatARouteCameAndWent(isEngineRunning: Bool) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    let questions = try await Questions(lab, isEngineRunning: isEngineRunning)
    try await lab.waitForCarriers()
    for _ in 0..<20 {
      try lab.route(.replace, "default", via: "10.1.0.2", dev: "w0")
      #expect(try questions.now() ≈ lab.reachable("w0", via: "10.1.0.2"))
      try lab.deleteRoute("default")
      #expect(try questions.now().isUnreachable(.noRoute))
      try lab.addRoute("default", kind: .prohibit)
      #expect(try questions.now().isUnreachable(.prohibited))
      try lab.deleteRoute("default", kind: .prohibit)
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      #expect(try questions.now() ≈ lab.reachable("v0", via: "10.0.0.2"))
    }
  }

  @Test(arguments: [true, false])
  func saysAtOnceThatAnAddressWent(isEngineRunning: Bool) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let questions = try await Questions(lab, isEngineRunning: isEngineRunning)
    try await lab.waitForCarriers()
    let own = try #require(IPAddress("10.0.0.1"))
    let pair = ReachabilityTarget.address(try #require(IPAddress("10.0.0.2")), from: own)
    #expect(try questions.now(.address(own)).flags.contains(.isLocalAddress))
    #expect(try questions.now(pair).isVia("v0"))
    try lab.deleteAddress("10.0.0.1/24", "v0")
    #expect(try questions.now(pair).isUnreachable(.noAddress))
    #expect(try !questions.now(.address(own)).isReachable)
    #expect(try questions.now { $0.interface = "none7" }.isUnreachable(.noInterface))
  }

  /// The question reads events, and receivers are told of them nevertheless.
  @Test func monitorsAreToldOfWhatAQuestionRead() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let none = try lab.unreachable(.noRoute)
    var expected = [v0]
    for _ in 0..<100 {
      try lab.deleteRoute("default")
      #expect(Reachability.now(environment: monitors.environment) ≈ none)
      try await internet.wait("the route has gone") { $0 ≈ none }
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      #expect(Reachability.now(environment: monitors.environment) ≈ v0)
      try await internet.wait("the route is back") { $0 ≈ v0 }
      expected += [none, v0]
    }
    #expect(internet.states ≈ expected)
  }

  /// The errors of sockets come before the kernel's events. Work that fails with such an error is judged by later
  /// events.
  @Test func workThatFailsWithItsLinkIsRunAgain() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    try await lab.waitForCarriers()
    let monitor = monitors.monitor()
    try await monitor.waitUntilReachable()
    for round in 0..<20 {
      var runs = 0
      try await monitor.retryOnPathChange(policy: .init()) {
        runs += 1
        if runs > 1 { return }
        if round.isMultiple(of: 2) {
          // There is a path all the time, but it changes.
          try lab.route(.replace, "default", via: "10.0.0.3", dev: "v0")
        } else {
          try lab.deleteRoute("default")
          Task {
            try await eventually("the engine knows") { !monitor.current.isReachable }
            try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
          }
        }
        throw LabError("the network has gone")
      }
      #expect(runs == 2)
    }
    var runs = 0
    await #expect(throws: LabError.self) {
      try await monitor.retryOnPathChange {
        runs += 1
        throw LabError("not for want of a network")
      }
    }
    #expect(runs == 1)
  }

  @Test func isDeniedIfTheSystemRefusesToSay() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deny(.netlinkSockets())
    let state = try lab.run { Reachability.now(environment: .ofItsOwn()) }
    #expect(state.status == .undetermined)
    #expect(state.reason == .denied)
  }
}
#endif
