// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When a request is sent, sent again, and given up, on a scripted network and a protocol that answers by itself.
@Suite(.timeLimit(.minutes(3)))
struct SessionTests {
  /// What a request gets.
  enum Answer: Sendable {
    case text(String)
    case failure(URLError.Code)
    /// Nothing, until it is cancelled.
    case silence
  }

  /// Answers the requests for one URL, by their number from 1 on.
  final class Server: Sendable {
    static let all = Mutex<[String: Server]>([:])
    let request: URLRequest
    private let answer: @Sendable (Int) async throws -> Answer
    private let requests = Mutex(0)

    init(_ url: String, method: String = "GET", _ answer: @escaping @Sendable (Int) async throws -> Answer) throws {
      var request = URLRequest(url: try #require(URL(string: url)))
      request.httpMethod = method
      (self.request, self.answer) = (request, answer)
      Self.all.withLock { $0[url] = self }
    }

    convenience init(_ method: String = "GET", _ answer: @escaping @Sendable (Int) async throws -> Answer) throws {
      try self.init("http://192.0.2.80/\(UUID())", method: method, answer)
    }

    var count: Int { requests.withLock { $0 } }

    func next() async -> Answer {
      let number = requests.withLock { count in
        count += 1
        return count
      }
      do {
        return try await answer(number)
      } catch {
        Issue.record(error)
        return .failure(.unknown)
      }
    }
  }

  /// Takes all requests of a session.
  final class Scripted: URLProtocol {
    /// A client may be called on any thread.
    private struct Carried: @unchecked Sendable {
      let loading: Scripted
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
      guard let url = request.url, let server = Server.all.withLock({ $0[url.absoluteString] }) else {
        client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL))
        return
      }
      let carried = Carried(loading: self)
      Task { carried.loading.end(with: await server.next(), for: url) }
    }

    private func end(with answer: Answer, for url: URL) {
      switch answer {
      case .silence: break
      case .failure(let code): client?.urlProtocol(self, didFailWithError: URLError(code))
      case .text(let text):
        let response = URLResponse(
          url: url, mimeType: "text/plain", expectedContentLength: text.utf8.count, textEncodingName: "utf-8")
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(text.utf8))
        client?.urlProtocolDidFinishLoading(self)
      }
    }
  }

  private static let first = IPAddress(ipv4: 0xC000_0202)
  private static let second = IPAddress(ipv4: 0xC633_6402)

  /// Sends it. Returns the text that it got, or the word of the error.
  private func send(
    _ server: Server, _ network: ScriptedNetwork, _ change: (inout ConnectivityPolicy) -> Void = { _ in }
  ) async throws -> String {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Scripted.self]
    configuration.urlCache = nil
    var policy = ConnectivityPolicy()
    (policy.environment, policy.gate) = (network.environment, PathGate(environment: network.environment))
    policy.timeoutForResource = .seconds(600)
    change(&policy)
    do {
      let (data, _) = try await URLSession(configuration: configuration).data(for: server.request, connectivity: policy)
      return String(decoding: data, as: UTF8.self)
    } catch let error as URLError {
      return "\(error.code.rawValue)"
    }
  }

  private func wired() -> ScriptedNetwork {
    let network = ScriptedNetwork()
    network.set(.wired)
    return network
  }

  /// Fails each request after the path has changed.
  private func unsteady(_ network: ScriptedNetwork, _ method: String = "GET", until last: Int = .max) throws -> Server {
    try Server(method) { number in
      if number >= last { return .text("at last") }
      network.set(number % 2 == 1 ? .wifi : .wired)
      try await network.settle()
      return .failure(.networkConnectionLost)
    }
  }

  private static let lost = "\(URLError.Code.networkConnectionLost.rawValue)"

  // MARK: The policy

  @Test func theDefaultsAreThoseOfTheDocumentation() {
    let policy = ConnectivityPolicy()
    #expect(policy.waitsForConnectivity && policy.maximumAttempts == 3 && policy.timeoutForResource == nil)
  }

  /// RFC 9110, 9.2.2: PUT, DELETE and the safe methods are idempotent.
  @Test(
    arguments: [
      ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true), ("DELETE", true),
      ("POST", false), ("PATCH", false), ("CONNECT", false),
    ])
  func idempotentMethodsMayBeRepeated(method: String, mayBe: Bool) throws {
    var request = URLRequest(url: try #require(URL(string: "http://192.0.2.80/")))
    request.httpMethod = method
    #expect(ConnectivityPolicy().mayRepeat(request) == mayBe)
    request.httpBody = Data([1])
    #expect(ConnectivityPolicy().mayRepeat(request) == mayBe)
    request.httpBodyStream = InputStream(data: Data([1]))
    #expect(!ConnectivityPolicy().mayRepeat(request), "a stream is read once")
  }

  // MARK: Attempts

  @Test func whatIsAnsweredIsSentOnce() async throws {
    let server = try Server { _ in .text("an answer") }
    #expect(try await send(server, wired()) == "an answer")
    #expect(server.count == 1)
  }

  @Test func whatFailsOnTheSamePathIsNotRepeated() async throws {
    let server = try Server { _ in .failure(.badServerResponse) }
    #expect(try await send(server, wired()) == "\(URLError.Code.badServerResponse.rawValue)")
    #expect(server.count == 1)
  }

  @Test(arguments: [1, 2, 3, 4]) func whatFailsWithItsPathIsSentAsOftenAsThePolicySays(limit: Int) async throws {
    let network = wired()
    let server = try unsteady(network)
    #expect(try await send(server, network) { $0.maximumAttempts = limit } == Self.lost)
    #expect(server.count == limit)
  }

  @Test func whatWorksAtLastIsTheAnswer() async throws {
    let network = wired()
    let server = try unsteady(network, until: 3)
    #expect(try await send(server, network) == "at last")
    #expect(server.count == 3)
  }

  @Test(arguments: [(false, 1), (true, 3)]) func whatMayNotBeRepeatedIsSentOnce(mayBe: Bool, count: Int) async throws {
    let network = wired()
    let server = try unsteady(network, "POST")
    #expect(try await send(server, network) { if mayBe { $0.mayRepeat = { _ in true } } } == Self.lost)
    #expect(server.count == count)
  }

  /// Another source address alone is another path.
  @Test func whatFailsAfterItsAddressHasChangedIsRepeated() async throws {
    let network = wired()
    let eth0 = try #require(NetworkInterface(name: "eth0", index: 3, kind: .wired))
    let server = try Server { number in
      if number == 2 { return .text("an answer") }
      network.set(.reachable(over: eth0, gateway: IPAddress(ipv4: 0xC000_0201), source: Self.second))
      try await network.settle()
      return .failure(.timedOut)
    }
    #expect(try await send(server, network) == "an answer")
    #expect(server.count == 2)
  }

  // MARK: An address that is gone

  /// The address of the request is gone, and there is another one.
  private func readdress(_ network: ScriptedNetwork) throws {
    let wlan0 = try #require(NetworkInterface(name: "wlan0", index: 2, kind: .wifi))
    network.set(.unreachable(.noAddress), from: Self.first)
    network.set(.reachable(over: wlan0, source: Self.second))
  }

  @Test func whatIsUnderWayFromAnAddressThatIsGoneIsSentAgain() async throws {
    let network = wired()
    let server = try Server { number in
      if number == 2 { return .text("from another address") }
      try self.readdress(network)
      return .silence
    }
    #expect(try await send(server, network) == "from another address")
    #expect(server.count == 2)
  }

  /// DHCP gives the link another address: the source is all that changes of the path.
  @Test func whatIsUnderWayFromAnAddressThatWasReplacedIsSentAgain() async throws {
    let network = wired()
    let eth0 = try #require(NetworkInterface(name: "eth0", index: 3, kind: .wired))
    let server = try Server { number in
      if number == 2 { return .text("from another address") }
      network.set(.reachable(over: eth0, gateway: IPAddress(ipv4: 0xC000_0201), source: Self.second))
      network.set(.unreachable(.noAddress), from: Self.first)
      return .silence
    }
    #expect(try await send(server, network) { $0.timeoutForResource = .seconds(60) } == "from another address")
    #expect(server.count == 2)
  }

  @Test func whatMayNotBeRepeatedIsLeftUnderWay() async throws {
    let network = wired()
    let server = try Server("POST") { _ in
      try self.readdress(network)
      try await network.settle()
      return .text("an answer all the same")
    }
    #expect(try await send(server, network) == "an answer all the same")
    #expect(server.count == 1)
  }

  @Test func whatIsUnderWayFromAnAddressThatStillWorksIsLeftUnderWay() async throws {
    let network = wired()
    let wlan0 = try #require(NetworkInterface(name: "wlan0", index: 2, kind: .wifi))
    let server = try Server { _ in
      network.set(.reachable(over: wlan0, source: Self.second))
      try await network.settle()
      return .text("an answer")
    }
    #expect(try await send(server, network) == "an answer")
    #expect(server.count == 1)
  }

  // MARK: Waiting

  @Test func aRequestWaitsForAPath() async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable(.noRoute))
    let gate = PathGate(environment: network.environment)
    let server = try Server { _ in .text("an answer") }
    async let answer = send(server, network) { $0.gate = gate }
    try await eventually("it waits") { gate.waiterCount == 1 }
    #expect(server.count == 0)
    network.set(.wired)
    #expect(try await answer == "an answer")
    #expect(server.count == 1)
  }

  @Test func aRequestThatDoesNotWaitIsSentWithoutAPath() async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable(.noRoute))
    let server = try Server { _ in .failure(.cannotConnectToHost) }
    let code = try await send(server, network) { $0.waitsForConnectivity = false }
    #expect(code == "\(URLError.Code.cannotConnectToHost.rawValue)" && server.count == 1)
  }

  /// Only who waits for a path waits until its name is looked up.
  @Test func aRequestThatDoesNotWaitIsSentWhileItsNameHangs() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    network.set(.hanging, forName: "hanging.example")
    let server = try Server("http://hanging.example/") { _ in .text("an answer") }
    let ticking = Task {
      while !Task.isCancelled {
        network.clock.advance(by: .seconds(1))
        // Between two steps; nothing is waited for.
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    defer { ticking.cancel() }
    #expect(try await send(server, network) { $0.waitsForConnectivity = false } == "an answer")
  }

  /// URLSession itself asks nobody.
  @Test(arguments: [true, false]) func aRequestIsSentIfTheSystemDoesNotSay(waits: Bool) async throws {
    let network = ScriptedNetwork()
    network.set(.denied)
    let server = try Server { _ in .text("an answer") }
    #expect(try await send(server, network) { $0.waitsForConnectivity = waits } == "an answer")
  }

  @Test func theEnvironmentAloneIsEnoughToWaitInIt() async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable(.noRoute))
    let server = try Server { _ in
      #expect(Reachability.now(environment: network.environment).isReachable)
      return .text("an answer")
    }
    async let answer = send(server, network) { $0.gate = .shared }
    try await network.settle()
    network.set(.wired)
    #expect(try await answer == "an answer")
  }

  /// `URLSessionConfiguration` takes any time; a plain session takes these for no limit.
  @Test(arguments: [.infinity, .greatestFiniteMagnitude, 9.3e18, .nan] as [TimeInterval])
  func aTimeMayHaveNoEnd(time: TimeInterval) async throws {
    let network = wired()
    let server = try Server { _ in .text("an answer") }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Scripted.self]
    configuration.timeoutIntervalForResource = time
    var policy = ConnectivityPolicy()
    policy.environment = network.environment
    let session = URLSession(configuration: configuration)
    #expect(try await session.data(for: server.request, connectivity: policy).0 == Data("an answer".utf8))
    for time in [Duration.seconds(Int64.max), Duration(attoseconds: .max)] {
      policy.timeoutForResource = time
      #expect(try await session.data(for: server.request, connectivity: policy).0 == Data("an answer".utf8))
    }
    network.set(.unreachable(.noRoute))
    try await network.settle()
    for time in [Duration.seconds(-1), Duration(attoseconds: .min)] {
      policy.timeoutForResource = time
      await #expect(throws: PathGate.Unavailable.self) {
        try await session.data(for: server.request, connectivity: policy)
      }
    }
  }
}
