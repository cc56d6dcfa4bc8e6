// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// Holds up what waits at it, until it is opened.
private actor Gate {
  private(set) var count = 0
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    count += 1
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

/// What an exporter answers, as Exporter.md has it. Made-up checks stand in for the network.
@Suite(.timeLimit(.minutes(5)))
struct ExporterAnswerTests {
  private static let available: SiteEngineProvider.Perform = { url, _ in
    SiteVerdict(url: url, kind: .available, status: 200)
  }

  private func exporter(
    _ perform: @escaping SiteEngineProvider.Perform = available, policy: ProbePolicy = .local,
    time: TimeSource = .system
  ) throws -> Exporter {
    Exporter(
      configuration: .usual, policy: policy, watched: try WatchedTargets([]), process: ProcessMetrics(),
      environment: SiteEnvironment(perform: perform), time: time)
  }

  private func metrics(_ exporter: Exporter) async -> [String] {
    await exporter.answer(Exporter.Request(target: "/metrics")).body.split(separator: "\n").map(String.init)
  }

  @Test(arguments: [
    ("GET", "/", 200, "text/html; charset=utf-8", "<!DOCTYPE html>"),
    ("GET", "/?a=b", 200, "text/html; charset=utf-8", "<"),
    ("HEAD", "/-/healthy", 200, "text/plain; charset=utf-8", "Healthy\n"),
    ("GET", "/-/healthy?a", 200, "text/plain; charset=utf-8", "Healthy\n"),
    ("GET", "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "# HELP "),
    ("GET", "/probe?target=a.example", 200, "text/plain; version=0.0.4; charset=utf-8", "# HELP "),
    ("GET", "/probe", 400, "text/plain; charset=utf-8", "Target parameter is missing\n"),
    ("GET", "/probe?", 400, "text/plain; charset=utf-8", "Target parameter is missing\n"),
    ("GET", "/probe?target=a&module=b", 400, "text/plain; charset=utf-8", "Unknown module \"b\"\n"),
    ("GET", "/nosuch", 404, "text/plain; charset=utf-8", "There are "),
    ("GET", "", 404, "text/plain; charset=utf-8", "T"),
    ("GET", "?a", 404, "text/plain; charset=utf-8", "There are "),
    ("GET", "/probe/", 404, "text/plain; charset=utf-8", "T"),
    ("POST", "/", 405, "text/plain; charset=utf-8", "Only GET and HEAD"),
    ("get", "/", 405, "text/plain; charset=utf-8", "O"),
  ])
  func answers(_ method: String, _ target: String, _ status: Int, _ type: String, _ beginning: String) async throws {
    let answer = try await exporter().answer(Exporter.Request(method: method, target: target))
    #expect(answer.status == status && answer.type == type && answer.body.hasPrefix(beginning), "\(answer.body)")
    #expect(answer.fields.contains { $0.name == "Allow" && $0.value == "GET, HEAD" } == (status == 405))
  }

  @Test func anAnswerHasTheFormatThatIsAskedFor() async throws {
    let exporter = try exporter()
    for target in ["/metrics", "/probe?target=a.example"] {
      let answer = await exporter.answer(Exporter.Request(target: target, format: .openMetrics))
      #expect(answer.type.hasPrefix("application/openmetrics-text") && answer.body.hasSuffix("# EOF\n"), "\(target)")
    }
  }

  /// All behind the first question mark is the query; what is allowed is what is asked for.
  @Test func probesWhatIsAskedFor() async throws {
    let asked = Box<[String]>([])
    let policy = try ProbePolicy(allowing: ["a.example"])
    let exporter = try exporter(
      { url, _ in
        asked.update { $0.append(url.text) }
        return SiteVerdict(url: url, kind: .unexpectedResponse, status: 404)
      }, policy: policy)
    let refused = await exporter.answer(Exporter.Request(target: "/probe?target=b.example"))
    let answer = await exporter.answer(Exporter.Request(target: "/probe?target=a.example/?b=c?d"))
    #expect(refused.status == 403 && answer.status == 200 && answer.body.contains("\nprobe_success 0\n"))
    #expect(asked.value == ["http://a.example/?b=c?d"])
    let text = await exporter.answer(Exporter.Request(target: "/probe?target=a.example&debug=true&module=tcp_connect"))
    #expect(text.status == 200 && text.body.contains("Probe failed: target: give a host and a port"))
    let debug = await exporter.answer(
      Exporter.Request(target: "/probe?target=a.example:22&debug=true&module=tcp_connect"))
    #expect(
      debug.type == "text/plain; charset=utf-8" && debug.body.hasPrefix("Logs for the probe:\nmodule=tcp_connect "))
    #expect(debug.body.contains("module=tcp_connect a.example:22: "), "\(debug.body)")
    #expect(debug.body.contains("\n\n\n\nMetrics that would have been returned:\n# HELP "))
    #expect(debug.body.hasSuffix("\n\n\n\nModule configuration:\nprober: tcp\n"))
  }

  /// The time in which a probe waited for its turn is not its own any more.
  @Test func theWaitCountsToo() async throws {
    let (times, timeouts) = (Box<[Int64]>([100, 103]), Box<[Duration]>([]))
    let clock = TimeSource(passes: false, realtime: { 86_400_000_000_000 }) {
      let now = times.value.first ?? 0
      times.update { if $0.count > 1 { $0.removeFirst() } }
      return now * 1_000_000_000
    }
    let exporter = try exporter(
      { url, configuration in
        timeouts.update { $0.append(configuration.timeout) }
        return SiteVerdict(url: url, kind: .available, status: 200)
      }, time: clock)
    _ = await exporter.answer(Exporter.Request(target: "/probe?target=a.example", scrapeTimeout: "120"))
    // 120 seconds less half of one for the way back and three of waiting, and what the machine takes.
    let timeout = try #require(timeouts.value.first)
    #expect(timeout <= .milliseconds(116_500) && timeout > .seconds(30))
    #expect(await exporter.answer(Exporter.Request()).body.contains("<td>1970-01-02T00:00:00Z</td><td>a.example</td>"))
  }

  /// As blackbox_exporter does: a failure is not lost among those that succeed.
  @Test func thePageKeepsFailures() async throws {
    let exporter = try exporter { url, _ in
      let isFine = url.text.contains("fine")
      return SiteVerdict(url: url, kind: isFine ? .available : .unexpectedResponse, status: isFine ? 200 : 500)
    }
    for target in ["bad.example"] + (1...200).map({ "fine\($0).example" }) {
      _ = await exporter.answer(Exporter.Request(target: "/probe?target=\(target)"))
    }
    let body = await exporter.answer(Exporter.Request()).body
    #expect(body.contains(">bad.example<") && body.contains(">fine200.example<") && !body.contains(">fine1.example<"))
  }

  /// The last hundred, the newest first.
  @Test func thePageShowsTheLastProbes() async throws {
    let exporter = try exporter()
    #expect(await exporter.answer(Exporter.Request()).body.contains("There was none."))
    for (count, rows) in [(100, 0..<100), (101, 1..<101), (102, 2..<102)] {
      let first = count == 100 ? 0 : count - 1
      for number in first..<count {
        _ = await exporter.answer(Exporter.Request(target: "/probe?target=host\(number).example"))
      }
      let page = await exporter.answer(Exporter.Request()).body
      let shown = page.split(separator: "<td>").filter { $0.hasPrefix("host") }.map { $0.prefix { $0 != "." } }
      #expect(shown == rows.reversed().map { "host\($0)" }, "\(count)")
    }
  }

  @Test func countsProbesByTheirVerdict() async throws {
    let exporter = try exporter { url, _ in
      SiteVerdict(url: url, kind: url.text.contains("good") ? .available : .failed, stage: .connect)
    }
    let before = await metrics(exporter)
    #expect(before.contains("dialtone_probes_running 0") && before.contains("dialtone_probes_waiting 0"))
    #expect(
      before.contains("dialtone_probes_refused_total 0") && !before.contains { $0.contains("dialtone_probes_total") })
    for target in ["good", "bad", "good"] {
      _ = await exporter.answer(Exporter.Request(target: "/probe?target=\(target).example"))
    }
    let after = await metrics(exporter)
    #expect(
      after.filter { $0.hasPrefix("dialtone_probes_total{") } == [
        "dialtone_probes_total{verdict=\"available\"} 2", "dialtone_probes_total{verdict=\"failed\"} 1",
      ])
    #expect(after.contains("dialtone_probes_running 0") && after.contains { $0.hasPrefix("dialtone_build_info{") })
    // What node_exporter reads is about the targets alone.
    #expect(!exporter.textfile.contains("dialtone_probes"))
  }

  /// Exporter.md: 256 at a time, 512 wait, and what comes beyond is refused at once.
  @Test func limitsWhatRunsAndWhatWaits() async throws {
    let gate = Gate()
    let exporter = try exporter { url, _ in
      await gate.wait()
      return SiteVerdict(url: url, kind: .available, status: 200)
    }
    let request = Exporter.Request(target: "/probe?target=a.example", scrapeTimeout: "120")
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<768 { group.addTask { await exporter.answer(request).status } }
      do {
        try await eventually("256 run and 512 wait") {
          let now = await metrics(exporter)
          return now.contains("dialtone_probes_running 256") && now.contains("dialtone_probes_waiting 512")
        }
        let refused = await exporter.answer(request)
        #expect(refused.status == 503 && refused.body.hasPrefix("256 probes are under way"))
        #expect(refused.fields.contains { $0.name == "Retry-After" && $0.value == "1" })
        #expect(await metrics(exporter).contains("dialtone_probes_refused_total 1"))
      } catch {
        await gate.open()
        throw error
      }
      await gate.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == Array(repeating: 200, count: 768))
    let after = await metrics(exporter)
    #expect(after.contains("dialtone_probes_running 0") && after.contains("dialtone_probes_waiting 0"))
    #expect(after.contains("dialtone_probes_total{verdict=\"available\"} 768"))
  }

  // MARK: Over a connection

  private static let healthy = "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
  private static let last = "GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

  private func patience() -> ExporterServer.Patience {
    var patience = ExporterServer.Patience.unhurried
    // Only a connection that stays open by mistake waits for it.
    patience.nextRequest = .seconds(5)
    return patience
  }

  @Test func answersAreWellFormed() async throws {
    let exporter = try await TestExporter(patience: patience())
    let answers = try await exporter.exchange(Self.healthy + Self.last)
    let end = try #require(answers.firstRange(of: "Healthy\n"))
    let (first, second) = (answers[..<end.upperBound], answers[end.upperBound...])
    for answer in [first, second] {
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\nHealthy\n"))
      for field in ["Content-Type: text/plain; charset=utf-8", "Content-Length: 8", "X-Content-Type-Options: nosniff"] {
        #expect(answer.contains("\r\n\(field)\r\n"), "\(field)")
      }
    }
    #expect(!first.contains("Connection: close") && second.contains("\r\nConnection: close\r\n"))
    let head = try await exporter.exchange(Self.last.replacing("GET", with: "HEAD"))
    #expect(head.contains("\r\nContent-Length: 8\r\n") && head.hasSuffix("\r\n\r\n"))
    let metrics = try await exporter.get("/metrics", fields: "Accept: application/openmetrics-text\r\n")
    #expect(metrics.contains("\r\nContent-Type: application/openmetrics-text;") && metrics.hasSuffix("# EOF\n"))
    let twice = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n"
    let both = try await exporter.exchange("\(twice)\r\n\(twice)Connection: close\r\n\r\n")
    #expect(both.split(separator: "# EOF\n").count == 2 && both.hasSuffix("# EOF\n"))
  }

  /// RFC 9110, 5.5: the space around a field's value is no part of it.
  @Test func leavesOutTheSpaceAroundAField() async throws {
    let fields = "X-Prometheus-Scrape-Timeout-Seconds: \t3 \t\r\n"
    let answer = try await TestExporter(patience: patience()).get(
      "/probe?target=127.0.0.1:1&module=tcp_connect", fields: fields)
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
  }

  /// RFC 9110, 6.6.1: who has a clock says when the answer was made, with 2xx, 3xx and 4xx.
  @Test(arguments: ["/-/healthy", "/probe", "/nosuch"])
  func tellsTheTime(_ path: String) async throws {
    let before = Int(UTCTimestamp.now.durationSince1970.components.seconds)
    let answer = try await TestExporter(patience: patience()).get(path)
    let after = Int(UTCTimestamp.now.durationSince1970.components.seconds)
    let field = answer.split(separator: "\r\n").first { $0.hasPrefix("Date: ") }
    let seconds = try #require(field.flatMap { HTTPDate.seconds(of: String($0.dropFirst("Date: ".count))) })
    #expect((before...after).contains(seconds), "\(field ?? "")")
  }

  /// RFC 9112, 9.3: without `keep-alive`, HTTP/1.0 ends; a server ends after a request that it cannot trust. 9.6: after
  /// `close`, what comes is not processed.
  @Test(arguments: [
    ("GET /-/healthy HTTP/1.0\r\n\r\n", "200"), ("GET / HTTP/1.1\r\n\r\n", "400"),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "400"), (last + healthy, "200"), (last + "no request", "200"),
  ])
  func endsAfterItsAnswer(_ request: String, _ status: String) async throws {
    let answer = try await TestExporter(patience: patience()).exchange(request)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("\r\nConnection: close\r\n"))
    #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
  }

  /// RFC 9110, 9.1 and 15.5.6: a method that nobody knows is not implemented, one that is known is not allowed; names
  /// of methods have their case. RFC 6585, 5: fields are too large each, or together. The connection ends.
  @Test(arguments: [
    ("FOO / HTTP/1.1\r\nHost: x\r\n\r\n", 501), ("get / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
    ("DELETE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
    ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X: y\r\n", count: 150))\r\n", 431),
  ])
  func saysWhyItDoesNotAnswer(_ request: String, _ status: Int) async throws {
    let exporter = try await TestExporter(patience: patience())
    // Also as the second request of a connection, which gets its answer first.
    for first in ["", Self.healthy] {
      let answer = try await exporter.exchange(first + request)
      let last = answer.firstRange(of: "HTTP/1.1 \(status) ").map { answer[$0.lowerBound...] } ?? ""
      #expect(last.contains("\r\nConnection: close\r\n") && last.contains("\r\nDate: "), "\(answer)")
      #expect(last.contains("\r\nAllow: GET, HEAD\r\n") == (status == 405))
      #expect(answer.hasPrefix("HTTP/1.1 \(first.isEmpty ? status : 200) "), "\(answer)")
    }
  }

  /// No request needs a body; 64 KiB of one are read.
  @Test(arguments: [(65_536, true), (65_537, false)])
  func endsALongBody(_ length: Int, _ isAnswered: Bool) async throws {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n"
    let answer = try await TestExporter(patience: patience()).exchange(head + String(repeating: "x", count: length))
    #expect(answer.hasPrefix("HTTP/1.1 405 ") == isAnswered && answer.isEmpty != isAnswered)
  }

  /// A hundred fields, 8 KiB of one, 32 KiB of all.
  @Test(arguments: [
    (90, 10, true), (150, 10, false), (1, 8_000, true), (1, 12_000, false), (4, 7_000, true), (6, 7_000, false),
  ])
  func limitsTheFields(_ count: Int, _ length: Int, _ isAnswered: Bool) async throws {
    let fields = String(repeating: "X: \(String(repeating: "y", count: length))\r\n", count: count)
    let answer = try await TestExporter(patience: patience()).get("/-/healthy", fields: fields)
    #expect(answer.hasPrefix("HTTP/1.1 200 ") == isAnswered)
  }

  /// The one connection that there may be has a probe under way: another is told to come again.
  @Test func tellsThatThereAreTooManyConnections() async throws {
    let gate = Gate()
    let environment = SiteEnvironment(perform: { url, _ in
      await gate.wait()
      return SiteVerdict(url: url, kind: .available, status: 200)
    })
    let exporter = try await TestExporter(patience: patience(), environment: environment, connectionLimit: 1)
    async let probe = exporter.probe("a.example")
    do {
      try await eventually("the probe is under way") { await gate.count == 1 }
      let answer = try await exporter.exchange(Self.healthy)
      #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: 1\r\n"))
      #expect(
        answer.contains("\r\nConnection: close\r\n")
          && answer.hasSuffix("Too many connections are open; ask again later.\n"))
    } catch {
      await gate.open()
      throw error
    }
    await gate.open()
    #expect(try await probe["probe_success"] == 1)
    try await eventually("there is room again") { try await exporter.exchange(Self.last).hasPrefix("HTTP/1.1 200 ") }
  }

  /// It takes no more connections, and ends when the answer that is under way has been given.
  @Test func stopsAfterTheLastAnswer() async throws {
    let (gate, isStopped) = (Gate(), Box(false))
    let environment = SiteEnvironment(perform: { url, _ in
      await gate.wait()
      return SiteVerdict(url: url, kind: .available, status: 200)
    })
    let exporter = try await TestExporter(environment: environment)
    async let probe = exporter.probe("a.example")
    do {
      try await eventually("the probe is under way") { await gate.count == 1 }
      async let stop: Void = {
        await exporter.stop()
        isStopped.value = true
      }()
      try await eventually("no connection is taken") {
        do {
          _ = try await exporter.exchange(Self.last)
          return false
        } catch {
          return true
        }
      }
      #expect(!isStopped.value)
      await gate.open()
      await stop
    } catch {
      await gate.open()
      throw error
    }
    #expect(try await probe["probe_success"] == 1 && isStopped.value)
  }

  /// Nobody waits for a probe whose client has gone.
  @Test func aProbeEndsWithItsConnection() async throws {
    let (isAsked, isCancelled) = (Box(false), Box(false))
    let environment = SiteEnvironment(perform: { url, _ in
      isAsked.value = true
      do {
        // It is cancelled long before.
        try await Task.sleep(for: .seconds(100))
      } catch {
        isCancelled.value = true
        throw error
      }
      return SiteVerdict(url: url, kind: .available, status: 200)
    })
    let exporter = try await TestExporter(environment: environment)
    let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: exporter.port).get()
    let request = "GET /probe?target=a.example HTTP/1.1\r\nHost: x\r\n\r\n"
    try await client.writeAndFlush(ByteBuffer(string: request))
    try await eventually("the probe is under way") { isAsked.value }
    try await client.close()
    try await eventually("the probe has ended") { isCancelled.value }
    withExtendedLifetime(exporter) {}
  }
}
