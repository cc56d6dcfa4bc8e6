// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AsyncHTTPClient
import Dialtone
import DialtoneHTTPClient
import DialtoneNIO
import NIOCore
import NIOHTTP1
import NIOSSL
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// AsyncHTTPClient over real links, beside an untouched client.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .serialized)
struct HTTPClientTests {
  private static let url = "http://\(ConnectionLab.address):8080/"
  private static let secureURL = "https://\(ConnectionLab.address):8443/"

  /// Shuts a client down whose test ends with an error: its end without that would end the process.
  private final class Keeper: Sendable {
    let client: HTTPClient
    init(_ client: HTTPClient) { self.client = client }
    deinit {
      client.shutdown { _ in
        // It may have been shut down already.
      }
    }
  }

  private struct Trial {
    private let keeper: Keeper
    private let executor: LabExecutor
    let lab: ConnectionLab
    let server: HTTPLab
    let registry: ConnectionRegistry
    let client: HTTPClient
    var policy = HTTPPathPolicy()

    init(
      second: Bool = true, _ version: HTTPClient.Configuration.HTTPVersion = .automatic,
      connect: TimeAmount = .seconds(10), _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) async throws {
      lab = try await ConnectionLab(second: second)
      executor = try LabExecutor(lab.client)
      server = try await HTTPLab(lab.server)
      registry = lab.registry()
      var configuration = HTTPClient.Configuration()
      configuration.httpVersion = version
      configuration.tlsConfiguration = .makeClientConfiguration()
      configuration.tlsConfiguration?.certificateVerification = .none
      configuration.timeout.connect = connect
      change(&configuration)
      // Twice is as good as once.
      for _ in 0..<2 { configuration.followPath(in: registry) }
      client = HTTPClient(eventLoopGroup: lab.group, configuration: configuration)
      keeper = Keeper(client)
      policy.gate = PathGate(environment: lab.environment)
      policy.registry = registry
    }

    func send(
      _ method: HTTPMethod = .GET, to url: String = HTTPClientTests.url, body: HTTPClientRequest.Body? = nil,
      within seconds: Int64 = 30
    ) async throws -> HTTPResponseStatus {
      var request = HTTPClientRequest(url: url)
      request.method = method
      request.body = body
      let response = try await inLab {
        try await client.execute(request, deadline: .now() + .seconds(seconds), path: policy)
      }
      _ = try await response.body.collect(upTo: 100)
      return response.status
    }

    /// AsyncHTTPClient makes the socket for an address on the thread that asks for it, unless TLS is needed.
    func inLab<Value>(_ body: () async throws -> Value) async throws -> Value {
      try await withTaskExecutorPreference(executor, operation: body)
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
    let keeper = Keeper(plain)
    defer { withExtendedLifetime(keeper) {} }
    let request = HTTPClientRequest(url: Self.url)
    for client in [trial.client, plain] {
      let response = try await trial.inLab { try await client.execute(request, timeout: .seconds(30)) }
      _ = try await response.body.collect(upTo: 100)
    }
    try await eventually("it is idle and fine") { trial.registry.counts == [.fine: 1] }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    try await eventually("it is closed") { trial.registry.closed == [.dead: 1] }
    // It is counted in the turn of the event loop in which the client learns of it.
    for loop in trial.lab.group.makeIterator() { try await loop.submit {}.get() }
    // Nothing but the one line in the configuration.
    let response = try await trial.inLab { try await trial.client.execute(request, timeout: .seconds(30)) }
    #expect(response.status == .ok)
    await #expect(throws: HTTPClientError.deadlineExceeded) {
      try await trial.inLab { try await plain.execute(request, timeout: .seconds(3)) }
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

  @Test(
    "over TLS and HTTP/2, too, a request fails within 10 ms of the change, and is repeated",
    arguments: [HTTPClient.Configuration.HTTPVersion.http1Only, .automatic])
  func failsAtOnceOverTLS(_ version: HTTPClient.Configuration.HTTPVersion) async throws {
    var best = Duration.seconds(60)
    // On a busy machine one of them may take longer. What waits for the other side takes five seconds each time.
    for _ in 1...3 {
      let trial = try await Trial(version)
      #expect(try await trial.send(to: Self.secureURL) == .ok)
      trial.server.holdsNext.withLock { $0 = true }
      let sending = Task {
        try await trial.client.execute(HTTPClientRequest(url: Self.secureURL), deadline: .now() + .seconds(30)).status
      }
      try await eventually("it has arrived") { !trial.server.holdsNext.withLock { $0 } }
      let start = ContinuousClock.now
      try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
      await #expect(throws: (any Error).self) { try await sending.value }
      best = min(best, ContinuousClock.now - start)
      #expect(trial.registry.closed == [.dead: 1])
      try await trial.stop()
    }
    #expect(best < .milliseconds(10), "the best of three took \(best)")
    let trial = try await Trial(version)
    #expect(try await trial.send(to: Self.secureURL) == .ok)
    trial.server.holdsNext.withLock { $0 = true }
    let repeated = Task { try await trial.send(to: Self.secureURL) }
    try await eventually("it has arrived") { !trial.server.holdsNext.withLock { $0 } }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    let answer = await repeated.result
    switch answer {
    case .success(let status): #expect(status == .ok)
    case .failure(let error): Issue.record(error)
    }
    try await trial.stop()
  }

  @Test("HTTP/2: a request that may not be repeated holds the connection for the grace; the others on it wait with it")
  func oneOfManyMayNotBeRepeated() async throws {
    let trial = try await Trial()
    #expect(try await trial.send(to: Self.secureURL) == .ok)
    trial.server.holdsNext.withLock { $0 = true }
    let posting = Task { try await trial.send(.POST, to: Self.secureURL) }
    try await eventually("it has arrived") { trial.server.requests.withLock { $0.contains("POST /") } }
    trial.server.holdsNext.withLock { $0 = true }
    let getting = Task { try await trial.send(to: Self.secureURL) }
    try await eventually("it has arrived") { !trial.server.holdsNext.withLock { $0 } }
    let start = ContinuousClock.now
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    let answer = await getting.result
    switch answer {
    case .success(let status): #expect(status == .ok)
    case .failure(let error): Issue.record(error)
    }
    #expect(ContinuousClock.now - start >= ConnectionPolicy().grace)
    await #expect(throws: (any Error).self) { try await posting.value }
    #expect(trial.server.requests.withLock { $0.filter { $0 == "POST /" }.count } == 1)
    try await trial.stop()
  }

  @Test("the budget and the number of attempts limit repeats")
  func repeatsAreLimited() async throws {
    for (attempts, budget, expected) in [(1, 100, 1), (3, 0, 1), (3, 100, 2)] {
      var trial = try await Trial()
      trial.policy.maximumAttempts = attempts
      trial.policy.budget = RepeatBudget(maximum: budget)
      trial.server.holdsNext.withLock { $0 = true }
      let sending = Task { [trial] in try await trial.send() }
      try await eventually("it has arrived") { trial.server.requests.withLock { $0.count } == 1 }
      try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
      if expected == 1 {
        await #expect(throws: ConnectionLostError.self) { try await sending.value }
      } else {
        #expect(try await sending.value == .ok)
      }
      #expect(trial.server.requests.withLock { $0.count } == expected)
      try await trial.stop()
    }
  }

  @Test("a request with a body is only repeated if the body can be read again", arguments: [false, true])
  func bodies(_ canBeReadAgain: Bool) async throws {
    var trial = try await Trial()
    trial.policy.bodyCanBeReadAgain = canBeReadAgain
    trial.server.holdsNext.withLock { $0 = true }
    let sending = Task { [trial] in try await trial.send(.PUT, body: .bytes(Array("a body".utf8))) }
    try await eventually("it has arrived") { trial.server.requests.withLock { $0.count } == 1 }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    if canBeReadAgain {
      #expect(try await sending.value == .ok)
    } else {
      await #expect(throws: ConnectionLostError.self) { try await sending.value }
    }
    #expect(trial.server.requests.withLock { $0.count } == (canBeReadAgain ? 2 : 1))
    try await trial.stop()
  }

  @Test("a client is shut down, or a task is cancelled, while requests wait at the gate: each ends, and none is sent")
  func endsAtTheGate() async throws {
    let trial = try await Trial(second: false)
    try trial.lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    let cancelled = Task { try await trial.send() }
    let waiting = (0..<10).map { _ in Task { try await trial.send() } }
    try await eventually("they wait") { trial.policy.gate.waiterCount == 11 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await trial.client.shutdown()
    trial.policy.gate.close()
    for task in waiting { await #expect(throws: PathGate.Unavailable.self) { try await task.value } }
    #expect(trial.policy.gate.waiterCount == 0 && trial.server.requests.withLock { $0.isEmpty })
    try await trial.server.stop()
    try await trial.lab.stop()
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

  /// The sockets that are connecting: each one's local port, and how often its SYN was sent again.
  private func attempts(_ lab: NetworkLab) throws -> [String: Int] {
    let table = try lab.run { try String(contentsOfFile: "/proc/thread-self/net/tcp", encoding: .utf8) }
    var attempts: [String: Int] = [:]
    for line in table.split(separator: "\n").dropFirst() {
      let fields = line.split(separator: " ")
      // SYN_SENT is 02; see proc_net_tcp.rst of the kernel's documentation.
      if fields[3] == "02" { attempts[String(fields[1])] = Int(fields[6], radix: 16) }
    }
    return attempts
  }

  @Test(
    "an attempt is under way when its address goes: requests are answered on the other uplink at once, and once",
    arguments: [Self.url, Self.secureURL])
  func anAttemptIsUnderWay(_ url: String) async throws {
    let trial = try await Trial()
    // The router of the first uplink drops what comes from there, which no route tells.
    try trial.lab.server.sysctl("ipv4/conf/s0/rp_filter", 1)
    try trial.lab.server.addRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
    let sending = (1...4).map { _ in Task { try await trial.send(to: url) } }
    // They share it.
    try await eventually("it connects") { try attempts(trial.lab.client).count == 1 }
    let start = ContinuousClock.now
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    for task in sending { #expect(try await task.value == .ok) }
    // The next ones do not wait for the old attempt either.
    #expect(try await trial.send(to: url) == .ok)
    #expect(try await trial.send(.POST, to: url) == .ok)
    // The client gives an attempt ten seconds.
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(trial.server.requests.withLock { $0 } == Array(repeating: "GET /", count: 5) + ["POST /"])
    try await trial.stop()
  }

  @Test("requests leave by the other uplink, and are redirected to the other family: they are answered")
  func aRedirectToTheOtherFamily() async throws {
    let trial = try await Trial(connect: .seconds(3))
    try trial.lab.server.addAddress("\(HTTPLab.address6)/64", "s1")
    try trial.lab.client.addAddress("fd00:1::1/64", "u1")
    try trial.lab.server.sysctl("ipv4/conf/s0/rp_filter", 1)
    try trial.lab.server.addRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
    let sending = Task { try await trial.send(to: Self.url + "redirect6") }
    try await eventually("it connects") { try attempts(trial.lab.client).count == 1 }
    try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    #expect(try await sending.value == .ok)
    try await trial.stop()
  }

  @Test(
    "a connection cannot be made: POST is sent again, unless it was sent before a redirect", arguments: [false, true])
  func nothingWasSent(_ isRedirected: Bool) async throws {
    let trial = try await Trial(connect: .seconds(2))
    // Only a router drops what has no way without a word.
    try trial.lab.server.sysctl("ipv4/ip_forward", 1)
    try trial.lab.server.addRoute("\(HTTPLab.otherAddress)/32", kind: .blackhole)
    let url = isRedirected ? Self.url + "redirect" : "http://\(HTTPLab.otherAddress):8080/"
    let sending = Task { try await trial.send(.POST, to: url) }
    try await eventually("it connects") { try attempts(trial.lab.client).count == 1 }
    let first = try attempts(trial.lab.client).keys
    try trial.lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    if isRedirected {
      await #expect(throws: HTTPClientError.connectTimeout) { try await sending.value }
      #expect(trial.server.requests.withLock { $0 } == ["POST /redirect"])
    } else {
      try await eventually("the next attempt begins") {
        try !attempts(trial.lab.client).keys.allSatisfy(first.contains)
      }
      try trial.lab.server.deleteRoute("\(HTTPLab.otherAddress)/32", kind: .blackhole)
      try trial.lab.server.addAddress("\(HTTPLab.otherAddress)/32", "lo")
      #expect(try await sending.value == .ok)
      #expect(trial.server.requests.withLock { $0 } == ["POST /"])
    }
    try await trial.stop()
  }

  @Test("the path is lost, or its address replaced, during an attempt: another one begins", arguments: [false, true])
  func anAttemptCannotSucceed(_ isReplaced: Bool) async throws {
    let trial = try await Trial(second: false)
    // What comes from the client is taken for a martian.
    try trial.lab.server.addRoute("10.0.0.1/32", kind: .blackhole)
    try trial.lab.server.sysctl("ipv4/conf/s0/rp_filter", 1)
    let sending = Task { try await trial.send() }
    // It is sent again after 1, 3 and 7 seconds.
    try await eventually("it has been sent three times") { try attempts(trial.lab.client).values.max() == 2 }
    let start = ContinuousClock.now
    if isReplaced {
      try trial.lab.client.addAddress("10.0.0.3/25", "u0")
      try trial.lab.client.deleteAddress("10.0.0.1/24", "u0")
    } else {
      try trial.lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
      try trial.lab.server.sysctl("ipv4/conf/s0/rp_filter", 0)
      try trial.lab.server.deleteRoute("10.0.0.1/32", kind: .blackhole)
      try trial.lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    }
    #expect(try await sending.value == .ok)
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(trial.server.requests.withLock { $0 } == ["GET /"])
    try await trial.stop()
  }

  @Test(
    "a request whose answer takes long is on a connection that works, also after a redirect: a change does not end it",
    arguments: [Self.url, "http://\(ConnectionLab.address):08080/", Self.url + "redirect"])
  func aLongRequestIsLeftAlone(_ url: String) async throws {
    let trial = try await Trial()
    try trial.lab.server.addAddress("\(HTTPLab.otherAddress)/32", "lo")
    let redirects = url.hasSuffix("redirect") ? 1 : 0
    #expect(try await trial.send(to: url) == .ok)
    trial.server.holdsNext.withLock { $0 = true }
    let sending = Task { try await trial.send(to: url, within: 5) }
    let expected = 2 * (1 + redirects)
    try await eventually("it has arrived") { trial.server.requests.withLock { $0.count } == expected }
    // Packets leave by the other uplink from now on, from the old address, and are answered.
    try trial.lab.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    await #expect(throws: HTTPClientError.deadlineExceeded) { try await sending.value }
    #expect(trial.server.requests.withLock { $0.count } == expected && trial.registry.closed.isEmpty)
    try await trial.stop()
  }

  @Test("initialisers that were set before still run")
  func initialisersCompose() async throws {
    let seen = Mutex(0)
    let trial = try await Trial { configuration in
      configuration.http1_1ConnectionDebugInitializer = { channel in
        seen.withLock { $0 += 1 }
        return channel.eventLoop.makeSucceededVoidFuture()
      }
    }
    #expect(try await trial.send() == .ok)
    #expect(seen.withLock { $0 } == 1 && trial.registry.counts == [.fine: 1])
    try await trial.stop()
    try await eventually("nothing is left") { trial.registry.counts.isEmpty }
  }
}
#endif
