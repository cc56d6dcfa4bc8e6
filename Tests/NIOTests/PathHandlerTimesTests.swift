// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneTesting
import Dispatch
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import DialtoneNIO

/// What a handler makes of routes that are older than the network, and when it looks again, on a stepped event loop.
@Suite(.timeLimit(.minutes(3)))
struct PathHandlerTimesTests {
  private static let local = IPAddress(ipv4: 0xC000_0202)
  private static let remote = IPAddress(ipv4: 0xC633_6401)

  /// A waiter whose threads sleep on while a test holds them: what is announced meanwhile, monitors do not know yet.
  private final class HeldWaiter: EventWaiter {
    private let semaphore = DispatchSemaphore(value: 0)
    private let state = Mutex((sleeping: 0, pending: 0, isHeld: false))

    /// Whether both threads of the engine sleep, and nobody has woken them.
    var isAtRest: Bool { state.withLock { $0.sleeping == 2 && $0.pending == 0 } }
    var isHeld: Bool {
      get { state.withLock { $0.isHeld } }
      set { state.withLock { $0.isHeld = newValue } }
    }

    func wait() -> Bool {
      state.withLock { $0.sleeping += 1 }
      semaphore.wait()
      state.withLock { ($0.sleeping, $0.pending) = ($0.sleeping - 1, $0.pending - 1) }
      return true
    }

    func wake() -> Bool {
      if isHeld { return true }
      state.withLock { $0.pending += 1 }
      semaphore.signal()
      return true
    }

    func setDeadline(_ deadline: Int64?) {}
    func abandon() {}
  }

  /// A network with an engine that rests, and what its threads sleep on.
  private func held() async throws -> (ScriptedNetwork, HeldWaiter, ReachabilityMonitor) {
    let waiter = HeldWaiter()
    let network = ScriptedNetwork(makeWaiter: { _ throws(SystemError) in waiter })
    network.set(.wired)
    let anchor = ReachabilityMonitor(.localNetwork, environment: network.environment)
    try await eventually("its engine rests") { anchor.current.isDetermined && waiter.isAtRest }
    return (network, waiter, anchor)
  }

  private func open(
    _ network: ScriptedNetwork, _ activity: ConnectionActivity = .idle
  ) async throws -> (channel: NIOAsyncTestingChannel, registry: ConnectionRegistry) {
    var policy = ConnectionPolicy()
    policy.activity = activity
    let registry = ConnectionRegistry(policy: policy, environment: network.environment)
    let channel = NIOAsyncTestingChannel()
    try await channel.followPath(in: registry).get()
    channel.localAddress = try SocketAddress(ipAddress: "192.0.2.2", port: 50_000)
    try await channel.connect(to: SocketAddress(ipAddress: "198.51.100.1", port: 443)).get()
    return (channel, registry)
  }

  /// Takes the local address away once the connection is fine, and returns once it is dead.
  private func loseAddress(
    _ network: ScriptedNetwork, _ channel: NIOAsyncTestingChannel, _ registry: ConnectionRegistry
  ) async throws {
    for condition in [ConnectionCondition.fine, .dead] {
      if condition == .dead { network.set(.unreachable(.noAddress), from: Self.local) }
      try await eventually("it is \(condition)") {
        await channel.testingEventLoop.run()
        return registry.counts == [condition: 1]
      }
    }
  }

  private func handle<Value: Sendable>(
    _ channel: NIOAsyncTestingChannel, _ body: @escaping @Sendable (PathHandler) -> Value
  ) async throws -> Value {
    try await channel.eventLoop.submit {
      body(try channel.pipeline.syncOperations.handler(type: PathHandler.self))
    }.get()
  }

  /// "So has the first answer" to be certain: it is asked for, whether or not the monitor knows it yet.
  @Test func theFirstAnswerIsNotWaitedFor() async throws {
    let (network, waiter, anchor) = try await held()
    waiter.isHeld = true
    let (channel, registry) = try await open(network)
    #expect(try await handle(channel) { $0.condition } == .fine)
    #expect(registry.counts == [.fine: 1])
    waiter.isHeld = false
    _ = waiter.wake()
    try await channel.close().get()
    withExtendedLifetime(anchor) {}
  }

  /// "What closes a connection for its routes has to be certain": its address is back, and monitors do not know that.
  @Test func whatIsOverIsNoReasonToClose() async throws {
    let (network, waiter, anchor) = try await held()
    let (channel, registry) = try await open(network, .busy)
    try await loseAddress(network, channel, registry)
    try await eventually("its engine rests") { waiter.isAtRest }
    waiter.isHeld = true
    network.set(nil, from: Self.local)
    // An answer serves for a millisecond.
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .milliseconds(2) { await Task.yield() }
    // Nothing would be lost now by closing it.
    try await handle(channel) { $0.activity = .idle }
    #expect(channel.isActive && registry.counts == [.fine: 1] && registry.closed.isEmpty)
    waiter.isHeld = false
    _ = waiter.wake()
    try await channel.close().get()
    withExtendedLifetime(anchor) {}
  }

  /// The grace is counted from the change, whenever that is.
  @Test func theGraceBeginsWithTheChange() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    let (channel, registry) = try await open(network, .busy)
    await channel.testingEventLoop.advanceTime(by: .seconds(1_000))
    try await loseAddress(network, channel, registry)
    await channel.testingEventLoop.advanceTime(by: .milliseconds(1_999))
    #expect(channel.isActive && registry.closed.isEmpty)
    await channel.testingEventLoop.advanceTime(by: .milliseconds(1))
    try await eventually("it is closed") { !channel.isActive }
    #expect(registry.closed == [.dead: 1])
  }

  /// The last request that may not be repeated has ended: nothing is lost any more.
  @Test func whatIsCountedEndsAConnectionThatIsDead() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    let (channel, registry) = try await open(network)
    try await handle(channel) { $0.count(others: 2) }
    try await loseAddress(network, channel, registry)
    try await handle(channel) { $0.count(others: -1) }
    #expect(channel.isActive && registry.closed.isEmpty, "one is left")
    try await handle(channel) { $0.count(others: -1) }
    try await eventually("it is closed") { !channel.isActive }
    #expect(registry.closed == [.dead: 1])
  }

  /// Connections that ask in the same moment, within a millisecond, get one answer.
  @Test func oneAnswerServesAMoment() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    let key = PathWatch.Key(local: Self.local, remote: Self.remote, port: 443, socket: SocketRouting())
    let watch = PathWatch(key, in: network.environment)
    for _ in 0..<2 { try await network.settle() }
    // How long it takes is up to the machine: one pair that was quick enough tells.
    for _ in 0..<1_000 {
      let start = ContinuousClock.now
      let first = watch.confirmedRoutes()
      let asked = network.queryCount
      let second = watch.confirmedRoutes()
      let again = network.queryCount
      guard ContinuousClock.now - start < .milliseconds(1) else { continue }
      #expect(first == second && again == asked)
      break
    }
  }
}
#endif
