// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleSource
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The promises of monitors, over the source for Apple's platforms.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ApplePromiseTests {
  @Test("the known state comes first, then each change, never two equal ones in a row")
  func tellsEachChangeOnce() async throws {
    let lab = try AppleSourceLab.b(metric: 100)
    let recording = lab.recording()
    try await recording.log.wait("over v0") { $0.interface?.name == "v0" }
    try lab.linux.lab.makeW(metric: 50)
    try await recording.log.wait("over w0") { $0.interface?.name == "w0" }
    try lab.linux.lab.down("w0")
    try await recording.log.wait("over v0 again") { $0.interface?.name == "v0" }
    try lab.linux.lab.down("v0")
    try await recording.log.wait("lost") { $0.status == .unreachable }
    let states = recording.log.all
    #expect(!states.contains { !$0.isDetermined })
    #expect(zip(states, states.dropFirst()).allSatisfy { !$0.isSameState(as: $1) })
    #expect(recording.monitor.current ≈ states.last)
    #expect(states.last?.reason == .noRoute, "Apple tells no reason")
  }

  @Test("after the cancellation nothing comes")
  func endsWithTheCancellation() async throws {
    let lab = try AppleSourceLab.b()
    let recording = lab.recording()
    try await recording.log.wait("a state") { $0.isReachable }
    recording.observation.cancel()
    let before = recording.log.count
    try lab.linux.lab.down("v0")
    let witness = lab.recording()
    try await witness.log.wait("the witness sees the change") { $0.status == .unreachable }
    #expect(recording.log.count == before)
  }

  @Test("a paused monitor knows nothing, and goes on where the network is")
  func pausesAndResumes() async throws {
    let lab = try AppleSourceLab.b()
    let recording = lab.recording()
    try await recording.log.wait("a state") { $0.isReachable }
    recording.monitor.pause()
    #expect(!recording.monitor.current.isDetermined)
    try lab.linux.lab.down("v0")
    recording.monitor.resume()
    try await recording.log.wait("the change, after the pause") { $0.status == .unreachable }
  }

  @Test("waits end with the change, or with their time")
  func waits() async throws {
    let lab = try AppleSourceLab.b()
    try lab.linux.lab.down("v0")
    // The path is announced: before that, the last one counts.
    let recording = lab.recording()
    try await recording.log.wait("lost") { $0.status == .unreachable }
    let monitor = recording.monitor
    await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilReachable(timeout: .milliseconds(50)) }
    let wait = Task { try await monitor.waitUntilReachable(timeout: .patience) }
    try lab.linux.lab.up("v0")
    try lab.linux.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    #expect(try await wait.value.isReachable)
  }

  @Test("changes of an address alone are told, the default path being the same")
  func tellsOfOneAddress() async throws {
    let lab = try AppleSourceLab.b()
    let address = try #require(IPAddress("192.0.2.7"))
    let recording = lab.recording(.address(address))
    try await recording.log.wait("over v0") { $0.interface?.name == "v0" }
    try lab.linux.lab.makeW()
    try lab.linux.lab.addRoute("192.0.2.0/24", via: "10.1.0.2", dev: "w0")
    try await recording.log.wait("over w0") { $0.interface?.name == "w0" }
    try lab.linux.lab.addRoute("192.0.2.7/32", kind: .unreachable)
    try await recording.log.wait("not at all") { $0.status == .unreachable }
  }

  @Test("a hundred addresses are followed, too")
  func followsManyAddresses() async throws {
    let lab = try AppleSourceLab.b()
    let recordings = (1...100).map { lab.recording(.address(IPAddress(ipv4: 0xCB00_7100 + UInt32($0)))) }
    for recording in recordings { try await recording.log.wait("reachable") { $0.isReachable } }
    try lab.linux.lab.down("v0")
    for recording in recordings { try await recording.log.wait("lost") { $0.status == .unreachable } }
  }

  @Test("one question is answered on the calling thread")
  func answersOneQuestion() throws {
    let lab = try AppleLab.b()
    let address = try #require(IPAddress("10.0.0.77"))
    let state = try lab.lab.run {
      Reachability.now(.address(address), environment: ReachabilityEnvironment(AppleSourceLab.provider(lab)))
    }
    #expect(state.isReachable && state.flags == [.reachable, .isDirect] && state.interface?.name == "v0")
  }

  @Test("with the last monitor, the engine and what it asks go")
  func endsWithTheLastMonitor() async throws {
    let lab = try AppleLab.b()
    weak let left: AppleNetwork?
    let provider: EngineProvider
    do {
      let made = Box<[Weak]>([])
      let inner = AppleSourceLab.provider(lab)
      provider = EngineProvider(
        time: .system, lookup: inner.lookup, makeWaiter: inner.makeWaiter,
        makeSource: { waiter, time in
          let source = inner.makeSource(waiter, time)
          let reference = Weak(source as? AppleNetwork)
          made.update { $0.append(reference) }
          return source
        })
      let environment = ReachabilityEnvironment(provider)
      let monitor = try lab.lab.run { ReachabilityMonitor(.internet, environment: environment) }
      let path = PathMonitor(environment: environment)
      try await monitor.waitUntilReachable()
      try await path.waitUntilSatisfied()
      left = made.value.first?.network
      #expect(left != nil)
    }
    try await eventually("the source is gone") { left == nil }
    #expect(provider.runningEngine == nil)
  }

  private final class Weak: @unchecked Sendable {
    weak let network: AppleNetwork?
    init(_ network: AppleNetwork?) { self.network = network }
  }
}
#endif
