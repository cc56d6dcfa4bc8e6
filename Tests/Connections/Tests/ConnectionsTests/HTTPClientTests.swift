// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AsyncHTTPClient
import Dialtone
import DialtoneHTTPClient
import DialtoneNIO
import NIOCore
import NIOHTTP1
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// AsyncHTTPClient over real links, beside an untouched client.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .serialized)
struct HTTPClientTests {
  private static let url = "http://\(ConnectionLab.address):8080/"

  private struct Trial {
    let lab: ConnectionLab
    let server: HTTPLab
    let registry: ConnectionRegistry
    let client: HTTPClient
    var policy = HTTPPathPolicy()

    init(second: Bool = true) async throws {
      lab = try await ConnectionLab(second: second)
      server = try await HTTPLab(lab.server)
      registry = lab.registry()
      var configuration = HTTPClient.Configuration()
      configuration.followPath(in: registry)
      client = HTTPClient(eventLoopGroup: lab.group, configuration: configuration)
      policy.gate = PathGate(environment: lab.environment)
      policy.registry = registry
    }

    func send(_ method: HTTPMethod = .GET, within seconds: Int64 = 30) async throws -> HTTPResponseStatus {
      var request = HTTPClientRequest(url: HTTPClientTests.url)
      request.method = method
      let response = try await client.execute(request, deadline: .now() + .seconds(seconds), path: policy)
      _ = try await response.body.collect(upTo: 100)
      return response.status
    }

    func stop() async throws {
      try await client.shutdown()
      try await server.stop()
      try await lab.stop()
    }
  }

  @Test("a pooled connection is dead: the next request is answered; without Dialtone it hangs")
  func aPooledConnectionIsDead() async throws {
    let trial = try await Trial()
    let plain = HTTPClient(eventLoopGroup: trial.lab.group)
    let request = HTTPClientRequest(url: Self.url)
    for client in [trial.client, plain] {
      _ = try await client.execute(request, timeout: .seconds(30)).body.collect(upTo: 100)
    }
    try await eventually("it is idle and fine") { trial.registry.counts == [.fine: 1] }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("it is closed") { trial.registry.closed == [.dead: 1] }
    // Nothing but the one line in the configuration.
    #expect(try await trial.client.execute(request, timeout: .seconds(30)).status == .ok)
    await #expect(throws: HTTPClientError.deadlineExceeded) {
      try await plain.execute(request, timeout: .seconds(3))
    }
    try await plain.shutdown()
    try await trial.stop()
  }

  @Test(
    "a request is under way when its address goes: GET is repeated, POST is not", arguments: [HTTPMethod.GET, .POST])
  func aRequestIsUnderWay(_ method: HTTPMethod) async throws {
    let trial = try await Trial()
    trial.server.holdsNext.withLock { $0 = true }
    let sending = Task { try await trial.send(method) }
    try await eventually("it has arrived") { trial.server.requests.withLock { $0.count } == 1 }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    if method == .GET {
      #expect(try await sending.value == .ok)
      #expect(trial.server.requests.withLock { $0 } == ["GET /", "GET /"])
    } else {
      let error = await #expect(throws: ConnectionLostError.self) { try await sending.value }
      #expect(error?.condition == .dead)
      #expect(trial.server.requests.withLock { $0 } == ["POST /"])
    }
    try await trial.stop()
  }

  @Test("without a path a request waits, and is sent once the path is back; or it says why, at its deadline")
  func aRequestWaits() async throws {
    let trial = try await Trial(second: false)
    try trial.lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    let error = await #expect(throws: PathGate.Unavailable.self) { try await trial.send(within: 1) }
    #expect(error?.cause == .timedOut && error?.reason == .noRoute)
    async let status = trial.send()
    try await eventually("it waits") { trial.policy.gate.waiterCount == 1 }
    #expect(trial.server.requests.withLock { $0.isEmpty })
    try trial.lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    #expect(try await status == .ok)
    #expect(trial.server.requests.withLock { $0.count } == 1)
    try await trial.stop()
  }

  @Test("initialisers that were set before still run")
  func initialisersCompose() async throws {
    let lab = try await ConnectionLab()
    let server = try await HTTPLab(lab.server)
    let seen = Mutex(0)
    var configuration = HTTPClient.Configuration()
    configuration.http1_1ConnectionDebugInitializer = { channel in
      seen.withLock { $0 += 1 }
      return channel.eventLoop.makeSucceededVoidFuture()
    }
    let registry = lab.registry()
    configuration.followPath(in: registry)
    let client = HTTPClient(eventLoopGroup: lab.group, configuration: configuration)
    _ = try await client.execute(HTTPClientRequest(url: Self.url), timeout: .seconds(30)).body.collect(upTo: 100)
    #expect(seen.withLock { $0 } == 1 && registry.counts == [.fine: 1])
    try await client.shutdown()
    try await eventually("nothing is left") { registry.counts.isEmpty }
    try await server.stop()
    try await lab.stop()
  }
}
#endif
