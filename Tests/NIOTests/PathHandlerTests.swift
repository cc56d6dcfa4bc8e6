// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneNIO
import DialtoneTesting
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

/// What handlers behind a `PathHandler` are told, in which order, and what its registry knows, on a scripted network
/// and a stepped event loop.
@Suite(.timeLimit(.minutes(3)))
struct PathHandlerTests {
  private static let local = IPAddress(ipv4: 0xC000_0202)
  private static let remote = IPAddress(ipv4: 0xC633_6401)

  @Test("viability, a better path and each condition are told once, the routes before what follows from them")
  func theOrderOfEvents() async throws {
    let connection = try await Followed()
    try await connection.open()
    try await connection.expect("connected", "viable", "fine")
    connection.network.set(.unreachable(.noCarrier))
    try await connection.expect("not viable", "waiting")
    connection.network.set(.wired)
    try await connection.expect("viable", "fine")
    connection.network.set(.wired, from: Self.local)
    connection.network.set(.wifi)
    try await connection.expect("better path")
    connection.network.set(.wired)
    try await connection.expect("no better path")
    connection.network.set(nil, from: Self.local)
    connection.network.set(.wifi)
    try await connection.expect("doubtful")
    #expect(connection.registry.counts == [.doubtful: 1])
    try await connection.channel.close().get()
    try await connection.expect("closed")
    connection.network.set(.wired)
    try await connection.expect()
    #expect(connection.registry.counts.isEmpty && connection.registry.watchCount == 0)
    #expect(connection.registry.closed.isEmpty && connection.losses == 0)
  }

  /// As `addHandler` of swift-nio does it: code that waits on the event loop would wait for ever.
  @Test func onItsEventLoopTheHandlerIsThereAtOnce() throws {
    let network = ScriptedNetwork()
    let channel = EmbeddedChannel()
    let isThere = Atomic(false)
    channel.followPath(in: ConnectionRegistry(environment: network.environment)).whenSuccess {
      isThere.store(true, ordering: .relaxed)
    }
    let isAtOnce = isThere.load(ordering: .relaxed)
    #expect(isAtOnce)
    _ = try channel.pipeline.syncOperations.handler(type: PathHandler.self)
    _ = try channel.finish()
  }

  @Test("an address that cannot be reached: told before connecting, and not judged until it can")
  func connectingWithoutAPath() async throws {
    let connection = try await Followed(.unreachable(.prohibited))
    try await connection.open()
    try await connection.expect("awaits prohibited", "connected", "unjudged")
    connection.network.set(.wired)
    try await connection.expect("viable", "fine")
    connection.network.set(.unreachable(.noRoute))
    try await connection.expect("not viable", "waiting")
    #expect(connection.channel.isActive && connection.losses == 0)
  }

  @Test("its address is gone while nothing is under way: closed at once, after the error that says why")
  func closedAtOnce() async throws {
    let connection = try await Followed()
    try await connection.open()
    try await connection.expect("connected", "viable", "fine")
    connection.network.set(.unreachable(.noAddress), from: Self.local)
    try await connection.expect("not viable", "better path", "dead", "error", "closed")
    let error = ConnectionLostError(.dead, local: Self.local, remote: Self.remote, reason: .noAddress)
    #expect(connection.heard.errors == [error])
    #expect(connection.registry.closed == [.dead: 1] && connection.registry.counts.isEmpty)
    // When it begins to close, and when it is closed.
    #expect(connection.losses == 2)
    let changes = connection.changes.all
    #expect(changes.map(\.condition) == [.fine, .dead])
    #expect(changes.map(\.isClosed) == [false, true])
    #expect(changes.map(\.reason) == [nil, .noAddress])
    #expect(changes.allSatisfy { $0.local == Self.local && $0.remote == Self.remote && $0.port == 443 })
  }

  @Test("its address is gone while something is under way: closed after the grace, counted from the change")
  func closedAfterTheGrace() async throws {
    let connection = try await Followed(activity: .busy)
    try await connection.open()
    try await connection.expect("connected", "viable", "fine")
    connection.network.set(.unreachable(.noAddress), from: Self.local)
    try await connection.expect("not viable", "better path", "dead")
    #expect(connection.registry.counts == [.dead: 1])
    await connection.channel.testingEventLoop.advanceTime(by: .milliseconds(1_999))
    try await connection.expect()
    #expect(connection.registry.closed.isEmpty && connection.losses == 0)
    await connection.channel.testingEventLoop.advanceTime(by: .milliseconds(1))
    try await connection.expect("error", "closed")
    #expect(connection.heard.errors.map(\.duration) == [.seconds(2)])
    // The change came to the registry once as such, and once as the end.
    #expect(connection.changes.all.map(\.isClosed) == [false, false, true])
  }

  @Test("its address comes back within the grace: the connection lives on, and its time is forgotten")
  func livesOn() async throws {
    let connection = try await Followed(activity: .busy)
    try await connection.open()
    connection.network.set(.unreachable(.noAddress), from: Self.local)
    try await connection.expect("connected", "viable", "fine", "not viable", "better path", "dead")
    connection.network.set(nil, from: Self.local)
    try await connection.expect("viable", "no better path", "fine")
    await connection.channel.testingEventLoop.advanceTime(by: .seconds(60))
    try await connection.expect()
    #expect(connection.channel.isActive && connection.registry.counts == [.fine: 1])
  }

  @Test("what was under way has ended: closed at once, and the event is not passed on")
  func anActivityEnds() async throws {
    let connection = try await Followed(activity: .busy)
    try await connection.open()
    connection.network.set(.unreachable(.noAddress), from: Self.local)
    try await connection.expect("connected", "viable", "fine", "not viable", "better path", "dead")
    try await connection.channel.triggerUserOutboundEvent(NetworkEvents.ActivityUpdate(activity: .idle)).get()
    try await connection.expect("error", "closed")
  }

  @Test("an event that is not for it is passed on")
  func otherEventsArePassedOn() async throws {
    let connection = try await Followed()
    try await connection.open()
    let passed = Passed()
    try await connection.channel.pipeline.addHandler(passed, position: .first)
    try await connection.channel.triggerUserOutboundEvent("another's").get()
    try await connection.channel.triggerUserOutboundEvent(NetworkEvents.ActivityUpdate(activity: .idle)).get()
    #expect(passed.events.withLock { $0 } == ["another's"])
  }

  @Test("requests that are counted say what is under way, until it is set")
  func requestsAreCounted() async throws {
    let connection = try await Followed(activity: .busy)
    let found = try await connection.channel.eventLoop.submit {
      let handler = try connection.handler
      var found = [handler.activity]
      handler.count(repeatable: 1)
      found.append(handler.activity)
      handler.count(others: 1)
      found.append(handler.activity)
      handler.count(repeatable: -1)
      found.append(handler.activity)
      handler.count(others: -1)
      found.append(handler.activity)
      handler.activity = .repeatable
      handler.count(others: 1)
      return found + [handler.activity]
    }.get()
    #expect(found == [.busy, .repeatable, .busy, .busy, .idle, .repeatable])
  }

  @Test(
    "what has no path is never judged, and not watched",
    arguments: [
      ("127.0.0.1", "198.51.100.1"), ("192.0.2.2", "127.0.0.1"), ("::1", "2001:db8::1"), (nil, "198.51.100.1"),
    ] as [(String?, String)])
  func nothingToJudge(_ local: String?, _ remote: String) async throws {
    let connection = try await Followed()
    try await connection.open(from: local, to: remote)
    try await connection.expect("connected", "unjudged")
    connection.network.set(.unreachable(.noCarrier))
    try await connection.expect()
    #expect(connection.registry.counts == [.unjudged: 1] && connection.registry.watchCount == 0)
    try await connection.channel.close().get()
    #expect(connection.registry.counts.isEmpty)
  }

  @Test("a mapped address is that which it stands for")
  func mappedAddresses() async throws {
    let connection = try await Followed()
    try await connection.open(from: "::ffff:192.0.2.2", to: "::ffff:198.51.100.1")
    try await connection.expect("connected", "viable", "fine")
    #expect(connection.changes.all.map(\.local) == [Self.local])
  }

  @Test("followed twice: there is one handler, each change is told once, and one connection is counted")
  func followedTwice() async throws {
    let connection = try await Followed()
    let other = ConnectionRegistry()
    for registry in [connection.registry, other] { try await connection.channel.followPath(in: registry).get() }
    try await connection.open()
    try await connection.expect("connected", "viable", "fine")
    #expect(connection.registry.counts == [.fine: 1] && other.counts.isEmpty)
    connection.network.set(.unreachable(.noCarrier))
    try await connection.expect("not viable", "waiting")
  }

  @Test("the handler is taken away: nothing is told any more, and nothing is left")
  func removed() async throws {
    let connection = try await Followed()
    try await connection.open()
    try await connection.expect("connected", "viable", "fine")
    try await connection.channel.eventLoop.flatSubmit {
      do {
        return connection.channel.pipeline.syncOperations.removeHandler(try connection.handler)
      } catch {
        return connection.channel.eventLoop.makeFailedFuture(error)
      }
    }.get()
    #expect(connection.registry.counts.isEmpty && connection.registry.watchCount == 0)
    connection.network.set(.unreachable(.noAddress), from: Self.local)
    try await connection.expect()
    #expect(connection.channel.isActive)
  }

  @Test(
    "connections of one pair share a watch, also of several event loops, and it ends with the last", arguments: 0..<3)
  func aWatchIsShared(first: Int) async throws {
    let one = try await Followed()
    let others = [
      try await Followed(sharing: one, loop: one.channel.testingEventLoop), try await Followed(sharing: one),
    ]
    let all = [one] + others
    for connection in all {
      try await connection.open()
      try await connection.expect("connected", "viable", "fine")
    }
    #expect(one.registry.watchCount == 1 && one.registry.counts == [.fine: 3])
    one.network.set(.unreachable(.noCarrier))
    for connection in all { try await connection.expect("not viable", "waiting") }
    try await all[first].channel.close().get()
    try await all[first].expect("closed")
    #expect(one.registry.watchCount == 1 && one.registry.counts == [.waiting: 2])
    one.network.set(.wired)
    for (position, connection) in all.enumerated() where position != first {
      try await connection.expect("viable", "fine")
      try await connection.channel.close().get()
    }
    try await all[first].expect()
    #expect(one.registry.watchCount == 0 && one.registry.counts.isEmpty)
  }

  /// A channel that follows its path, and what its handlers and its registry are told.
  private final class Followed: Sendable {
    let network: ScriptedNetwork
    let registry: ConnectionRegistry
    let changes: Noted<ConnectionChange>
    let channel: NIOAsyncTestingChannel
    let heard = Listener()

    init(_ path: ScriptedPath = .wired, activity: ConnectionActivity = .idle) async throws {
      let network = ScriptedNetwork()
      network.set(path)
      var policy = ConnectionPolicy()
      policy.activity = activity
      let changes = Noted<ConnectionChange>()
      registry = ConnectionRegistry(policy: policy, environment: network.environment) { changes.add($0) }
      (self.network, self.changes) = (network, changes)
      channel = NIOAsyncTestingChannel()
      try await prepare()
    }

    init(sharing other: Followed, loop: NIOAsyncTestingEventLoop = NIOAsyncTestingEventLoop()) async throws {
      (network, registry, changes) = (other.network, other.registry, other.changes)
      channel = NIOAsyncTestingChannel(loop: loop)
      try await prepare()
    }

    private func prepare() async throws {
      try await channel.pipeline.addHandler(heard)
      try await channel.followPath(in: registry).get()
    }

    func open(from local: String? = "192.0.2.2", to remote: String = "198.51.100.1") async throws {
      channel.localAddress = try local.map { try SocketAddress(ipAddress: $0, port: 50_000) }
      try await channel.connect(to: SocketAddress(ipAddress: remote, port: 443)).get()
    }

    /// Its handler; on its event loop.
    var handler: PathHandler {
      get throws { try channel.pipeline.syncOperations.handler(type: PathHandler.self) }
    }

    var losses: Int { registry.requests.withLock { $0.losses } }

    /// Waits until these events have come, and sees that no others did.
    func expect(_ events: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
      try await network.settle()
      try await eventually("\(events)") {
        await channel.testingEventLoop.run()
        return heard.events.count >= events.count
      }
      try await network.settle()
      await channel.testingEventLoop.run()
      #expect(heard.take() == events, sourceLocation: sourceLocation)
    }
  }

  /// What came, in its order.
  private final class Noted<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    func add(_ element: Element) { list.withLock { $0.append(element) } }
    var all: [Element] { list.withLock { $0 } }
  }

  private final class Listener: ChannelInboundHandler, Sendable {
    typealias InboundIn = Any
    private let state = Mutex<(events: [String], errors: [ConnectionLostError])>(([], []))

    var events: [String] { state.withLock { $0.events } }
    var errors: [ConnectionLostError] { state.withLock { $0.errors } }

    func take() -> [String] {
      state.withLock { state in
        defer { state.events = [] }
        return state.events
      }
    }

    private func hear(_ event: String) { state.withLock { $0.events.append(event) } }

    func channelActive(context: ChannelHandlerContext) { hear("connected") }

    func channelInactive(context: ChannelHandlerContext) { hear("closed") }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      switch event {
      case let event as NetworkEvents.ViabilityUpdate: hear(event.isViable ? "viable" : "not viable")
      case is NetworkEvents.BetterPathAvailable: hear("better path")
      case is NetworkEvents.BetterPathUnavailable: hear("no better path")
      case let event as NetworkEvents.WaitingForConnectivity: hear("awaits \(event.transientError.identifier)")
      case let event as NetworkEvents.ConditionUpdate: hear(event.condition.identifier)
      default: hear("\(event)")
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      hear("error")
      if let error = error as? ConnectionLostError { state.withLock { $0.errors.append(error) } }
    }
  }

  private final class Passed: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Any
    let events = Mutex<[String]>([])

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
      events.withLock { $0.append("\(event)") }
      promise?.succeed()
    }
  }
}
