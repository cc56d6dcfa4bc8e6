// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneNIO
import Foundation
import NIOCore
import NIOPosix
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Connections over real links. What has to come of each is what an untouched twin beside it shows: a connection that
/// is closed has a twin that gets no answer, and one whose twin gets an answer is kept.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(3)))
struct ConnectionTests {
  @Test("its address is gone, and another uplink is there: closed at once if nothing is lost, else after the grace")
  func anAddressIsGone() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let idle = try await lab.connect(registry)
    let busy = try await lab.connect(registry)
    let twin = try await lab.connect()
    for end in [idle, busy, twin] { try await end.echo("an answer") }
    idle.set(.idle)
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    let start = ContinuousClock.now
    twin.send()
    busy.send()
    try await eventually("the idle one is closed") { !idle.isOpen }
    #expect(busy.isOpen && ContinuousClock.now - start < .seconds(2))
    #expect(idle.lost?.condition == .dead && idle.lost?.reason == .noAddress)
    try await eventually("the busy one is closed") { !busy.isOpen }
    #expect(ContinuousClock.now - start >= .seconds(2))
    // The twin still waits for its answer, and a new connection works.
    #expect(twin.received.withLock { $0 } == 1)
    let next = try await lab.connect(registry)
    try await next.echo("a new connection works")
    #expect(registry.closed == [.dead: 2])
    #expect(idle.events.withLock { $0 }.contains("\(NetworkEvents.ViabilityUpdate(isViable: false))"))
    try await lab.stop()
  }

  /// What the kernel has for it is in rx_queue: proc_net_tcp.rst of the kernel's documentation.
  @Test("its address is gone, and what has come is not read yet: closed once it is", arguments: [false, true])
  func whatHasComeIsRead(_ isBusy: Bool) async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    let end = try await lab.connect(registry) { $0.channelOption(.autoRead, value: false) }
    end.set(isBusy ? .busy : .idle)
    end.send(count: 1_000)
    try await eventually("it has come") {
      try lab.client.run { try String(contentsOfFile: "/proc/thread-self/net/tcp", encoding: .utf8) }
        .contains(" 00000000:000003E8 ")
    }
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    let start = ContinuousClock.now
    try await eventually("its time is over") { ContinuousClock.now - start > ConnectionPolicy().grace + .seconds(1) }
    #expect(end.isOpen && registry.counts == [.dead: 1])
    let channel = try #require(end.channel.withLock { $0 })
    try await channel.setOption(.autoRead, value: true).get()
    try await eventually("it is read") { end.received.withLock { $0 } == 1_000 }
    // In the same turn of its event loop.
    try await channel.eventLoop.submit {}.get()
    #expect(!end.isOpen && end.lost?.condition == .dead)
    try await lab.stop()
  }

  @Test("its address is gone and there is no other uplink: kept, and it lives on once the address is back")
  func anAddressReturns() async throws {
    let lab = try await ConnectionLab(second: false)
    let registry = lab.registry()
    let end = try await lab.connect(registry)
    try await end.echo("an answer")
    end.set(.idle)
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("it waits") { registry.counts == [.waiting: 1] }
    try lab.client.addAddress("10.0.0.1/24", "u0")
    try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    try await eventually("it is fine") { registry.counts == [.fine: 1] }
    try await end.echo("the same connection goes on")
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  @Test(
    "the route, the link, the carrier or an unreachable route comes and goes: kept",
    arguments: ["route", "unreachable", "carrier"])
  func anOutageWithoutAnotherUplink(_ what: String) async throws {
    let lab = try await ConnectionLab(second: false)
    let registry = lab.registry()
    let end = try await lab.connect(registry)
    try await end.echo("an answer")
    switch what {
    case "route": try lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    case "unreachable": try lab.client.addRoute("192.0.2.80/32", kind: .unreachable)
    default: try lab.server.down("s0")
    }
    try await eventually("it waits") { registry.counts == [.waiting: 1] }
    end.send()
    switch what {
    case "route": try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    case "unreachable": try lab.client.deleteRoute("192.0.2.80/32", kind: .unreachable)
    default: try lab.server.up("s0")
    }
    try await eventually("what was sent meanwhile is answered") { end.received.withLock { $0 } == 2 }
    try await eventually("it is fine") { registry.counts == [.fine: 1] }
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  @Test("the default moves and the old source still works: kept, idle or busy", arguments: [false, true])
  func theOldSourceWorks(_ isBusy: Bool) async throws {
    let lab = try await ConnectionLab()
    let seen = Mutex<[ConnectionCondition]>([])
    let registry = lab.registry { change in seen.withLock { $0.append(change.condition) } }
    let end = try await lab.connect(registry)
    try await end.echo("an answer")
    end.set(isBusy ? .busy : .idle)
    try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    if isBusy { end.send() }
    try await eventually("it was in doubt") { seen.withLock { $0.contains(.doubtful) } }
    // Until then, the kernel has to have probed it, or the byte has to be acknowledged.
    try await eventually("it has shown that it works") { registry.counts == [.fine: 1] }
    try await end.echo("the same connection goes on")
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }

  @Test("the default moves and the router drops the old source: closed, idle or busy", arguments: [false, true])
  func theOldSourceIsDropped(_ isBusy: Bool) async throws {
    let lab = try await ConnectionLab()
    // What comes in by the second uplink has to have its addresses.
    try lab.server.sysctl("ipv4/conf/s1/rp_filter", 1)
    let registry = lab.registry()
    let end = try await lab.connect(registry)
    let twin = try await lab.connect()
    for end in [end, twin] { try await end.echo("an answer") }
    end.set(isBusy ? .busy : .idle)
    try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    twin.send()
    if isBusy { end.send() }
    try await eventually("it is closed") { !end.isOpen }
    #expect(end.lost?.condition == .doubtful)
    #expect(twin.received.withLock { $0 } == 1)
    try await lab.stop()
  }

  /// What comes in is no answer: the other side goes on for a while, and then repeats what is not acknowledged.
  @Test("the default moves during a download: closed if the router drops the old source, else fine while it goes on")
  func aDownloadIsUnderWay() async throws {
    for (isDropped, activity) in [(true, ConnectionActivity.idle), (true, .busy), (false, .busy)] {
      let lab = try await ConnectionLab()
      if isDropped { try lab.server.sysctl("ipv4/conf/s1/rp_filter", 1) }
      let seen = Mutex<[ConnectionCondition]>([])
      let registry = lab.registry { change in seen.withLock { $0.append(change.condition) } }
      let end = try await lab.connect(registry)
      end.set(activity)
      end.send(LabConnectionEnd.talk)
      try await eventually("it talks") { end.received.withLock { $0 } > 10_000 }
      try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
      try await eventually("it is in doubt") { seen.withLock { $0.contains(.doubtful) } }
      if isDropped {
        try await eventually("it is closed") { !end.isOpen }
        #expect(end.lost?.condition == .doubtful)
        // That it is fine is told only if it was not known from the first.
        let changes = seen.withLock { $0 }
        #expect(changes.drop { $0 == .fine } == [.doubtful, .doubtful], "\(changes)")
      } else {
        try await eventually("it is fine") { registry.counts == [.fine: 1] }
        let before = end.received.withLock { $0 }
        try await eventually("it goes on") { end.received.withLock { $0 } > before }
        #expect(registry.closed.isEmpty)
      }
      try await lab.stop()
    }
  }

  /// The kernel answers for a connection that nobody accepts, until it has as much as it keeps.
  @Test("the default moves while the other side reads nothing, and the old source still works: kept")
  func theWindowIsShut() async throws {
    for activity in [ConnectionActivity.repeatable, .busy] {
      let lab = try await ConnectionLab()
      let port = try await lab.takeConnections(to: "192.0.2.96/28", backlog: 2)
      let seen = Mutex<[ConnectionCondition]>([])
      let registry = lab.registry { change in seen.withLock { $0.append(change.condition) } }
      let end = try await lab.connect(registry, to: "192.0.2.97", port: port)
      end.set(activity)
      end.send(count: 8_000_000)
      // Its probes are half a second apart by then, and more.
      try await Task.sleep(for: .seconds(1))
      try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
      try await eventually("it was in doubt") { seen.withLock { $0.contains(.doubtful) } }
      try await eventually("it is fine") { registry.counts == [.fine: 1] }
      #expect(registry.closed.isEmpty && end.isOpen)
      try await lab.stop()
    }
  }

  @Test("links, addresses and routes that do not concern it come and go: nothing is told, and nothing is closed")
  func whatDoesNotConcernItIsNotTold() async throws {
    let lab = try await ConnectionLab()
    let changes = Mutex(0)
    let registry = lab.registry { _ in changes.withLock { $0 += 1 } }
    let end = try await lab.connect(registry)
    try await end.echo("an answer")
    end.set(.idle)
    try await eventually("it is known") { registry.counts == [.fine: 1] }
    let before = (changes.withLock { $0 }, end.events.withLock { $0 })
    for round in 0..<20 {
      try lab.client.addVeth("x\(round)", "y\(round)")
      try lab.client.up("x\(round)", "y\(round)")
      try lab.client.addAddress("10.9.\(round).1/24", "x\(round)")
      try lab.client.addRoute("198.51.100.0/24", via: "10.9.\(round).2", dev: "x\(round)", metric: 5)
      try lab.client.deleteLink("x\(round)")
    }
    // A second address, and another metric of the same route.
    try lab.client.addAddress("10.0.0.77/24", "u0")
    try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 50)
    try await end.echo("it goes on")
    _ = try await lab.anchor.waitUntilDetermined()
    #expect(changes.withLock { $0 } == before.0)
    #expect(end.events.withLock { $0 } == before.1)
    #expect(registry.closed.isEmpty)
    try await lab.stop()
  }
}
#endif
