// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneExporter
import Foundation
import SiteLab
import TestSupport
import Testing

/// blackbox_exporter (Debian: prometheus-blackbox-exporter), with the same configuration. It ends with this object.
private final class BlackboxExporter {
  static let path = Program.path("prometheus-blackbox-exporter")

  private let process = Process()
  private let folder: URL
  private(set) var port = 0

  init(_ configuration: String, root: String) async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-blackbox-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try root.write(to: folder.appendingPathComponent("root.pem"), atomically: true, encoding: .utf8)
    let file = folder.appendingPathComponent("blackbox.yml")
    try configuration.write(to: file, atomically: true, encoding: .utf8)
    let log = folder.appendingPathComponent("log")
    try Data().write(to: log)
    process.executableURL = URL(fileURLWithPath: try #require(Self.path))
    process.currentDirectoryURL = folder
    process.arguments = ["--config.file=\(file.path)", "--web.listen-address=127.0.0.1:0"]
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    try await eventually("blackbox_exporter listens") {
      let text = try String(contentsOf: log, encoding: .utf8)
      guard let address = text.range(of: "address=127.0.0.1:") else { return false }
      port = Int(text[address.upperBound...].prefix { $0.isNumber }) ?? 0
      return port > 0
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    Program.removeItem(folder)
  }

  func get(_ path: String) async throws -> String { try await Curl.get("http://127.0.0.1:\(port)\(path)").body }
}

extension BlackboxTests {
  /// What is asked of both, in words.
  struct Question: Sendable, CustomTestStringConvertible {
    let words: String
    let target: @Sendable (Sites) -> String
    var module = "http_2xx"

    var testDescription: String { words }
  }

  struct Sites: Sendable {
    let plain: SiteServer
    let secure: SiteServer
    let chained: SiteServer
  }

  static let configuration = """
    modules:
      http_2xx: {prober: http, timeout: 20s}
      head: {prober: http, timeout: 20s, http: {method: HEAD}}
      root: {prober: http, timeout: 20s, http: {tls_config: {ca_file: root.pem}}}
      lax: {prober: http, timeout: 20s, http: {tls_config: {insecure_skip_verify: true}}}
      named: {prober: http, timeout: 20s, http: {tls_config: {ca_file: root.pem, server_name: site.example}}}
      still: {prober: http, timeout: 20s, http: {follow_redirects: false}}
      expected: {prober: http, timeout: 20s, http: {valid_status_codes: [404]}}
      plain: {prober: http, timeout: 20s, http: {fail_if_ssl: true, tls_config: {insecure_skip_verify: true}}}
      secure: {prober: http, timeout: 20s, http: {fail_if_not_ssl: true}}
      old: {prober: http, timeout: 20s, http: {valid_http_versions: [HTTP/1.0]}}
      has: {prober: http, timeout: 20s, http: {fail_if_body_not_matches_regexp: ['(?i)HEL+O', '^h.*o$']}}
      hasnot: {prober: http, timeout: 20s, http: {fail_if_body_matches_regexp: ['\\bhello\\b']}}
      ip4: {prober: http, timeout: 20s, http: {preferred_ip_protocol: ip4, ip_protocol_fallback: false}}
      tcp_connect: {prober: tcp, timeout: 20s}
      tls: {prober: tcp, timeout: 20s, tcp: {tls: true, tls_config: {ca_file: root.pem}}}
      other: {prober: tcp, timeout: 20s, tcp: {tls: true, tls_config: {ca_file: root.pem, server_name: x.example}}}
    """

  static let questions: [Question] = [
    Question(words: "an answer", target: { "127.0.0.1:\($0.plain.port)/" }),
    Question(words: "a redirect", target: { "127.0.0.1:\($0.plain.port)/redirect" }),
    Question(words: "ten redirects", target: { "127.0.0.1:\($0.plain.port)/10" }),
    Question(words: "eleven redirects", target: { "127.0.0.1:\($0.plain.port)/11" }),
    Question(
      words: "a redirect that is not followed", target: { "127.0.0.1:\($0.plain.port)/redirect" }, module: "still"),
    Question(words: "a page that is missing", target: { "127.0.0.1:\($0.plain.port)/missing" }),
    Question(
      words: "a page that is to be missing", target: { "127.0.0.1:\($0.plain.port)/missing" }, module: "expected"),
    Question(words: "no content", target: { "127.0.0.1:\($0.plain.port)/204" }),
    Question(words: "chunks", target: { "127.0.0.1:\($0.plain.port)/chunked" }),
    Question(words: "no length", target: { "127.0.0.1:\($0.plain.port)/endless" }),
    Question(words: "HTTP/1.0", target: { "127.0.0.1:\($0.plain.port)/old" }, module: "old"),
    Question(words: "HTTP/1.1 instead of 1.0", target: { "127.0.0.1:\($0.plain.port)/" }, module: "old"),
    Question(words: "HEAD", target: { "127.0.0.1:\($0.plain.port)/" }, module: "head"),
    Question(words: "HEAD of no content", target: { "127.0.0.1:\($0.plain.port)/nothing" }, module: "head"),
    Question(words: "no content without a length", target: { "127.0.0.1:\($0.plain.port)/nothing" }),
    Question(words: "a length of what does not come", target: { "127.0.0.1:\($0.plain.port)/304" }),
    Question(words: "HEAD without a length", target: { "127.0.0.1:\($0.plain.port)/endless" }, module: "head"),
    Question(words: "a body that matches", target: { "127.0.0.1:\($0.plain.port)/" }, module: "has"),
    Question(words: "a body that must not match", target: { "127.0.0.1:\($0.plain.port)/" }, module: "hasnot"),
    Question(words: "IPv4 alone", target: { "127.0.0.1:\($0.plain.port)/" }, module: "ip4"),
    Question(words: "no TLS where it has to be", target: { "127.0.0.1:\($0.plain.port)/" }, module: "secure"),
    Question(words: "TLS where it must not be", target: { "https://127.0.0.1:\($0.secure.port)/" }, module: "plain"),
    Question(words: "TLS", target: { "https://127.0.0.1:\($0.secure.port)/" }, module: "root"),
    Question(words: "TLS by another name", target: { "https://127.0.0.1:\($0.secure.port)/" }, module: "named"),
    Question(words: "TLS that is not verified", target: { "https://127.0.0.1:\($0.secure.port)/" }, module: "lax"),
    Question(words: "a chain", target: { "https://127.0.0.1:\($0.chained.port)/" }, module: "root"),
    Question(words: "a certificate of nobody", target: { "https://127.0.0.1:\($0.secure.port)/" }),
    Question(words: "nobody", target: { _ in "127.0.0.1:1" }),
    Question(words: "no host", target: { _ in "http:///x" }),
    Question(words: "a port", target: { "127.0.0.1:\($0.plain.port)" }, module: "tcp_connect"),
    Question(words: "a closed port", target: { _ in "127.0.0.1:1" }, module: "tcp_connect"),
    Question(words: "a port with TLS", target: { "127.0.0.1:\($0.secure.port)" }, module: "tls"),
    Question(words: "a port of another name", target: { "127.0.0.1:\($0.secure.port)" }, module: "other"),
  ]

  static let plain = SiteBehaviour { request in
    let number = Int(request.target.dropFirst()) ?? 0
    switch request.target {
    case "/redirect": return [.answer(302, to: request, fields: ["Location: /"]), .close]
    case "/missing": return [.answer(404, to: request, body: Array("no".utf8)), .close]
    case "/204": return [.answer(204, to: request), .close]
    case "/nothing": return [.send("HTTP/1.1 204 No Content\r\n\r\n"), .close]
    case "/304": return [.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n"), .close]
    case "/chunked":
      return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), .close]
    case "/endless" where request.method == "HEAD":
      return [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .close]
    case "/endless": return [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"), .close]
    case "/old": return [.send("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc"), .close]
    case _ where number > 0: return [.answer(302, to: request, fields: ["Location: /\(number - 1)"]), .close]
    default:
      return [
        .answer(
          200, to: request, fields: ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], body: Array("hello".utf8)),
        .close,
      ]
    }
  }
}

@Suite(
  .enabled(if: Program.path("prometheus-blackbox-exporter") != nil, "prometheus-blackbox-exporter is not installed"),
  .timeLimit(.minutes(5)))
struct BlackboxTests {
  /// Series of time: they differ from probe to probe.
  private static func isTime(_ name: String) -> Bool {
    name.hasPrefix("probe_duration") || name.hasPrefix("probe_dns_lookup") || name.hasPrefix("probe_http_duration")
  }

  /// Every series that one of both has, the other has, with the same value. Of times, only that they are told.
  @Test func tellsTheSameAsBlackboxExporter() async throws {
    // Of a file in which one certificate is broken, both take the others.
    let broken = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    let root = try SiteIdentity("root").certificates + broken
    let sites = Sites(
      plain: try await SiteServer(Self.plain), secure: try await SiteServer(Self.plain, as: try SiteIdentity("server")),
      chained: try await SiteServer(Self.plain, as: try SiteIdentity("chained")))
    let blackbox = try await BlackboxExporter(Self.configuration, root: root)
    let exporter = try await TestExporter(try ExporterConfiguration(yaml: Self.configuration) { _ in root })
    for question in Self.questions {
      let target = question.target(sites)
      let theirs = exporter.samples(in: try await blackbox.get("/probe?target=\(target)&module=\(question.module)"))
      let ours = try await exporter.probe(target, question.module)
      try #require(theirs["probe_success"] != nil, "\(question.words)")
      for (name, value) in theirs {
        let own = ours[name]
        #expect(
          Self.isTime(name) ? own != nil : own == value, "\(question.words): \(name) \(value), here \(own ?? .nan)")
      }
      let more = ours.keys.filter { !$0.hasPrefix("dialtone_") && theirs[$0] == nil }
      #expect(more.isEmpty, "\(question.words)")
    }
    // Both say that such a probe has failed; how far it came is told otherwise.
    for query in [
      "a+b", "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "127.0.0.1:99999&module=tcp_connect",
      "127.0.0.1&module=tcp_connect", "http://127.0.0.1:1&module=tcp_connect",
    ] {
      for text in [
        try await blackbox.get("/probe?target=\(query)"), try await exporter.get("/probe?target=\(query)"),
      ] {
        #expect(exporter.samples(in: text)["probe_success"] == 0, "\(query): \(text)")
      }
    }
    let own = try await Curl.get(exporter.url + "metrics").body.split(separator: "\n")
    for line in try await blackbox.get("/metrics").split(separator: "\n") where line.contains(" blackbox_") {
      #expect(line.contains("_build_info") || own.contains(line), "\(line)")
    }
  }

  @Test(.enabled(if: Program.path("promtool") != nil, "promtool is not installed"))
  func promtoolHasNothingToSay() async throws {
    let site = try await SiteServer(Self.plain, as: try SiteIdentity("server"))
    let root = try SiteIdentity("root").certificates
    let exporter = try await TestExporter(try ExporterConfiguration(yaml: Self.configuration) { _ in root })
    let promtool = try #require(Program.path("promtool"))
    for path in ["/metrics", "/probe?target=https://127.0.0.1:\(site.port)&module=root"] {
      let answer = try await Curl.get(exporter.url.dropLast() + path).body
      let result = try await Program.run(promtool, ["check", "metrics"], input: answer)
      #expect(result.status == 0 && result.output.isEmpty, "\(path): \(result.output)")
    }
  }
}

/// What is ready to use in Packaging/monitoring.
struct MonitoringTests {
  private static func file(_ name: String) throws -> String {
    // The tests run in the folder of the package.
    let path = FileManager.default.currentDirectoryPath + "/Packaging/monitoring/" + name
    try #require(FileManager.default.fileExists(atPath: path), "\(path)")
    return path
  }

  @Test(
    .enabled(if: Program.path("promtool") != nil, "promtool is not installed"),
    arguments: [
      ["check", "rules", "dialtone.rules.yml"], ["check", "config", "prometheus.yml"],
      ["test", "rules", "dialtone.rules.test.yml"],
    ])
  func promtoolTakesIt(_ arguments: [String]) async throws {
    let result = try await Program.run(
      try #require(Program.path("promtool")), Array(arguments.dropLast()) + [try Self.file(arguments[2])])
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(.enabled(if: Program.path("amtool") != nil, "amtool is not installed"))
  func amtoolTakesIt() async throws {
    let result = try await Program.run(
      try #require(Program.path("amtool")), ["check-config", try Self.file("alertmanager.yml")])
    #expect(result.status == 0, "\(result.output)")
  }

  /// Each panel asks for series that blackbox_exporter has, or says that only Dialtone has them.
  @Test func theDashboardServesBothExporters() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.file("grafana-dashboard.json")))
    let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let panels = try #require(dashboard["panels"] as? [[String: Any]])
    #expect(panels.count >= 8)
    for panel in panels {
      let targets = try #require(panel["targets"] as? [[String: Any]])
      let queries = targets.compactMap { $0["expr"] as? String }.joined()
      let title = panel["title"] as? String ?? ""
      #expect(queries.contains("probe_") || queries.contains("dialtone_"), "\(title)")
      if !queries.replacing("dialtone_probe_", with: "").contains("probe_") {
        #expect(["Prober", "Verdicts", "Paths of the prober"].contains(title))
      }
    }
  }
}
