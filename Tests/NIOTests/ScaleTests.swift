// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CTestSupport
import Dialtone
@testable import DialtoneNIO
import DialtoneTesting
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Thousands of connections, each test in a process of its own: what they cost, and how soon all are told.
///
/// `DIALTONE_CONNECTIONS` chooses how many.
@Suite(.timeLimit(.minutes(10)), .threadsApart)
struct ScaleTests {
  private static let count = ProcessInfo.processInfo.environment["DIALTONE_CONNECTIONS"].flatMap(Int.init) ?? 2_000

  /// Channels that are connected, without a handler. They share an event loop, as connections do.
  private static func channels(_ remote: (Int) -> UInt32) async throws -> [NIOAsyncTestingChannel] {
    let loop = NIOAsyncTestingEventLoop()
    var channels: [NIOAsyncTestingChannel] = []
    for number in 0..<count {
      let channel = NIOAsyncTestingChannel(loop: loop)
      channel.localAddress = try SocketAddress(ipAddress: "10.0.0.1", port: 1024 + number)
      let address = "\(IPAddress(ipv4: remote(number)))"
      try await channel.connect(to: SocketAddress(ipAddress: address, port: 443)).get()
      channels.append(channel)
    }
    return channels
  }

  private static func follow(_ channels: [NIOAsyncTestingChannel], _ registry: ConnectionRegistry) async throws {
    for channel in channels { try await channel.followPath(in: registry).get() }
    try await eventually("all are known") {
      await channels[0].testingEventLoop.run()
      return registry.counts == [.fine: count]
    }
  }

  @Test("memory of each: 1.5 KiB to shared remotes, 3.25 KiB to different ones", arguments: [true, false])
  func memory(_ isShared: Bool) async {
    let run = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [isShared] in
      let network = ScriptedNetwork()
      network.set(.wired)
      let registry = ConnectionRegistry(environment: network.environment)
      let channels = try await ScaleTests.channels { 0xC612_0000 + UInt32(isShared ? $0 % 10 : $0) }
      // The engine, and what is made once.
      let anchor = ReachabilityMonitor(.internet, environment: network.environment)
      _ = try await anchor.waitUntilDetermined()
      ctestsupport_trim_heap()
      let before = ctestsupport_heap_in_use()
      try await ScaleTests.follow(channels, registry)
      ctestsupport_trim_heap()
      let each = (ctestsupport_heap_in_use() - before) / ScaleTests.count
      print("bytes a connection, shared remotes \(isShared): \(each)")
      if !isSanitized { #expect(each <= (isShared ? 1_536 : 3_328), "\(each) bytes") }
      #expect(registry.watchCount == (isShared ? 10 : ScaleTests.count))
      for channel in channels { try await channel.close().get() }
      await channels[0].testingEventLoop.run()
      #expect(registry.counts.isEmpty && registry.watchCount == 0)
      withExtendedLifetime(anchor) {}
    }
    Self.show(run)
  }

  private static func show(_ run: ExitTest.Result?) {
    if let run { print(String(decoding: run.standardOutputContent, as: UTF8.self)) }
  }

  @Test("an event that touches all is told to all at once, and one that touches none is not told")
  func allAreTold() async {
    let run = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let network = ScriptedNetwork()
      network.set(.wired)
      let changes = Mutex(0)
      let registry = ConnectionRegistry(environment: network.environment) { _ in changes.withLock { $0 += 1 } }
      let channels = try await ScaleTests.channels { 0xC612_0000 + UInt32($0 % 10) }
      try await ScaleTests.follow(channels, registry)
      changes.withLock { $0 = 0 }
      network.set(.wifi, for: IPAddress(ipv4: 0xC633_6401))
      try await network.settle()
      await channels[0].testingEventLoop.run()
      #expect(changes.withLock { $0 } == 0)
      // Some 20 ms if it is optimised. On a busy machine one of them may take longer.
      let limit = Duration.milliseconds(250)
      var best = Duration.seconds(60)
      for round in 0..<10 where round < 2 || best >= limit {
        let condition = round % 2 == 0 ? ConnectionCondition.waiting : .fine
        let start = ContinuousClock.now
        network.set(round % 2 == 0 ? .unreachable(.noCarrier) : .wired)
        while registry.counts != [condition: ScaleTests.count] {
          await channels[0].testingEventLoop.run()
          if ContinuousClock.now - start > .patience { throw DidNotHappen("all are told") }
        }
        best = min(best, ContinuousClock.now - start)
      }
      print("told \(ScaleTests.count) connections within \(best), the best of up to ten")
      if !isSanitized { #expect(best < limit, "\(best)") }
      for channel in channels { try await channel.close().get() }
    }
    Self.show(run)
  }

  @Test(
    "a real route to thousands of different remotes goes and comes back: all are told at once",
    .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
    .enabled(if: descriptorLimit > count + 1_000, "needs a descriptor for each (ulimit -Hn)"))
  func allDifferentAreTold() async {
    let run = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      try allowDescriptors()
      let lab = try await ConnectionLab(second: false)
      let registry = lab.registry()
      let port = try await lab.takeConnections(to: "198.18.0.0/16", backlog: 2 * ScaleTests.count)
      var channels: [any Channel] = []
      for number in 0..<ScaleTests.count {
        let address = IPAddress(ipv4: 0xC612_0000 + UInt32(number))
        channels.append(
          try await ClientBootstrap(group: lab.group).channelInitializer { $0.followPath(in: registry) }
            .connect(host: "\(address)", port: port).get())
      }
      try await eventually("all are known") { registry.counts == [.fine: ScaleTests.count] }
      // Some 0.1 s if it is optimised, and on a busy machine two if not. What grows with the square would take minutes.
      let limit = Duration.seconds(10)
      var best = [ConnectionCondition.waiting: Duration.seconds(60), .fine: .seconds(60)]
      for round in 0..<4 where round < 2 || best.values.contains(where: { $0 >= limit }) {
        let condition = round % 2 == 0 ? ConnectionCondition.waiting : .fine
        let start = ContinuousClock.now
        if condition == .waiting {
          try lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
        } else {
          try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
        }
        while registry.counts != [condition: ScaleTests.count] {
          if ContinuousClock.now - start > .patience { throw DidNotHappen("all are told") }
          try await Task.sleep(for: .milliseconds(1))
        }
        best[condition] = min(best[condition] ?? .seconds(60), ContinuousClock.now - start)
      }
      print("told \(ScaleTests.count) connections to different remotes:", best)
      if !isSanitized { #expect(best.values.allSatisfy { $0 < limit }, "\(best)") }
      try await lab.stop()
    }
    Self.show(run)
  }
}
#endif
