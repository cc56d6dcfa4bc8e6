// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AsyncHTTPClient
import Dialtone
import DialtoneHTTPClient
import DialtoneNIO
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NetworkLab
import Synchronization

/// A client that asks the same server again and again, with Dialtone or without.
protocol TrialClient: Sendable {
  /// How many connections Dialtone has closed, by what for.
  var closed: [ConnectionCondition: Int] { get }

  /// Returns once a request is answered. Throws if there is no answer within the limit.
  func request(within limit: Duration) async throws

  func stop() async throws
}

/// The clients of the trial, each of which comes in two copies.
enum ClientKind: String, CaseIterable, Sendable {
  case echo = "swift-nio, an echo"
  case http1 = "AsyncHTTPClient, HTTP/1"
  case http1TLS = "AsyncHTTPClient, HTTP/1 over TLS"
  case http2 = "AsyncHTTPClient, HTTP/2"
  case grpc = "grpc-swift-2"

  func make(_ lab: ConnectionLab, follows: Bool) throws -> any TrialClient {
    switch self {
    case .echo: EchoClient(lab, follows: follows)
    case .http1: WebClient(lab, "http", .http1Only, follows: follows)
    case .http1TLS: WebClient(lab, "https", .http1Only, follows: follows)
    case .http2: WebClient(lab, "https", .automatic, follows: follows)
    case .grpc: try RPCClient(lab, follows: follows)
    }
  }
}

/// AsyncHTTPClient. With Dialtone it has one line more, and calls the `execute` that waits and repeats.
final class WebClient: TrialClient {
  private let client: HTTPClient
  private let url: String
  private let policy: HTTPPathPolicy?
  private let registry: ConnectionRegistry

  init(
    _ lab: ConnectionLab, _ scheme: String, _ version: HTTPClient.Configuration.HTTPVersion, follows: Bool
  ) {
    var configuration = HTTPClient.Configuration()
    configuration.httpVersion = version
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.certificateVerification = .none
    configuration.tlsConfiguration = tls
    registry = lab.registry()
    if follows {
      configuration.followPath(in: registry)
      var policy = HTTPPathPolicy()
      policy.gate = PathGate(environment: lab.environment)
      policy.registry = registry
      self.policy = policy
    } else {
      policy = nil
    }
    client = HTTPClient(eventLoopGroup: lab.group, configuration: configuration)
    url = "\(scheme)://\(ConnectionLab.address)/"
  }

  var closed: [ConnectionCondition: Int] { registry.closed }

  func request(within limit: Duration) async throws {
    let request = HTTPClientRequest(url: url)
    let deadline = NIODeadline.now() + TimeAmount(limit)
    let response =
      if let policy {
        try await client.execute(request, deadline: deadline, path: policy)
      } else {
        try await client.execute(request, deadline: deadline)
      }
    _ = try await response.body.collect(upTo: 100)
  }

  func stop() async throws { try await client.shutdown() }
}

/// A client of its own on swift-nio: it connects again if its connection is closed or gives no answer, after a pause
/// that grows as AsyncHTTPClient's does. With Dialtone it has one line more in its bootstrap, and waits at a gate.
final class EchoClient: TrialClient {
  private let lab: ConnectionLab
  private let registry: ConnectionRegistry
  private let gate: PathGate?
  private let end = Mutex<LabConnectionEnd?>(nil)

  init(_ lab: ConnectionLab, follows: Bool) {
    self.lab = lab
    var policy = ConnectionPolicy()
    // Each message of this protocol may be sent again.
    policy.activity = .repeatable
    registry = lab.registry(policy)
    gate = follows ? PathGate(environment: lab.environment) : nil
  }

  var closed: [ConnectionCondition: Int] { registry.closed }

  func request(within limit: Duration) async throws {
    let deadline = ContinuousClock.now + limit
    var pause = Duration.milliseconds(100)
    while ContinuousClock.now < deadline {
      do {
        let end = try await connection(until: deadline)
        if try await answer(on: end, until: deadline) { return }
      } catch is PathGate.Unavailable {
        break
      } catch let error where !(error is CancellationError) {
        try await Task.sleep(for: min(pause, deadline - .now))
        pause = min(pause * 5 / 4, .seconds(60))
      }
    }
    try await stop()
    throw TrialTimeout()
  }

  private func connection(until deadline: ContinuousClock.Instant) async throws -> LabConnectionEnd {
    if let end = end.withLock({ $0 }), end.isOpen { return end }
    if let gate {
      try await gate.waitForPath(to: .address(try address(), port: 7000), timeout: deadline - .now)
    }
    let left = TimeAmount(max(deadline - .now, .milliseconds(1)))
    let new = try await lab.connect(gate == nil ? nil : registry) { $0.connectTimeout(min(left, .seconds(10))) }
    end.withLock { $0 = new }
    return new
  }

  private func address() throws -> IPAddress {
    guard let address = IPAddress(ConnectionLab.address) else { throw LabError("no address") }
    return address
  }

  /// Returns whether the answer came before the connection was closed.
  private func answer(on end: LabConnectionEnd, until deadline: ContinuousClock.Instant) async throws -> Bool {
    let before = end.received.withLock { $0 }
    end.send()
    while ContinuousClock.now < deadline {
      if end.received.withLock({ $0 }) > before { return true }
      if !end.isOpen { return false }
      try await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  func stop() async throws {
    let old = end.withLock { $0.take() }
    try await old?.close()
  }
}

/// No answer came within the limit.
struct TrialTimeout: Error {}
#endif
