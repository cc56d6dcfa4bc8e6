// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneGRPC
import DialtoneNIO
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOPosix
import NetworkLab
import TestSupport
import Testing

/// A real gRPC server and client over real links.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .serialized)
struct GRPCTests {
  private static let method = MethodDescriptor(
    service: ServiceDescriptor(fullyQualifiedService: "Echo"), method: "Get")

  private struct EchoService: RegistrableRPCService {
    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(
        forMethod: GRPCTests.method, deserializer: Bytes(), serializer: Bytes()
      ) { request, _ in
        StreamingServerResponse { writer in
          for try await message in request.messages { try await writer.write(message) }
          return [:]
        }
      }
    }
  }

  private struct Bytes: MessageSerializer, MessageDeserializer {
    func serialize<Target: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Target { Target(message) }
    func deserialize<Source: GRPCContiguousBytes>(_ bytes: Source) throws -> [UInt8] {
      bytes.withUnsafeBytes { Array($0) }
    }
  }

  private func call(_ client: GRPCClient<PathFollowingTransport>, timeout: Duration) async throws -> [UInt8] {
    var options = CallOptions.defaults
    options.timeout = timeout
    return try await client.unary(
      request: ClientRequest(message: [1, 2, 3]), descriptor: Self.method, serializer: Bytes(), deserializer: Bytes(),
      options: options
    ) { try $0.message }
  }

  @Test("calls are answered before and after its address goes, and wait while there is no path")
  func callsSurviveChanges() async throws {
    let lab = try await ConnectionLab()
    let serverGroup = try lab.server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    let server = GRPCServer(
      transport: .http2NIOPosix(
        address: .ipv4(host: "0.0.0.0", port: 9090), transportSecurity: .plaintext, eventLoopGroup: serverGroup),
      services: [EchoService()])
    let gate = PathGate(environment: lab.environment)
    let transport = try PathFollowingTransport(
      to: .host("\(ConnectionLab.address):9090"), gate: gate, environment: lab.environment
    ) { config in
      try .http2NIOPosix(
        target: .ipv4(address: ConnectionLab.address, port: 9090), transportSecurity: .plaintext, config: config,
        eventLoopGroup: lab.group)
    }
    try await withThrowingDiscardingTaskGroup { tasks in
      tasks.addTask { try await server.serve() }
      _ = try await server.listeningAddress
      let client = GRPCClient(transport: transport)
      tasks.addTask { try await client.runConnections() }
      #expect(try await call(client, timeout: .seconds(30)) == [1, 2, 3])
      try await eventually("it is idle and fine") { transport.connections.counts == [.fine: 1] }
      try lab.client.deleteAddress("10.0.0.1/24", "u0")
      try await eventually("it is closed") { transport.connections.closed == [.dead: 1] }
      #expect(try await call(client, timeout: .seconds(10)) == [1, 2, 3])
      // Without any path a call waits, and says so at the end of its own time.
      try lab.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
      let error = await #expect(throws: RPCError.self) { try await call(client, timeout: .seconds(1)) }
      #expect(error?.code == .deadlineExceeded && error?.cause is PathGate.Unavailable)
      async let waiting = call(client, timeout: .seconds(30))
      try await eventually("it waits") { gate.waiterCount == 1 }
      try lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 101)
      #expect(try await waiting == [1, 2, 3])
      client.beginGracefulShutdown()
      server.beginGracefulShutdown()
    }
    try await serverGroup.shutdownGracefully()
    try await lab.stop()
  }
}
#endif
