// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import Glibc
import SiteLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What a site, and a proxy in its place, are asked by a diagnosis, and how often. All of them are on this machine.
@Suite(.serialized, .timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisExchangeTests {
  private static func inquiry(
    _ url: SiteURL?, _ rest: Duration = .seconds(600), findings: [Finding] = []
  ) -> DiagnosisInquiry {
    let subject = url.map { DiagnosisSubject($0) } ?? DiagnosisSubject(.address(NearestCauseTests.target, port: 443))
    return DiagnosisInquiry(
      subject: subject, configuration: DiagnosisConfiguration(), findings: findings,
      deadline: TimeSource.system.now() + rest.nanosecondsClamped)
  }

  /// Explain.md: an answer stays what it is, and what fails is asked for twice more.
  @Test(
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1), ("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", 1),
      ("SSH-2.0-OpenSSH_9.9\r\n", 3),
    ])
  func whatFailsIsAskedForAgain(text: String, count: Int) async throws {
    let server = try await SiteServer(.text(text))
    let found = await SiteExchange(inquiry: Self.inquiry(try SiteURL("http://127.0.0.1:\(server.port)/"))).findings()
    guard case .site(let site)? = found.first, found.count == 1 else {
      Issue.record("\(found)")
      return
    }
    #expect(site.usual.count == count && site.smallVerdicts.isEmpty && site.stalls.isEmpty && site.clock != nil)
    #expect(site.usual.allSatisfy { ($0.stage == nil) == (count == 1) }, "\(site.usual)")
    #expect(server.requests.map(\.method) == Array(repeating: "GET", count: count))
    // Some sites want one (RFC 9110, 10.1.5).
    #expect(server.requests.allSatisfy { $0.values(of: "User-Agent").first?.hasPrefix("Dialtone/") == true })
    #expect(await SiteExchange(inquiry: Self.inquiry(nil)).findings().isEmpty)
  }

  // MARK: Proxies

  /// Makes this process use one proxy, or none.
  private static func use(_ proxy: String?, as variable: String = "http_proxy") {
    // The texts are only read, or copied.
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
      _ = unsafe unsetenv(name)
    }
    if let proxy { _ = unsafe setenv(variable, proxy, 1) }
  }

  /// What is found by that proxy, and whether the site's answer came, too.
  private static func outcome(_ url: SiteURL?) async -> (proxy: ProxyFinding?, hasSite: Bool) {
    let found = await ProxyExchange(inquiry: inquiry(url)).findings()
    let proxies = found.compactMap { if case .proxy(let proxy) = $0 { proxy } else { nil } }
    let hasSite = found.contains { if case .site = $0 { true } else { false } }
    return (proxies.first, hasSite && found.count == 2)
  }

  /// Explain.md: if the time ends before a proxy had its own, no cause is named.
  @Test func aProxyThatHadNoTimeIsNotBlamed() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(SiteBehaviour { _ in [.stall] })
      Self.use("http://127.0.0.1:\(server.port)", as: "https_proxy")
      let inquiry = Self.inquiry("https://site.example/", .seconds(1))
      #expect(await ProxyExchange(inquiry: inquiry).findings() == [.unasked(.proxy, nil, .timeIsUp)])
      withExtendedLifetime(server) {}
    }
  }

  private static let own = ProxyFinding.Outcome.refuses(SiteError(.proxyFailed, "it answers 403 itself"))

  /// RFC 9209, 2.1.1: a proxy tells its own errors from the site's. Over http nothing else does.
  @Test func aProxyLeadsThereOrSaysWhyNot() async {
    await #expect(processExitsWith: .success) {
      let url: SiteURL = "http://site.example/"
      let rows: [(Int, [String], ProxyFinding.Outcome)] = [
        (200, [], .delivers), (403, [], .delivers), (403, ["X-Squid-Error: ERR_ACCESS_DENIED 0"], Self.own),
        (403, ["Proxy-Status: squid; error=http_request_denied"], Self.own),
        (403, ["Proxy-Status: squid; received-status=403"], .delivers),
      ]
      for (status, fields, outcome) in rows {
        let server = try await SiteServer(.answer(status, fields: fields))
        Self.use("http://127.0.0.1:\(server.port)")
        let (proxy, hasSite) = await Self.outcome(url)
        let found = ProxyFinding(variable: "http_proxy", server: "127.0.0.1:\(server.port)", outcome)
        #expect(proxy == found && hasSite == (outcome == .delivers), "\(fields)")
        // RFC 9112, 3.2.2.
        #expect(server.requests.map(\.target) == ["http://site.example/"])
      }
      // What is too long for a check is no fault of the proxy's: curl(1) takes such an answer.
      let fields = (0..<20).map { "X-\($0): " + String(repeating: "a", count: 8_000) }
      let long = try await SiteServer(.answer(200, fields: fields))
      Self.use("http://127.0.0.1:\(long.port)")
      #expect(await Self.outcome(url).0?.outcome == .delivers)
      // It speaks another protocol, or has no way to the site (RFC 9110, 15.6.3).
      for text in ["SSH-2.0-OpenSSH_9.9\r\n", "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n"] {
        let server = try await SiteServer(.text(text))
        Self.use("127.0.0.1:\(server.port)")
        guard case (let found?, false) = await Self.outcome(url), case .refuses = found.outcome else {
          Issue.record("\(text)")
          return
        }
      }
    }
  }

  /// curl(1), ALL_PROXY: what else a variable may say, and a proxy that is asked whether it is there.
  @Test func aProxyIsThereOrCannotBeAsked() async {
    await #expect(processExitsWith: .success) {
      let url: SiteURL = "http://site.example/"
      for (text, name, outcome) in [
        ("SOCKS4://127.0.0.1:1", "127.0.0.1:1", .notTried), ("https://u:secret@p:1/", "p:1", .notTried),
        ("https://u:secret/s@p:1/", "p:1", .notTried),
        ("socks4a://", "", .unreadable), ("http://[", "", .unreadable),
      ] as [(String, String, ProxyFinding.Outcome)] {
        Self.use(text, as: "all_proxy")
        let (proxy, hasSite) = await Self.outcome(url)
        #expect(proxy == ProxyFinding(variable: "all_proxy", server: name, outcome) && !hasSite, "\(text)")
      }
      let server = try await SiteServer(.answer(400))
      // One of SOCKS that wants the site's address is not asked before that is known.
      for text in ["socks5://127.0.0.1:\(server.port)", nil] {
        Self.use(text, as: "all_proxy")
        #expect(await Self.outcome(url).proxy == nil && server.requests.isEmpty, "\(text ?? "")")
      }
      // If the name has none, it is asked whether it is there.
      Self.use("socks5://127.0.0.1:\(server.port)", as: "all_proxy")
      let lost = Finding.name(NameFinding(name: "site.example"))
      let found = await ProxyExchange(inquiry: Self.inquiry(url, findings: [lost])).findings()
      let socks = ProxyFinding(variable: "all_proxy", server: "127.0.0.1:\(server.port)", .connects)
      #expect(found == [.proxy(socks)])
      Self.use("http://127.0.0.1:\(server.port)", as: "https_proxy")
      let there = await Self.outcome(nil)
      let name = "127.0.0.1:\(server.port)"
      #expect(there.proxy == ProxyFinding(variable: "https_proxy", server: name, .connects) && !there.hasSite)
      let closed = try DiagnosisSocketTests.ClosedPort()
      for (variable, url) in [("http_proxy", url), ("https_proxy", nil)] {
        Self.use("http://127.0.0.1:\(closed.number)", as: variable)
        guard case (let gone?, false) = await Self.outcome(url), case .unreachable = gone.outcome else {
          Issue.record("\(variable)")
          return
        }
      }
    }
  }
}
#endif
