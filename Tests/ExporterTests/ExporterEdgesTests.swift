// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import DialtoneTesting
import SiteLab
import TestSupport
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// Where an exporter meets the system, and what is over at once.
@Suite(.timeLimit(.minutes(5)))
struct ExporterEdgesTests {
  private func exporter(_ perform: SiteEngineProvider.Perform? = nil) throws -> Exporter {
    Exporter(
      configuration: .usual, policy: .local, watched: try WatchedTargets([]), process: ProcessMetrics(),
      environment: perform.map { SiteEnvironment(perform: $0) })
  }

  /// A probe that waits for its turn, for half of its two minutes at most, begins as soon as another one has ended.
  @Test func aTurnIsTakenAtOnce() async throws {
    let (wait, end) = AsyncStream<Void>.makeStream()
    let isAsked = Box(false)
    let exporter = try exporter { url, _ in
      if url.text.contains("first") {
        for await _ in wait {}
      } else if url.text.contains("last") {
        isAsked.value = true
      } else {
        // It is cancelled long before.
        try await Task.sleep(for: .seconds(300))
      }
      return SiteVerdict(url: url, kind: .available, status: 200)
    }
    func ask(_ name: String) async {
      _ = await exporter.answer(Exporter.Request(target: "/probe?target=\(name).example", scrapeTimeout: "120"))
    }
    func tells(_ line: String) async -> Bool {
      await exporter.answer(Exporter.Request(target: "/metrics")).body.contains("\ndialtone_probes_\(line)\n")
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      for number in 0..<256 { group.addTask { await ask(number == 0 ? "first" : "other") } }
      try await eventually("256 run") { await tells("running 256") }
      group.addTask { await ask("last") }
      try await eventually("one waits") { await tells("waiting 1") }
      #expect(!isAsked.value)
      end.finish()
      try await eventually(within: .seconds(45), "it has its turn") { isAsked.value }
    }
  }

  /// ipv6(7): without an address, IPv6 serves both families. Where it is there and cannot be had, half is not taken.
  @Test func aPortThatIsTakenInOneFamilyIsTaken() async throws {
    let address = try #require(IPAddress("::1"))
    let first = ExporterServer(try exporter())
    let url: String
    do {
      url = try await Task.detached { try first.listen(on: .network(address, port: 0)) }.value
    } catch {
      // There is no IPv6 here.
      return
    }
    try #require(url.hasPrefix("http://[::1]:"))
    let port = try #require(UInt16(url.dropFirst("http://[::1]:".count).dropLast()))
    let second = ExporterServer(try exporter())
    let failure = await #expect(throws: ExporterServer.Failure.self) {
      try await Task.detached { try second.listen(on: .network(nil, port: port)) }.value
    }
    #expect(failure?.description.contains("in use") == true)
    for server in [first, second] { await Task.detached { server.stop(within: .zero) }.value }
  }

  /// getrlimit(2): 1,024 descriptors are usual. As many are left for probes as connections take.
  @Test func connectionsLeaveDescriptorsForProbes() {
    for (descriptors, connections) in [(40, 16), (1_024, 480), (2_112, 1_024), (1 << 20, 1_024)] {
      #expect(ExporterServer.connectionLimit(of: descriptors) == connections)
    }
  }

  @Test func aFileIsNoSocket() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/file"
    try ReplacedFile.write("kept", to: path)
    defer { _ = unsafe unlink(path) }  // The path is only read.
    let server = ExporterServer(try exporter())
    let failure = await #expect(throws: ExporterServer.Failure.self) {
      try await Task.detached { try server.listen(on: .path(path)) }.value
    }
    #expect(failure?.description == "there is a file that is no socket")
    #expect(try SystemFile.bytes(at: path, limit: 16) == Array("kept".utf8))
    await Task.detached { server.stop(within: .zero) }.value
  }

  /// unix(7): the file of a socket stays behind if its process is killed. Where nobody listens any more another may.
  @Test func aSocketThatIsLeftOverIsReplaced() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/socket"
    let kept = "\(folder.path)/kept"
    // The paths are only read, during the calls.
    defer { for name in [path, kept] { _ = unsafe unlink(name) } }
    for _ in 1...2 {
      let server = ExporterServer(try exporter())
      #expect(try await Task.detached { try server.listen(on: .path(path)) }.value == "unix:\(path)")
      #expect(unsafe link(path, kept) == 0)
      await Task.detached { server.stop(within: .zero) }.value
      // It takes its file away, perhaps a moment later.
      try await eventually("it is closed") { unsafe access(path, F_OK) != 0 }
      #expect(unsafe rename(kept, path) == 0)
    }
  }

  /// netlink(7): what is neither of this machine nor of a network cannot be told to be local.
  @Test func aSocketOfAnotherKindIsNotLocal() throws {
    let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(!ListenAddress.inherited(descriptor).isLocal)
  }

  /// blackbox_exporter reads `ca_file` for each probe: one that is replaced counts; here from the next look on. If a
  /// file cannot be read, or ends in its midst, that is said, and what was read before stays in use.
  @Test func trustsWhatAFileIsReplacedBy() async throws {
    struct Unreadable: Error {}
    let trusts = Box<[SiteTrust]>([])
    let texts = [try SiteIdentity("root").certificates, try SiteIdentity("server").certificates]
    let yaml = "modules: {http_2xx: {prober: http, http: {tls_config: {ca_file: /ca.pem}}}, other: {prober: http}}"
    let exporter = Exporter(
      configuration: try ExporterConfiguration(yaml: yaml) { _ in texts[0] }, policy: .local,
      watched: try WatchedTargets([]), process: ProcessMetrics(),
      environment: SiteEnvironment(perform: { url, configuration in
        trusts.update { $0.append(configuration.trust) }
        return SiteVerdict(url: url, kind: .available, status: 200)
      }))
    for look in 1...4 {
      let failure = exporter.readTrust { _ in
        if look == 3 { throw Unreadable() }
        return look == 4 ? String(texts[0].prefix(200)) : texts[look - 1]
      }
      #expect((failure?.hasPrefix("ca_file: /ca.pem: ") ?? false) == (look > 2))
      for module in ["http_2xx", "other"] {
        _ = await exporter.answer(Exporter.Request(target: "/probe?target=https://a.example&module=\(module)"))
      }
    }
    let (first, second) = (SiteTrust.pem(texts[0]), SiteTrust.pem(texts[1]))
    #expect(trusts.value == [first, .system, second, .system, second, .system, second, .system])
  }

  /// As blackbox_exporter does: the module as it is written, with `<secret>` for secrets, and in the log how long the
  /// probe may take.
  @Test func tellsTheModuleAsItIsWritten() async throws {
    let yaml = """
      modules:
        http_2xx:
          prober: http
          timeout: 5s
          http: {valid_status_codes: [200, 301], headers: {Authorization: Bearer x, X: "y"},
            fail_if_body_not_matches_regexp: ["a: b", 'c'], tls_config: {insecure_skip_verify: true}}
      """
    let exporter = Exporter(
      configuration: try ExporterConfiguration(yaml: yaml) { $0 }, policy: .local, watched: try WatchedTargets([]),
      process: ProcessMetrics(),
      environment: SiteEnvironment(perform: { url, _ in SiteVerdict(url: url, kind: .available, status: 200) }),
      time: TimeSource(passes: false, realtime: { 0 }, now: { 0 }))
    let answer = await exporter.answer(Exporter.Request(target: "/probe?target=a.example&debug=true"))
    #expect(answer.body.hasPrefix("Logs for the probe:\nmodule=http_2xx Beginning probe: timeout_seconds=5.0\n"))
    #expect(
      answer.body.hasSuffix(
        """
        Module configuration:
        prober: http
        timeout: 5s
        http:
          valid_status_codes:
          - 200
          - 301
          headers:
            Authorization: <secret>
            X: <secret>
          fail_if_body_not_matches_regexp:
          - "a: b"
          - "c"
          tls_config:
            insecure_skip_verify: true

        """), "\(answer.body)")
  }

  // MARK: Targets

  /// An outage has the kernel's reason, and then the cause that a diagnosis finds; once a minute, by the clock of the
  /// targets. The network is made up; what is diagnosed is this machine, where nobody listens.
  @Test func aLostTargetIsDiagnosed() async throws {
    let (network, seconds) = (ScriptedNetwork(), Box<Int64>(100))
    let clock = TimeSource(passes: false, realtime: { 1_000_000_000_000 }) { seconds.value * 1_000_000_000 }
    let loopback = try #require(IPAddress("127.0.0.1"))
    network.set(.unreachable(.noCarrier))
    let watched = try WatchedTargets(
      [("a", .network(.address(loopback, port: 1)))], reachability: network.environment, time: clock)
    func eventuallyTells(_ what: String, _ isTold: (_ cause: Substring?) -> Bool) async throws {
      try await eventually(what) {
        network.clock.advance(by: .seconds(1))
        let text = Exposition.text.text(of: watched.families)
        let start = text.firstRange(of: "dialtone_outage_cause_info{target=\"a\",cause=\"")?.upperBound
        return isTold(start.map { text[$0...].prefix { $0 != "\"" } })
      }
    }
    for _ in 1...2 {
      try await eventuallyTells("the cause is found") { $0 != nil && $0 != "no-carrier" }
      network.set(.wired)
      try await eventuallyTells("it is back") { $0 == nil }
      seconds.value += 60
      network.set(.unreachable(.noCarrier))
    }
  }

  // MARK: Values

  /// full(4): a device that has never room, for anything but nothing.
  @Test func aDeviceThatIsFullIsAFailure() throws {
    let error = #expect(throws: SystemError.self) { try ReplacedFile.write("x", to: "/dev/full") }
    #expect(error?.errno == ENOSPC)
    try ReplacedFile.write("", to: "/dev/full")
    try ReplacedFile.write("x", to: "/dev/null")
  }
}
