// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneGRPC
import DialtoneNIO
import DialtoneTesting
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Foundation
import NIOEmbedded
import NIOPosix
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// A real gRPC server and client over real links.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .serialized)
struct GRPCTests {
  /// A transport to the lab's server. It makes its sockets on the event loops of the lab.
  private func transport(
    _ lab: ConnectionLab, _ gate: PathGate? = nil, failsAgain: Bool = false
  ) throws -> PathFollowingTransport {
    struct Refused: Error {}
    let count = Mutex(0)
    return try PathFollowingTransport(
      to: .host("\(ConnectionLab.address):9090"), gate: gate ?? PathGate(environment: lab.environment),
      environment: lab.environment
    ) { config in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if failsAgain, number == 2 { throw Refused() }
      return try .http2NIOPosix(
        target: .ipv4(address: ConnectionLab.address, port: 9090), transportSecurity: .plaintext, config: config,
        eventLoopGroup: lab.group)
    }
  }

  private func call(
    _ client: GRPCClient<PathFollowingTransport>, timeout: Duration, waitsForReady: Bool = false
  ) async throws -> [UInt8] {
    var options = CallOptions.defaults
    options.timeout = timeout
    if waitsForReady { options.waitForReady = true }
    return try await client.unary(
      request: ClientRequest(message: [1, 2, 3]), descriptor: EchoRPC.method, serializer: EchoRPC.Bytes(),
      deserializer: EchoRPC.Bytes(),
      options: options
    ) { try $0.message }
  }

  @Test("followed twice, a connection has one handler: two of them would both set the socket")
  func followedTwice() throws {
    var config = HTTP2ClientTransport.Posix.Config.defaults
    for registry in [ConnectionRegistry(), ConnectionRegistry()] { config.followPath(in: registry) }
    let follow = try #require(config.channelDebuggingCallbacks.onCreateTCPConnection)
    let channel = EmbeddedChannel()
    try follow(channel).wait()
    let pipeline = channel.pipeline.syncOperations
    try pipeline.removeHandler(try pipeline.handler(type: PathHandler.self)).wait()
    #expect(throws: (any Error).self) { try pipeline.handler(type: PathHandler.self) }
    _ = try channel.finish()
  }

  @Test("calls are answered before and after its address goes, and wait while there is no path")
  func callsSurviveChanges() async throws {
    let lab = try await ConnectionLab()
    let serverGroup = try lab.server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    let server = EchoRPC.server(serverGroup)
    let gate = PathGate(environment: lab.environment)
    let transport = try transport(lab, gate)
    let serving = Task(executorPreference: try LabExecutor(lab.server)) { try await server.serve() }
    try await withThrowingDiscardingTaskGroup { tasks in
      _ = try await server.listeningAddress
      let client = GRPCClient(transport: transport)
      tasks.addTask(executorPreference: try LabExecutor(lab.client)) { try await client.runConnections() }
      // The first attempt may come before the new links are ready.
      #expect(try await call(client, timeout: .seconds(30), waitsForReady: true) == [1, 2, 3])
      try await eventually("it is idle and fine") { transport.connections.counts == [.fine: 1] }
      try lab.client.deleteAddress("10.0.0.1/24", "u0")
      try await eventually("it is closed") { transport.connections.closed == [.dead: 1] }
      #expect(try await call(client, timeout: .seconds(10)) == [1, 2, 3])
      // Without any path a call waits, and says so at the end of its own time.
      try lab.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
      let error = await #expect(throws: RPCError.self) { try await call(client, timeout: .seconds(1)) }
      // gRPC keeps the same time, and may be the first to say so.
      #expect(error?.code == .deadlineExceeded)
      async let waiting = call(client, timeout: .seconds(30))
      try await eventually("it waits") { gate.waiterCount == 1 }
      try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
      #expect(try await waiting == [1, 2, 3])
      client.beginGracefulShutdown()
    }
    // The server does not know that a connection is dead, and would wait for its end.
    serving.cancel()
    _ = await serving.result
    try await serverGroup.shutdownGracefully()
    try await lab.stop()
  }

  @Test(
    "an attempt is under way when its address goes: the call is answered on the other uplink, at once or once it can",
    arguments: [false, true])
  func anAttemptIsUnderWay(_ failsAgain: Bool) async throws {
    let lab = try await ConnectionLab()
    let serverGroup = try lab.server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    let server = EchoRPC.server(serverGroup)
    // The router of the first uplink drops what comes from there, which no route tells.
    try lab.server.sysctl("ipv4/conf/s0/rp_filter", 1)
    try lab.server.addRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
    let transport = try transport(lab, failsAgain: failsAgain)
    try await withThrowingDiscardingTaskGroup { tasks in
      tasks.addTask(executorPreference: try LabExecutor(lab.server)) { try await server.serve() }
      _ = try await server.listeningAddress
      let client = GRPCClient(transport: transport)
      tasks.addTask(executorPreference: try LabExecutor(lab.client)) { try await client.runConnections() }
      async let answer = call(client, timeout: .seconds(60))
      // Port 9090 is 2382, and SYN_SENT is 02.
      try await eventually("it connects") {
        try lab.client.run { try String(contentsOfFile: "/proc/thread-self/net/tcp", encoding: .utf8) }
          .contains(":2382 02 ")
      }
      let start = ContinuousClock.now
      try lab.client.deleteAddress("10.0.0.1/24", "u0")
      #expect(try await answer == [1, 2, 3])
      // gRPC gives its own attempt twenty seconds.
      #expect(ContinuousClock.now - start < .seconds(10))
      client.beginGracefulShutdown()
      server.beginGracefulShutdown()
    }
    try await serverGroup.shutdownGracefully()
    try await lab.stop()
  }

  @Test("no other transport can be made after a change: calls that fail say why")
  func callsTellOfAFailure() async throws {
    struct Refused: Error {}
    let network = ScriptedNetwork()
    network.set(.wired)
    let count = Mutex(0)
    let transport = try PathFollowingTransport(
      to: .host("192.0.2.1:1"), gate: PathGate(environment: network.environment), environment: network.environment
    ) { config in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number > 1 { throw Refused() }
      // Nobody listens there.
      return try .http2NIOPosix(
        target: .ipv4(address: "127.0.0.1", port: 1), transportSecurity: .plaintext, config: config)
    }
    let client = GRPCClient(transport: transport)
    let running = Task { try await client.runConnections() }
    let error = await #expect(throws: RPCError.self) { try await call(client, timeout: .seconds(30)) }
    #expect(error?.code == .unavailable && !(error?.cause is Refused))
    var isWired = true
    try await eventually("a call has it as its cause") {
      isWired.toggle()
      network.set(isWired ? .wired : .wifi)
      let error = await #expect(throws: RPCError.self) { try await call(client, timeout: .seconds(30)) }
      return error?.code == .unavailable && error?.cause is Refused
    }
    client.beginGracefulShutdown()
    try await running.value
  }

  /// A call that is counted and never answered.
  private final class Held: RegistrableRPCService {
    static let method = MethodDescriptor(service: ServiceDescriptor(fullyQualifiedService: "Held"), method: "Get")
    let calls = Mutex(0)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(
        forMethod: Self.method, deserializer: EchoRPC.Bytes(), serializer: EchoRPC.Bytes()
      ) { [self] _, _ in
        calls.withLock { $0 += 1 }
        return StreamingServerResponse { _ in
          try await Task.sleep(for: .seconds(300))
          return [:]
        }
      }
    }
  }

  @Test("a call without a retry policy is under way when its address goes: it fails, and is not sent again")
  func nothingUnsafeIsRepeated() async throws {
    let lab = try await ConnectionLab()
    let serverGroup = try lab.server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    let held = Held()
    let server = EchoRPC.server(serverGroup, with: [held])
    let transport = try transport(lab)
    let serving = Task(executorPreference: try LabExecutor(lab.server)) { try await server.serve() }
    try await withThrowingDiscardingTaskGroup { tasks in
      _ = try await server.listeningAddress
      let client = GRPCClient(transport: transport)
      tasks.addTask(executorPreference: try LabExecutor(lab.client)) { try await client.runConnections() }
      #expect(try await call(client, timeout: .seconds(30), waitsForReady: true) == [1, 2, 3])
      let calling = Task {
        var options = CallOptions.defaults
        options.timeout = .seconds(60)
        return try await client.unary(
          request: ClientRequest(message: [1]), descriptor: Held.method, serializer: EchoRPC.Bytes(),
          deserializer: EchoRPC.Bytes(), options: options
        ) { try $0.message }
      }
      try await eventually("it has arrived") { held.calls.withLock { $0 } == 1 }
      try lab.client.deleteAddress("10.0.0.1/24", "u0")
      let error = await #expect(throws: RPCError.self) { try await calling.value }
      // It is told of the connection, long before its time is over.
      #expect(error?.code != .deadlineExceeded)
      #expect(transport.connections.closed == [.dead: 1])
      // What begins on the old connection while it closes fails, too.
      try await eventually("a later call is answered") {
        do {
          return try await call(client, timeout: .seconds(30), waitsForReady: true) == [1, 2, 3]
        } catch let error as RPCError where error.code == .unavailable {
          return false
        }
      }
      #expect(held.calls.withLock { $0 } == 1)
      client.beginGracefulShutdown()
    }
    serving.cancel()
    _ = await serving.result
    try await serverGroup.shutdownGracefully()
    try await lab.stop()
  }

  @Test("the client is shut down while calls wait at the gate: they end, and nothing is left")
  func shutDownAtTheGate() async throws {
    let lab = try await ConnectionLab(second: false)
    try lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    let gate = PathGate(environment: lab.environment)
    let transport = try transport(lab, gate)
    let client = GRPCClient(transport: transport)
    let running = Task { try await client.runConnections() }
    let calls = (0..<10).map { _ in Task { try await call(client, timeout: .seconds(300)) } }
    // Those, and the transport itself.
    try await eventually("they wait") { gate.waiterCount == 11 }
    client.beginGracefulShutdown()
    for task in calls {
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.code == .unavailable)
    }
    try await running.value
    #expect(gate.waiterCount == 0 && transport.connections.counts.isEmpty)
    try await lab.stop()
  }
}
#endif
