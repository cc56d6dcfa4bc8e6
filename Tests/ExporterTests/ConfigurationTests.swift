// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import SiteLab
import TestSupport
import Testing

struct ConfigurationTests {
  private func read(_ yaml: String) throws(ConfigurationError) -> ExporterConfiguration {
    try ExporterConfiguration(yaml: yaml) { path in
      if path == "/nosuch" { throw ConfigurationTestsFailure() }
      return try SiteIdentity("root").certificates
    }
  }

  /// A file without a certificate trusts nobody: that is said at the start, as of one that is missing.
  @Test(arguments: [
    "", "\n", "root:x:0:0:root:/root:/bin/sh\n", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "-----BEGIN CERTIFICATE-----\nMIIBIjCByaADAgEC",
  ])
  func namesAFileWithoutCertificates(_ text: String) {
    let yaml = "modules:\n  a:\n    prober: tcp\n    tcp:\n      tls_config:\n        ca_file: /ca.pem\n"
    let error = #expect(throws: ConfigurationError.self) { try ExporterConfiguration(yaml: yaml) { _ in text } }
    #expect(error?.line == 6 && error?.message.contains("ca_file: \"/ca.pem\": ") == true)
  }

  private struct ConfigurationTestsFailure: Error {}

  @Test func readsEveryKeyItHonours() throws {
    let modules = try read(
      """
      modules:
        web:
          prober: http
          timeout: 1m1.5s
          interface: eth0
          http:
            method: head
            valid_status_codes: [200, 301]
            valid_http_versions: ["HTTP/1.1", "HTTP/2.0"]
            fail_if_ssl: false
            fail_if_not_ssl: true
            fail_if_body_matches_regexp: ["down"]
            fail_if_body_not_matches_regexp: ["up", "^ok"]
            headers: {Host: example.org, Accept-Language: "en, de"}
            preferred_ip_protocol: ip4
            ip_protocol_fallback: false
            follow_redirects: false
            enable_http2: false
            tls_config: {ca_file: /ca.pem, server_name: example.net, insecure_skip_verify: true}
        port:
          prober: tcp
          tcp: {tls: true, tls_config: {server_name: a.example}, preferred_ip_protocol: ip6}
        bare: {prober: tcp}
      """
    ).modules
    let web = try #require(modules["web"])
    #expect(web.prober == .http && web.timeout == .milliseconds(61_500) && web.interface == "eth0")
    #expect(web.method == .head && web.statuses == [200, 301] && web.versions == ["HTTP/1.1", "HTTP/2.0"])
    #expect(!web.enablesHTTP2)
    #expect(web.failsWithoutTLS && !web.failsWithTLS && web.forbidden.count == 1 && web.required.count == 2)
    #expect(web.fields.map(\.name) == ["Host", "Accept-Language"])
    #expect(web.preferredFamily == .ipv4 && !web.fallsBack && !web.followsRedirects && !web.verifiesCertificate)
    let root = try SiteIdentity("root").certificates
    #expect(web.serverName?.text == "example.net" && web.trust == .pem(root))
    let port = try #require(modules["port"])
    #expect(port.prober == .tcp && port.usesTLS && port.preferredFamily == .ipv6 && port.fallsBack)
    #expect(modules["bare"]?.usesTLS == false)
  }

  @Test func readsTextThatBlackboxExporterReads() throws {
    let usual = try read("modules:\n  http_2xx:\n    prober: http\n    http:\n  tcp_connect:\n    prober: tcp\n")
    #expect(usual.modules.keys.sorted() == ExporterConfiguration.usual.modules.keys.sorted())
    // YAML 1.2, 10.2.1.1: three ways to write nothing, also in braces.
    let nothing = try read(
      "modules: {a: {prober: http, http: ~}, b: {prober: http, http: null}, c: {prober: tcp, tcp: }}")
    #expect(nothing.modules.keys.sorted() == ["a", "b", "c"])
    // go-yaml: nothing is an empty text, and what is in quotes is something.
    let fields = try read("modules: {a: {prober: http, http: {headers: {A: ~, B: null, C: '~', D: }}}}")
    #expect(fields.modules["a"]?.fields.map(\.value) == ["", "", "~", ""])
  }

  /// Each with the line of what is wrong, and words that name it.
  @Test(arguments: [
    ("modules:\n  a:\n    prober: icmp\n", 3, "icmp"),
    ("modules:\n  a:\n    prober: http\n    http:\n      method: POST\n", 5, "POST"),
    ("modules:\n  a:\n    prober: http\n    http:\n      body: x\n", 5, "body"),
    ("modules:\n  a:\n    prober: http\n    http:\n      basic_auth: {username: x}\n", 5, "basic_auth"),
    ("modules:\n  a:\n    prober: http\n    http:\n      proxy_url: http://p/\n", 5, "proxy_url"),
    ("modules:\n  a:\n    prober: http\n    http:\n      valid_http_versions: [HTTP/3.0]\n", 5, "HTTP/1.1"),
    ("modules:\n  a:\n    prober: http\n    http:\n      valid_status_codes: [99]\n", 5, "99"),
    // YAML 1.1: 200 in octal.
    ("modules:\n  a:\n    prober: http\n    http:\n      valid_status_codes: [0310]\n", 5, "0310"),
    ("modules:\n  a:\n    prober: http\n    http:\n      fail_if_body_matches_regexp:\n      - 'a(?=b)'\n", 6, "(?="),
    ("modules:\n  a:\n    prober: http\n    http:\n      headers:\n        Content-Length: 5\n", 6, "Content-Length"),
    ("modules:\n  a:\n    prober: http\n    http:\n      headers:\n        X: \"a\\r\\nY: b\"\n", 6, "line break"),
    ("modules:\n  a:\n    prober: tcp\n    interface:\n", 4, "no name of an interface"),
    ("modules:\n  a:\n    prober: tcp\n    interface: a/b\n", 4, "no name of an interface"),
    ("modules:\n  a:\n    prober: http\n    http:\n      tls_config:\n        cert_file: c\n", 6, "cert_file"),
    ("modules:\n  a:\n    prober: http\n    http:\n      tls_config:\n        ca_file: /nosuch\n", 6, "/nosuch"),
    ("modules:\n  a:\n    prober: http\n    http:\n      preferred_ip_protocol: ipv4\n", 5, "ipv4"),
    ("modules:\n  a:\n    prober: http\n    http:\n      fail_if_ssl: maybe\n", 5, "fail_if_ssl"),
    ("modules:\n  a:\n    prober: tcp\n    tcp:\n      query_response:\n      - expect: x\n", 5, "query_response"),
    ("modules:\n  a:\n    prober: tcp\n    http:\n      method: GET\n", 4, "http"),
    ("modules:\n  a:\n    prober: tcp\n    timeout: 5\n", 4, "timeout"),
    ("modules:\n  a:\n    prober: tcp\n    timeout: 0s\n", 4, "timeout"),
    ("modules:\n  a:\n    timeout: 5s\n", 3, "prober"),
    ("modules:\n  a: {prober: tcp}\n  a: {prober: tcp}\n", 2, "twice"),
    ("modules: {a: {prober: tcp}}\nauths: {}\n", 2, "auths"),
    ("modules:\n  a: [\n", 3, "YAML"),
    ("modules:\n- a\n", 2, "keys"),
    ("modules:\n  a: &a {prober: tcp, timeout: 2s}\n  b: *a\n", 2, "write out"),
  ])
  func namesTheLineOfWhatItCannotHonour(_ yaml: String, _ line: Int, _ word: String) {
    let error = #expect(throws: ConfigurationError.self) { try read(yaml) }
    #expect(error?.line == line && error?.description.contains(word) == true, "\(error.map(String.init) ?? "")")
  }

  /// Nine aliases of nine aliases of nine…
  @Test func refusesBombs() {
    var bomb = "a0: &a0 [x]\n"
    for level in 1...9 {
      bomb += "a\(level): &a\(level) [\((0..<9).map { _ in "*a\(level - 1)" }.joined(separator: ", "))]\n"
    }
    let start = ContinuousClock.now
    for text in [bomb, bomb + "? *a9\n: x\n", "modules: {? *a9 : x}\n" + bomb, String(repeating: "[", count: 100_000)] {
      #expect(throws: ConfigurationError.self) { try read(text) }
    }
    // A mebibyte is read, and has nothing in it; more is not looked at.
    for (size, word) in [(1 << 20, "empty"), ((1 << 20) + 1, "1048576 bytes")] {
      let error = #expect(throws: ConfigurationError.self) { try read(String(repeating: "#", count: size)) }
      #expect(error?.description.contains(word) == true, "\(size)")
    }
    #expect(start.duration(to: .now) < .patience)
  }
}
