// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import Dispatch
import Foundation
import NIOCore
import NIOPosix
import SiteLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ExporterServerTests {
  @Test func answersWhatItKnows() async throws {
    let exporter = try await TestExporter()
    #expect(try await exporter.get("/-/healthy").contains("\r\n\r\nHealthy"))
    #expect(try await exporter.get("/nosuch").hasPrefix("HTTP/1.1 404 "))
    #expect(try await exporter.get("/probe").hasPrefix("HTTP/1.1 400 "))
    #expect(
      try await exporter.exchange("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        .hasPrefix("HTTP/1.1 405 "))
    let head = try await exporter.exchange("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
  }

  /// RFC 9112, 3.2 and 3.2.2.
  @Test func takesOneHostAndAWholeURL() async throws {
    let exporter = try await TestExporter()
    func ask(_ target: String, _ fields: String, _ version: String = "1.1") async throws -> Substring {
      try await exporter.exchange("GET \(target) HTTP/\(version)\r\nConnection: close\r\n\(fields)\r\n").prefix(12)
    }
    #expect(try await ask("/-/healthy", "") == "HTTP/1.1 400")
    #expect(try await ask("/-/healthy", "Host: x\r\nHost: y\r\n") == "HTTP/1.1 400")
    #expect(try await ask("/-/healthy", "", "1.0").hasSuffix(" 200"))
    for target in ["http://x/-/healthy", "http://x:9115", "http://x?a=/probe", "http://x/?a=http://y/probe"] {
      #expect(try await ask(target, "Host: x\r\n") == "HTTP/1.1 200", "\(target)")
    }
    #expect(try await ask("http://x/nosuch", "Host: x\r\n") == "HTTP/1.1 404")
  }

  @Test func showsStrangersTextAsText() async throws {
    let exporter = try await TestExporter()
    _ = try await exporter.get("/probe?target=127.0.0.1:1/%3Cscript%3Ealert(1)%3C/script%3E%26%22%27")
    let page = try await exporter.get("/")
    #expect(page.contains("127.0.0.1:1/&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;"))
    #expect(!page.contains("<script") && page.contains("connection-refused"))
    // No request leaves the page.
    #expect(page.contains("Content-Security-Policy: default-src 'none'") && !page.contains("//cdn"))
  }

  @Test func tellsOfItsTargets() async throws {
    let site = try await SiteServer(.answer(200))
    let here = try #require(IPAddress("127.0.0.1"))
    let exporter = try await TestExporter(targets: [
      ("here", .network(.address(here))),
      ("site", .site(try SiteURL("http://127.0.0.1:\(site.port)/"))), ("down", .site("http://127.0.0.1:1/")),
    ])
    var found: [String: Double] = [:]
    try await eventually("all targets are known") {
      found = exporter.samples(in: try await exporter.get("/metrics"))
      return found.keys.count { $0.hasPrefix("dialtone_reachable") } == 3
    }
    #expect(found["dialtone_reachable{target=\"here\"}"] == 1 && found["dialtone_reachable{target=\"site\"}"] == 1)
    #expect(found["dialtone_reachable{target=\"down\"}"] == 0)
    #expect(found.keys.contains { $0.hasPrefix("dialtone_outage_cause_info{target=\"down\",cause=\"") })
    #expect(found.keys.contains { $0.hasPrefix("dialtone_state_seconds_total{target=\"site\",status=\"available\"") })
    #expect(found["process_cpu_seconds_total"] ?? 0 > 0)
  }

  // MARK: Hostile clients

  @Test(arguments: [
    String(repeating: "X: y\r\n", count: 1_000), "X: " + String(repeating: "y", count: 100_000) + "\r\n",
    "no colon\r\n", "X: a\0b\r\n",
  ])
  func endsHeaderFloods(_ fields: String) async throws {
    let exporter = try await TestExporter()
    let answer = try await exporter.exchange("GET /metrics HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    #expect(!answer.contains("200 OK"))
    #expect(try await exporter.get("/-/healthy").contains("Healthy"))
  }

  @Test(arguments: ["", "GET /met", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow:"])
  func endsSlowClients(_ beginning: String) async throws {
    var patience = ExporterServer.Patience()
    patience.request = .milliseconds(200)
    let exporter = try await TestExporter(patience: patience)
    let answer = try await exporter.exchange(beginning)
    #expect(answer.isEmpty)
  }

  /// RFC 9110, 10.1.1: a client may wait for the 100 before it sends its body, but does not in HTTP/1.0.
  @Test(arguments: ["1.1", "1.0"])
  func saysThatABodyMayCome(_ version: String) async throws {
    let exporter = try await TestExporter()
    let fields = "Host: x\r\nConnection: close\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n"
    let answer = try await exporter.exchange("GET /-/healthy HTTP/\(version)\r\n\(fields)\r\nab")
    #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 ") == (version == "1.1"), "\(answer)")
    #expect(answer.contains(" 100 ") == (version == "1.1"), "\(answer)")
  }

  private static let healthy = "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test(arguments: ["GET /met", ""])
  func endsSlowClientsAfterAnAnswer(rest: String) async throws {
    var patience = ExporterServer.Patience()
    // The connection's first limit is later than the one that counts.
    patience.request = .seconds(3_600)
    patience.nextRequest = .milliseconds(200)
    let exporter = try await TestExporter(patience: patience)
    let answer = try await exporter.exchange(Self.healthy + rest)
    #expect(answer.hasSuffix("Healthy\n"))
  }

  /// Its answers would pile up: it is asked no further, and closed in the end.
  @Test func doesNotReadOnForWhoDoesNotListen() async throws {
    var patience = ExporterServer.Patience.unhurried
    patience.answer = .seconds(1)
    let exporter = try await TestExporter(patience: patience)
    defer { withExtendedLifetime(exporter) {} }
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: exporter.port).get()
    let requests = ByteBuffer(string: String(repeating: Self.healthy, count: 2_000))
    var takenCount = 0
    do {
      while takenCount < 64 << 20 {
        try await channel.writeAndFlush(requests)
        takenCount += requests.readableBytes
      }
    } catch {
      // The server has closed the connection.
    }
    channel.close(promise: nil)
    // What the buffers of two sockets take (tcp(7), tcp_rmem and tcp_wmem).
    #expect(takenCount < 24 << 20)
  }

  @Test func answersOneRequestAfterAnother() async throws {
    let exporter = try await TestExporter()
    let last = "GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    let answers = try await exporter.exchange(Self.healthy + Self.healthy + last)
    #expect(answers.components(separatedBy: "Healthy").count == 4)
  }

  /// Who sends many requests at once holds nobody up: what others send meanwhile comes between them.
  @Test func answersOthersBetweenTheRequestsOfOne() async throws {
    let others = Box<[any Channel]>([])
    let (count, sent) = (Box(0), DispatchSemaphore(value: 0))
    let exporter = try await TestExporter {
      count.update { $0 += 1 }
      if count.value == 1 {
        for channel in others.value {
          let request = ByteBuffer(string: "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
          channel.writeAndFlush(request).whenComplete { _ in sent.signal() }
          // It is there before the next request of the first client begins.
          _ = sent.wait(timeout: .now() + 60)
        }
      }
      return [.gauge("test_place", "How many were answered", Double(count.value))]
    }
    // One on each loop of the server, so one on that of the first client.
    let received = (0..<SiteResources.loopCount).map { _ in Box("") }
    for text in received {
      let channel = try await exporter.connect(into: text)
      others.update { $0.append(channel) }
    }
    let few = String(repeating: "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", count: 40)
    let answers = try await exporter.exchange(few + "GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(answers.components(separatedBy: " 200 OK").count == 42 && answers.hasSuffix("Healthy\n"))
    for channel in others.value { try await channel.closeFuture.get() }
    for text in received { #expect(exporter.samples(in: text.value)["test_place"] ?? 100 < 40) }
  }

  /// blackbox_exporter has no limit: what comes beyond ours waits for its turn, and fails no more than there.
  @Test func probesBeyondTheLimitWaitForTheirTurn() async throws {
    let site = try await SiteServer(
      SiteBehaviour { request in [.pause(.seconds(1)), .answer(200, to: request), .close] }, recording: false)
    let exporter = try await TestExporter(environment: SiteEnvironment())
    let answers = try await withThrowingTaskGroup(of: Double?.self) { group in
      for _ in 0..<500 { group.addTask { try await exporter.probe("127.0.0.1:\(site.port)")["probe_success"] } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 1, count: 500))
  }

  /// Each probe takes as long as it may: what comes beyond the limit is refused within half of that, and nothing hangs.
  @Test func refusesPolitelyBeyondTheLimit() async throws {
    let deaf = try await SiteServer(SiteBehaviour(), recording: false)
    // An environment of its own: it takes all checks that there are.
    let exporter = try await TestExporter(environment: SiteEnvironment())
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<500 {
        group.addTask {
          try await exporter.get(
            "/probe?target=127.0.0.1:\(deaf.port)", fields: "X-Prometheus-Scrape-Timeout-Seconds: 8\r\n")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let refused = answers.filter { $0.hasPrefix("HTTP/1.1 503 ") && $0.contains("Retry-After: 1\r\n") }
    let probed = answers.filter { $0.hasPrefix("HTTP/1.1 200 ") }
    #expect(refused.count + probed.count == 500 && !refused.isEmpty && probed.count >= 256)
  }

  /// Prometheus keeps its connections open for minutes: they must not keep others out.
  @Test func closesAConnectionThatWaitsWhenAnotherComes() async throws {
    let exporter = try await TestExporter(connectionLimit: 1)
    let received = Box("")
    async let kept = exporter.exchange("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n", into: received)
    try await eventually("the first is answered") { received.value.hasSuffix("Healthy\n") }
    try await eventually("another is answered") { try await exporter.get("/-/healthy").hasPrefix("HTTP/1.1 200 ") }
    #expect(try await kept.hasPrefix("HTTP/1.1 200 "))
  }

  /// Nor must requests that never come to their end; one whose answer is being found stays.
  @Test func closesAHalfSentRequestWhenAnotherComes() async throws {
    let (wait, end) = AsyncStream<Void>.makeStream()
    let isAsked = Box(false)
    let environment = SiteEnvironment(perform: { url, _ in
      isAsked.value = true
      for await _ in wait {}
      return SiteVerdict(url: url, kind: .available, status: 200)
    })
    let exporter = try await TestExporter(environment: environment, connectionLimit: 2)
    async let answer = exporter.probe("a.example")
    try await eventually("a probe is under way") { isAsked.value }
    async let half = exporter.exchange("GET /-/healthy HTTP/1.1\r\nX: ")
    for _ in 1...3 {
      try await eventually("another is answered") { try await exporter.get("/-/healthy").hasPrefix("HTTP/1.1 200 ") }
    }
    #expect(try await half.isEmpty)
    end.finish()
    #expect(try await answer["probe_success"] == 1)
  }

  /// Nor must who sends many requests, and takes no answer.
  @Test func closesAConnectionThatTakesNothingWhenAnotherComes() async throws {
    let exporter = try await TestExporter(connectionLimit: 1)
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: exporter.port).get()
    // Far more than the buffers of two sockets take (tcp(7), tcp_rmem and tcp_wmem).
    let requests = ByteBuffer(string: String(repeating: Self.healthy, count: 200_000))
    channel.writeAndFlush(requests, promise: nil)
    try await eventually("another is answered") { try await exporter.get("/-/healthy").hasPrefix("HTTP/1.1 200 ") }
    channel.close(promise: nil)
  }

  @Test func answersWhatIsUnderWayBeforeItEnds() async throws {
    let site = try await SiteServer(
      SiteBehaviour { request in [.pause(.milliseconds(500)), .answer(200, to: request), .close] })
    let exporter = try await TestExporter()
    async let answer = exporter.probe("127.0.0.1:\(site.port)")
    try await eventually("the probe is under way") { !site.connections.isEmpty }
    await exporter.stop()
    #expect(try await answer["probe_success"] == 1)
    await #expect(throws: (any Error).self) { try await exporter.get("/") }
  }

  /// A second exporter does not take the path of one that listens; what one has left over is taken away.
  @Test func aPathOnWhichSomebodyListensIsNotTaken() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/exporter.sock"
    defer { Program.removeItem(URL(fileURLWithPath: path)) }
    func server() throws -> ExporterServer {
      ExporterServer(
        Exporter(
          configuration: .usual, policy: .local, watched: try WatchedTargets([]), process: ProcessMetrics(),
          environment: nil))
    }
    let (first, second) = (try server(), try server())
    _ = try await Task.detached { try first.listen(on: .path(path)) }.value
    await #expect(throws: (any Error).self) { try await Task.detached { try second.listen(on: .path(path)) }.value }
    #expect(FileManager.default.fileExists(atPath: path))
    first.stop(within: .zero)
    // Its listener closes on its own loop.
    try await eventually("the path is free") {
      do {
        _ = try await Task.detached { try second.listen(on: .path(path)) }.value
        return true
      } catch let failure as ExporterServer.Failure where failure.description.contains("in use") {
        return false
      }
    }
    second.stop(within: .zero)
  }

  // MARK: Files

  @Test func replacesAFileAsAWhole() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.prom"
    defer { Program.removeItem(URL(fileURLWithPath: path)) }
    for text in ["first\n", "second, longer\n", "3\n"] {
      try ReplacedFile.write(text, to: path)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.prom"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o644)
    #expect(throws: SystemError.self) { try ReplacedFile.write("x", to: folder.path + "/nosuch/a") }
  }

  /// As the shell's redirection does.
  @Test func followsLinksThatLeadToNothingYet() throws {
    let folder = try TemporaryFolder()
    let (first, loop, file) = (folder.path + "/first", folder.path + "/loop", folder.path + "/file")
    defer {
      for path in [first, folder.path + "/second", loop, file] { Program.removeItem(URL(fileURLWithPath: path)) }
    }
    try FileManager.default.createSymbolicLink(atPath: first, withDestinationPath: "second")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/second", withDestinationPath: file)
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    try ReplacedFile.write("text", to: first)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "text")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: first) == "second")
    let error = #expect(throws: SystemError.self) { try ReplacedFile.write("text", to: loop) }
    #expect(error?.errno == ELOOP)
  }
}
