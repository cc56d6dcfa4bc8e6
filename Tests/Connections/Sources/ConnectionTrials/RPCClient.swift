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

/// grpc-swift-2 over HTTP/2. With Dialtone its transport is wrapped, and calls may be repeated by gRPC's retry policy.
final class RPCClient: TrialClient {
  private let registry: @Sendable () -> [ConnectionCondition: Int]
  private let call: @Sendable (Duration) async throws -> Void
  private let shutDown: @Sendable () -> Void
  private let connections: Task<Void, any Error>

  init(_ lab: ConnectionLab, follows: Bool) throws {
    @Sendable func transport(_ config: HTTP2ClientTransport.Posix.Config) throws -> HTTP2ClientTransport.Posix {
      var config = config
      config.backoff = .defaults
      return try .http2NIOPosix(
        target: .ipv4(address: ConnectionLab.address, port: 9090), transportSecurity: .plaintext, config: config,
        eventLoopGroup: lab.group)
    }
    if follows {
      let wrapped = try PathFollowingTransport(
        to: .host("\(ConnectionLab.address):9090"), gate: PathGate(environment: lab.environment),
        environment: lab.environment, transport)
      registry = { wrapped.connections.closed }
      (call, shutDown, connections) = Self.start(wrapped, try LabExecutor(lab.client))
    } else {
      registry = { [:] }
      (call, shutDown, connections) = Self.start(try transport(.defaults), try LabExecutor(lab.client))
    }
  }

  private static func start<Transport: ClientTransport>(
    _ transport: Transport, _ executor: LabExecutor
  ) -> (@Sendable (Duration) async throws -> Void, @Sendable () -> Void, Task<Void, any Error>) {
    let client = GRPCClient(transport: transport)
    let call: @Sendable (Duration) async throws -> Void = { limit in
      var options = CallOptions.defaults
      options.timeout = limit
      options.waitForReady = true
      options.executionPolicy = .retry(
        RetryPolicy(
          maxAttempts: 3, initialBackoff: .milliseconds(1), maxBackoff: .milliseconds(10), backoffMultiplier: 2,
          retryableStatusCodes: [.unavailable, .internalError, .unknown]))
      _ = try await client.unary(
        request: ClientRequest(message: [1, 2, 3]), descriptor: EchoRPC.method, serializer: EchoRPC.Bytes(),
        deserializer: EchoRPC.Bytes(), options: options
      ) { try $0.message }
    }
    return (
      call, { client.beginGracefulShutdown() }, Task(executorPreference: executor) { try await client.runConnections() }
    )
  }

  var closed: [ConnectionCondition: Int] { registry() }

  func request(within limit: Duration) async throws { try await call(limit) }

  func stop() async throws {
    shutDown()
    // A connection that is dead would not end by itself.
    connections.cancel()
    _ = await connections.result
  }
}
#endif
