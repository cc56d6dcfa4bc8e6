// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import SiteLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProbeTests {
  private func exporter(_ http: String, tcp: String = "", policy: ProbePolicy = .local) async throws -> TestExporter {
    let root = try SiteIdentity("root").certificates
    let yaml = """
      modules:
        http_2xx: {prober: http, timeout: 20s, http: {\(http)}}
        tcp_connect: {prober: tcp, timeout: 20s, tcp: {\(tcp)}}
      """
    return try await TestExporter(try ExporterConfiguration(yaml: yaml) { _ in root }, policy: policy)
  }

  @Test func tellsOfAnAnswer() async throws {
    let site = try await SiteServer(
      .answer(200, fields: ["Last-Modified: Tue, 24 Nov 2026 08:00:00 GMT"], body: "hello"))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)/page")
    #expect(found["probe_success"] == 1 && found["probe_http_status_code"] == 200 && found["probe_http_version"] == 1.1)
    #expect(found["probe_http_content_length"] == 5 && found["probe_http_uncompressed_body_length"] == 5)
    // date -u -d '2026-11-24 08:00' +%s
    #expect(found["probe_http_last_modified_timestamp_seconds"] == 1_795_507_200)
    #expect(found["probe_http_ssl"] == 0 && found["probe_http_redirects"] == 0 && found["probe_ip_protocol"] == 4)
    // As blackbox_exporter 0.23 tells it of 127.0.0.1.
    #expect(found["probe_ip_addr_hash"] == 3_668_918_509)
    #expect(found["probe_http_duration_seconds{phase=\"transfer\"}"] != nil)
    #expect(found.verdict == "available//")
    #expect(site.connections.first?.requests.first?.method == "GET")
  }

  @Test func readsABodyToItsEnd() async throws {
    let body = String(repeating: "x", count: 3 << 20)
    let site = try await SiteServer(.answer(200, body: body))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == 1 && found["probe_http_uncompressed_body_length"] == Double(body.utf8.count))
    // Too long to be looked through.
    let judged = try await exporter("fail_if_body_matches_regexp: [y]").probe("127.0.0.1:\(site.port)")
    #expect(judged["probe_success"] == 0 && judged.verdict == "unexpected-response//body-too-long")
  }

  @Test(arguments: [
    ("valid_status_codes: [404]", 1.0, "available//"), ("", 0, "unexpected-response//status"),
    ("valid_status_codes: [404], fail_if_body_matches_regexp: ['l+o']", 0, "unexpected-response//body"),
    ("valid_status_codes: [404], fail_if_body_not_matches_regexp: ['^h', o$]", 1, "available//"),
    ("valid_status_codes: [404], fail_if_not_ssl: true", 0, "unexpected-response//no-tls"),
    ("valid_status_codes: [404], valid_http_versions: [HTTP/1.0]", 0, "unexpected-response//http-version"),
  ])
  func judgesByTheModule(_ http: String, _ success: Double, _ verdict: String) async throws {
    let site = try await SiteServer(.answer(404, body: "hello"))
    let found = try await exporter(http).probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == success && found.verdict == verdict)
    #expect(found["probe_failed_due_to_regex"] == (verdict.hasSuffix("/body") ? 1 : 0))
  }

  /// A page that was not asked for is no portal's (Exporter.md).
  @Test func aPageThatWasNotAskedForIsNoPortal() async throws {
    let site = try await SiteServer(.answer(200, body: String(repeating: "hello", count: 2_000)))
    for codes in ["[401]", "[404, 500]", "[204]"] {
      let found = try await exporter("valid_status_codes: \(codes)").probe("127.0.0.1:\(site.port)")
      #expect(found["probe_success"] == 0 && found.verdict == "unexpected-response//status", "\(codes)")
    }
    let login = try await SiteServer(.answer(511, body: "log in"))
    #expect(try await exporter("").probe("127.0.0.1:\(login.port)").verdict == "captive-portal//status")
    let redirect = try await SiteServer(.redirect(to: "http://portal.example/"))
    let found = try await exporter("follow_redirects: false").probe("127.0.0.1:\(redirect.port)")
    #expect(found.verdict == "captive-portal//status")
  }

  /// blackbox_exporter's older key counts, in either order of the two.
  @Test func theOlderKeyOfRedirectsCounts() throws {
    for (keys, follows) in [
      ("no_follow_redirects: true, follow_redirects: true", false),
      ("follow_redirects: false, no_follow_redirects: false", true),
    ] {
      let yaml = "modules: {m: {prober: http, http: {\(keys)}}}"
      let module = try ExporterConfiguration(yaml: yaml) { _ in "" }.modules["m"]
      #expect(module?.followsRedirects == follows, "\(keys)")
    }
  }

  /// The check ends with its time, and has waited for the rest of the body until then.
  @Test func aBodyThatStopsIsWaitedFor() async throws {
    let site = try await SiteServer(
      SiteBehaviour { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhel"), .stall] })
    let yaml = "modules: {m: {prober: http, timeout: 5s}}"
    let found = try await TestExporter(try ExporterConfiguration(yaml: yaml) { _ in "" })
      .probe("127.0.0.1:\(site.port)", "m")
    #expect(found.verdict == "failed/body/timed-out")
    #expect(found["probe_http_duration_seconds{phase=\"transfer\"}"] ?? 0 > 1, "\(found)")
  }

  @Test func aBodyThatBreaksOffFails() async throws {
    let site = try await SiteServer(.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhel"))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == 0 && found["probe_http_status_code"] == 200)
    #expect(found.verdict == "failed/body/connection-lost")
  }

  // MARK: Redirects

  @Test func followsTenRedirectsAndNoMore() async throws {
    let site = try await SiteServer(
      SiteBehaviour { request in
        let count = Int(request.target.dropFirst()) ?? 0
        return [
          count == 0
            ? .answer(200, to: request) : .answer(302, to: request, fields: ["Location: /\(count - 1)"]), .close,
        ]
      })
    let exporter = try await exporter("")
    let ten = try await exporter.probe("127.0.0.1:\(site.port)/10")
    #expect(ten["probe_success"] == 1 && ten["probe_http_redirects"] == 10)
    let eleven = try await exporter.probe("127.0.0.1:\(site.port)/11")
    #expect(eleven["probe_success"] == 0 && eleven["probe_http_status_code"] == 302)
    #expect(eleven.verdict == "unexpected-response//too-many-redirects")
  }

  /// RFC 9110, 15.4: those with a Location that a client may follow by itself, and others beside them.
  @Test(arguments: [(301, 1), (302, 1), (303, 1), (307, 1), (308, 1), (300, 0), (304, 0), (305, 0)])
  func followsWhatIsARedirect(status: Int, redirects: Double) async throws {
    let site = try await SiteServer(
      SiteBehaviour { request in
        let isFirst = request.target == "/first"
        return [isFirst ? .answer(status, to: request, fields: ["Location: /"]) : .answer(200, to: request), .close]
      })
    let found = try await exporter("").probe("127.0.0.1:\(site.port)/first")
    #expect(found["probe_http_redirects"] == redirects)
    #expect(found["probe_http_status_code"] == (redirects > 0 ? 200 : Double(status)))
  }

  @Test func aPortalsRedirectIsSeenThoughItEndsWell() async throws {
    let portal = try await SiteServer(.answer(200, body: "log in"), at: "127.0.0.2")
    let site = try await SiteServer(.redirect(to: "http://127.0.0.2:\(portal.port)/login"))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == 1 && found.verdict == "captive-portal//")
  }

  /// RFC 9110, 5.5: a field has no control character. To a check such a redirect is a portal's.
  @Test func aPortalsRedirectIsSeenThoughItCannotBeRead() async throws {
    let site = try await SiteServer(.redirect(to: "http://127.0.0.2:80/\u{1B}[31m"))
    #expect(try await exporter("").probe("127.0.0.1:\(site.port)").verdict == "captive-portal//status")
  }

  @Test func fieldsStayWithTheTarget() async throws {
    let other = try await SiteServer(.answer(200), at: "127.0.0.2")
    let site = try await SiteServer(
      SiteBehaviour { request in
        let location = request.target == "/same" ? "http://127.0.0.2:\(other.port)/" : "/same"
        return [.answer(307, to: request, fields: ["Location: \(location)"]), .close]
      })
    let exporter = try await exporter("headers: {Authorization: Bearer secret, X-Own: a, Host: own.example}")
    #expect(try await exporter.probe("127.0.0.1:\(site.port)/")["probe_success"] == 1)
    let requests = site.connections.flatMap(\.requests)
    #expect(requests.map(\.target) == ["/", "/same"])
    for request in requests {
      #expect(request.values(of: "Authorization") == ["Bearer secret"] && request.values(of: "Host") == ["own.example"])
    }
    let foreign = try #require(other.connections.first?.requests.first)
    #expect(foreign.values(of: "Authorization").isEmpty && foreign.values(of: "X-Own").isEmpty)
    #expect(foreign.values(of: "Host") == ["127.0.0.2:\(other.port)"])
  }

  @Test(arguments: [
    "http://169.254.169.254/latest/meta-data", "http://[::ffff:169.254.169.254]/", "http://[fd00:ec2::254]/",
  ])
  func noRedirectLeadsToMetadata(_ location: String) async throws {
    let site = try await SiteServer(.redirect(to: location))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == 0 && found["probe_http_status_code"] == 0)
    // The first hop looked like a portal's, which is told besides; where no path leads there, that is why.
    #expect(["connect/address-refused", "/no-route"].contains(found.verdict.dropFirst("captive-portal/".count)))
  }

  @Test func noRedirectLeavesTheList() async throws {
    let other = try await SiteServer(.answer(200), at: "127.0.0.2")
    let site = try await SiteServer(.redirect(to: "http://127.0.0.2:\(other.port)/"))
    let exporter = try await exporter("", policy: try ProbePolicy(allowing: ["127.0.0.1"]))
    #expect(try await exporter.probe("127.0.0.1:\(site.port)")["probe_success"] == 0)
    #expect(try await exporter.get("/probe?target=127.0.0.2:\(other.port)").hasPrefix("HTTP/1.1 403 "))
    #expect(other.connections.isEmpty)
  }

  @Test(arguments: ["http://user:secret@127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)"])
  func aRedirectIsFollowedOnlyToASite(_ location: String) async throws {
    let site = try await SiteServer(.redirect(to: location))
    let found = try await exporter("").probe("127.0.0.1:\(site.port)")
    #expect(found["probe_success"] == 0)
  }

  // MARK: TLS

  @Test func tellsOfTheCertificate() async throws {
    let site = try await SiteServer(.answer(200), as: try SiteIdentity("server"))
    let exporter = try await exporter("tls_config: {ca_file: root}", tcp: "tls: true, tls_config: {ca_file: root}")
    for module in ["http_2xx", "tcp_connect"] {
      let target = module == "http_2xx" ? "https://127.0.0.1:\(site.port)" : "127.0.0.1:\(site.port)"
      let found = try await exporter.probe(target, module)
      #expect(found["probe_success"] == 1 && found.verdict == "available//", "\(module): \(found)")
      #expect(found["probe_ssl_earliest_cert_expiry"] == Double(SiteIdentity.end))
      #expect(found["probe_tls_version_info{version=\"TLS 1.3\"}"] == 1)
      #expect(found.keys.contains { $0.hasPrefix("probe_ssl_last_chain_info{fingerprint_sha256=\"") })
    }
  }

  @Test func believesACertificateOnlyAsTheModuleSays() async throws {
    let site = try await SiteServer(.answer(200), as: try SiteIdentity("other-address"))
    let target = "https://127.0.0.1:\(site.port)"
    let strict = try await exporter("tls_config: {ca_file: root}").probe(target)
    #expect(strict["probe_success"] == 0 && strict.verdict == "intercepted//certificate-name-mismatch")
    #expect(site.connections.flatMap { $0.requests }.isEmpty)
    let lax = try await exporter("tls_config: {insecure_skip_verify: true}").probe(target)
    #expect(lax["probe_success"] == 1 && lax["probe_http_ssl"] == 1)
    // Go's year 1: no chain was verified.
    #expect(lax["probe_ssl_last_chain_expiry_timestamp_seconds"] == -62_135_596_800)
    let untrusting = try await exporter("").probe(target)
    #expect(untrusting["probe_success"] == 0 && untrusting.verdict == "intercepted//certificate-untrusted")
  }

  /// RFC 4343.
  @Test(arguments: ["SITE.example", "Site.Example."]) func aNameHasNoCase(_ name: String) async throws {
    let site = try await SiteServer(.answer(200), as: try SiteIdentity("server"))
    let target = "https://127.0.0.1:\(site.port)"
    let named = try await exporter("tls_config: {ca_file: root, server_name: \(name)}").probe(target)
    let headed = try await exporter("tls_config: {ca_file: root}, headers: {Host: \(name)}").probe(target)
    let hosted = try await exporter("tls_config: {ca_file: root}").probe(target, more: "&hostname=\(name)")
    for found in [named, headed, hosted] { #expect(found.verdict == "available//", "\(found)") }
  }

  // MARK: What fails

  @Test func saysWhyNobodyAnswers() async throws {
    let exporter = try await exporter("")
    let refused = try await exporter.probe("127.0.0.1:1")
    #expect(refused.verdict == "failed/connect/connection-refused" && refused["probe_ip_protocol"] == 4)
    let port = try await exporter.probe("127.0.0.1:1", "tcp_connect")
    #expect(port["probe_success"] == 0 && port.verdict == "failed/connect/connection-refused")
    let deaf = try await SiteServer(SiteBehaviour())
    let slow = try await exporter.get(
      "/probe?target=127.0.0.1:\(deaf.port)", fields: "X-Prometheus-Scrape-Timeout-Seconds: 4\r\n")
    #expect(exporter.samples(in: slow).verdict == "failed/response/timed-out")
    #expect(exporter.samples(in: slow)["probe_duration_seconds"] ?? 0 >= 3.4)
  }
}
