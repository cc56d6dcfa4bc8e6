// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneNIO
import DialtoneTesting
import NIOCore
import NIOEmbedded
import NetworkLab
import TestSupport
import Testing

/// Connections and event loops that end while Dialtone is at work on them.
@Suite(.timeLimit(.minutes(3)))
struct EndsTests {
  private static let wired = ScriptedPath.wired

  private func connected(
    _ network: ScriptedNetwork, _ registry: ConnectionRegistry, _ handler: (any ChannelHandler & Sendable)? = nil
  ) async throws -> NIOAsyncTestingChannel {
    let channel = NIOAsyncTestingChannel()
    channel.localAddress = try SocketAddress(ipAddress: "10.0.0.1", port: 1024)
    if let handler { try await channel.pipeline.addHandler(handler) }
    try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.80", port: 443)).get()
    try await channel.followPath(in: registry).get()
    try await eventually("it is fine") {
      await channel.testingEventLoop.run()
      return registry.counts == [.fine: 1]
    }
    return channel
  }

  /// Ends the channel, or takes the handler away, as soon as it is told something.
  private final class Ender: ChannelInboundHandler, Sendable {
    typealias InboundIn = Any
    let event: String
    let removes: Bool
    init(_ event: String, removes: Bool) {
      self.event = event
      self.removes = removes
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard "\(event)".contains(self.event) else { return }
      if removes {
        do {
          let handler = try context.pipeline.syncOperations.handler(type: PathHandler.self)
          context.pipeline.syncOperations.removeHandler(handler, promise: nil)
        } catch {
          Issue.record(error)
        }
      } else {
        context.close(promise: nil)
      }
    }
  }

  @Test(
    "the channel ends, or its handler, while its condition is told: nothing is left",
    arguments: ["isViable: false", "condition: waiting"], [false, true])
  func endsWhileItIsTold(_ event: String, _ removes: Bool) async throws {
    let network = ScriptedNetwork()
    network.set(Self.wired)
    let registry = ConnectionRegistry(environment: network.environment)
    let channel = try await connected(network, registry, Ender(event, removes: removes))
    network.set(.unreachable(.noCarrier))
    try await eventually("nothing is left") {
      await channel.testingEventLoop.run()
      return registry.watchCount == 0
    }
    #expect(registry.counts.isEmpty)
    #expect(registry.closed.isEmpty)
    if channel.isActive { try await channel.close().get() }
    #expect(registry.counts.isEmpty)
  }

  @Test("a policy that closes nothing: each condition is told all the same")
  func watchesOnly() async throws {
    let network = ScriptedNetwork()
    network.set(Self.wired)
    var policy = ConnectionPolicy()
    policy.closes = []
    policy.activity = .idle
    let registry = ConnectionRegistry(policy: policy, environment: network.environment)
    let channel = try await connected(network, registry)
    network.set(.unreachable(.noRoute))
    try await eventually("it waits") {
      await channel.testingEventLoop.run()
      return registry.counts == [.waiting: 1]
    }
    try await channel.close().get()
    #expect(registry.counts.isEmpty && registry.closed.isEmpty)
  }

  @Test("a script takes an address away: only connections from it are dead")
  func scriptedDeath() async throws {
    let network = ScriptedNetwork()
    network.set(Self.wired)
    var policy = ConnectionPolicy()
    policy.activity = .idle
    let registry = ConnectionRegistry(policy: policy, environment: network.environment)
    let channel = try await connected(network, registry)
    network.set(.unreachable(.noAddress), from: try #require(IPAddress("10.0.0.9")))
    try await network.settle()
    await channel.testingEventLoop.run()
    #expect(channel.isActive && registry.counts == [.fine: 1])
    network.set(.unreachable(.noAddress), from: try #require(IPAddress("10.0.0.1")))
    try await eventually("it is closed") {
      await channel.testingEventLoop.run()
      return !channel.isActive && registry.counts.isEmpty
    }
    #expect(registry.closed == [.dead: 1])
    network.set(nil, from: try #require(IPAddress("10.0.0.1")))
    #expect(
      Reachability.now(
        .address(try #require(IPAddress("192.0.2.80")), from: try #require(IPAddress("10.0.0.1"))),
        environment: network.environment
      ).isReachable)
  }

  @Test(
    "event loops are shut down with their connections: their watches end, and changes after it do no harm",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
  func theLoopIsShutDown() async throws {
    let lab = try await ConnectionLab(threads: 4)
    let registry = lab.registry()
    for _ in 0..<20 { try await lab.connect(registry).echo("an answer") }
    // They are told of this while they end.
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await lab.stop()
    #expect(registry.counts.isEmpty && registry.watchCount == 0)
    try lab.client.addAddress("10.0.0.1/24", "u0")
    _ = try await lab.anchor.waitUntilDetermined()
  }

  @Test(
    "many connections open and close while the default moves: nothing is left",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
  func churn() async throws {
    let lab = try await ConnectionLab(threads: 4)
    let registry = lab.registry()
    let changing = Task {
      var rounds = 0
      while !Task.isCancelled {
        try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
        try lab.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
        rounds += 1
        // The thread belongs to all tests.
        await Task.yield()
      }
      return rounds
    }
    try await withThrowingDiscardingTaskGroup { tasks in
      for _ in 0..<8 {
        tasks.addTask {
          for _ in 0..<50 { try await lab.connect(registry).close() }
        }
      }
    }
    changing.cancel()
    #expect(try await changing.value > 0)
    try await eventually("nothing is left") { registry.counts.isEmpty && registry.watchCount == 0 }
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }
}
#endif
