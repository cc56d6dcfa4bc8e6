// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneNIO
import NIOCore
import NIOPosix
import NetworkLab
import Synchronization
import TestSupport
import Testing

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Which connections are judged, and by what.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(3)))
struct KindsOfConnectionTests {
  @Test("over loopback and over Unix sockets nothing is judged", arguments: [false, true])
  func whatHasNoPath(_ isUnix: Bool) async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let folder = try TemporaryFolder()
    let connection = try await ConnectionLabLoopback(lab, registry, path: isUnix ? folder.path + "/socket" : nil)
    #expect(connection.condition == .unjudged)
    #expect(registry.counts == [.unjudged: 1] && registry.watchCount == 0)
    try await connection.close()
    // The socket's file.
    if isUnix { _ = unsafe unlink(folder.path + "/socket") }
    #expect(registry.counts.isEmpty)
    try await lab.stop()
  }

  @Test("multipath TCP moves between addresses by itself: never judged")
  func multipathIsNotJudged() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect(registry) { $0.enableMPTCP(true) }
    try await end.echo("an answer")
    #expect(registry.counts == [.unjudged: 1])
    end.set(.idle)
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await theOthersAreTold(lab, registry)
    #expect(end.isOpen)
    try await lab.stop()
  }

  @Test("UDP is never judged")
  func datagramsAreNotJudged() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let address = try SocketAddress(ipAddress: ConnectionLab.address, port: 7000)
    let channel = try await lab.group.next().flatSubmit {
      DatagramBootstrap(group: lab.group).channelInitializer { $0.followPath(in: registry) }.connect(to: address)
    }.get()
    #expect(registry.counts == [.unjudged: 1])
    try await channel.close().get()
    #expect(registry.counts.isEmpty)
    try await lab.stop()
  }

  @Test("an IPv4-mapped address is the IPv4 address in it")
  func mappedAddresses() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect(registry, to: "::ffff:\(ConnectionLab.address)")
    try await end.echo("an answer")
    end.set(.idle)
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("it is closed") { !end.isOpen }
    #expect(end.lost?.local == IPAddress("10.0.0.1") && end.lost?.remote == IPAddress(ConnectionLab.address))
    try await lab.stop()
  }

  @Test("bound to an interface, it is judged by that one: another uplink saves nothing and closes nothing")
  func boundToAnInterface() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect(registry)
    let index = Int(try lab.client.index(of: "u1"))
    // SO_BINDTOIFINDEX (asm-generic/socket.h) sets what SO_BINDTODEVICE does, by a number.
    let bound = try await lab.connect(registry) { $0.channelOption(.socketOption(.init(rawValue: 62)), value: index) }
    for end in [end, bound] { try await end.echo("an answer") }
    bound.set(.idle)
    // Without the second uplink's route nothing can be reached by it. The first one does not count.
    try lab.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
    try await eventually("it waits") { registry.counts == [.fine: 1, .waiting: 1] }
    try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
    try await eventually("it is fine") { registry.counts == [.fine: 2] }
    try await bound.echo("the same connection goes on")
    // The default moves away from the first uplink and back: the bound one does not notice.
    try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    try await eventually("the other one was told") { end.events.withLock { $0 }.contains { $0.contains("doubtful") } }
    #expect(!bound.events.withLock { $0 }.contains { $0.contains("doubtful") })
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  @Test("with a mark, it is judged by the rules for that mark")
  func marked() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let plain = try await lab.connect(registry)
    // SO_MARK is 36 on all but a few old machines.
    let marked = try await lab.connect(registry) { $0.channelOption(.socketOption(.init(rawValue: 36)), value: 7) }
    for end in [plain, marked] { try await end.echo("an answer") }
    try lab.client.addRoute("0.0.0.0/0", table: 7, kind: .unreachable)
    try lab.client.addRule(priority: 50, .lookup(7), mark: 7)
    try await eventually("the marked one waits") { registry.counts == [.fine: 1, .waiting: 1] }
    #expect(try await marked.condition() == .waiting)
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  @Test("made while its path is lost for a moment: judged once the path is back")
  func madeDuringAnOutage() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect()
    try await end.echo("an answer")
    try lab.client.addRoute("\(ConnectionLab.address)/32", kind: .unreachable)
    let channel = try #require(end.channel.withLock { $0 })
    try await channel.followPath(in: registry).get()
    try await eventually("it is not judged") { registry.counts == [.unjudged: 1] }
    end.set(.idle)
    try lab.client.deleteRoute("\(ConnectionLab.address)/32", kind: .unreachable)
    try await eventually("it is fine") { registry.counts == [.fine: 1] }
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("it is closed") { !end.isOpen }
    #expect(registry.closed == [.dead: 1])
    try await lab.stop()
  }

  @Test("a rule for its own port lets it through, which its addresses do not tell: kept, since it answers")
  func ruleForItsPort() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect(registry)
    try await end.echo("an answer")
    end.set(.idle)
    for change in [
      "rule add ipproto tcp sport 1024-65000 lookup main pref 50", "rule add from 10.0.0.1 unreachable pref 100",
      "route add \(ConnectionLab.address) via 10.0.1.2 src 10.0.1.1",
    ] { #expect(try lab.client.ip(change).status == 0) }
    try await eventually("it has been asked") { registry.counts == [.unjudged: 1] }
    try await end.echo("the same connection goes on")
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  /// Returns once a connection that is judged has been told that its address is gone.
  private func theOthersAreTold(_ lab: ConnectionLab, _ registry: ConnectionRegistry) async throws {
    try lab.client.addAddress("10.0.0.1/24", "u0")
    try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    let other = try await lab.connect(registry)
    try await other.echo("an answer")
    other.set(.idle)
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("the other one is closed") { !other.isOpen }
  }
}
#endif
