// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneSites
import Glibc
import SiteLab
import TestSupport
import Testing

/// TLS through a proxy. Each test has a process of its own, because the environment is the whole process's.
@Suite(.serialized, .timeLimit(.minutes(5)), .threadsApart)
struct ProxyTunnelTests {
  /// Makes this process use the proxy at this port for http.
  private static func useForHTTP(_ port: Int) {
    unsafe unsetenv("no_proxy")
    unsafe unsetenv("NO_PROXY")
    unsafe setenv("http_proxy", "http://127.0.0.1:\(port)", 1)
  }

  /// Makes this process use the proxy for https.
  private static func use(_ proxy: TunnelProxy) {
    // The texts are copied.
    unsafe unsetenv("no_proxy")
    unsafe unsetenv("NO_PROXY")
    unsafe setenv("https_proxy", "http://me:word@127.0.0.1:\(proxy.port)", 1)
  }

  @Test func tlsIsWithTheSiteItself() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      let proxy = try await TunnelProxy(to: server.port)
      Self.use(proxy)
      // Only the proxy knows this name.
      let verdict = try await check("https://site.example/x") { $0.proxy = .environment }
      #expect(verdict.kind == .available, "\(verdict)")
      #expect(verdict.timings.tls != nil && verdict.address?.description == "127.0.0.1")
      let asked = try #require(proxy.requests.first)
      #expect(asked.hasPrefix("CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n"), "\(asked)")
      #expect(asked.contains("\r\nProxy-Authorization: Basic bWU6d29yZA==\r\n"))
      // The site sees what it would see without a proxy, and not the proxy's credentials.
      let request = try #require(server.requests.first)
      #expect(request.target == "/x" && request.values(of: "Host") == ["site.example"])
      #expect(request.values(of: "Proxy-Authorization").isEmpty)
      #expect(proxy.requests.count == 1 && server.requests.count == 1)
    }
  }

  /// RFC 9110, 15.2: interim answers say nothing of the final one, except that an unrequested switch of protocols
  /// fails.
  @Test func interimAnswersAreNoRefusal() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      for (interim, kind) in [
        ("HTTP/1.1 100 Continue\r\n\r\n", SiteVerdict.Kind.available),
        ("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n", .available),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .failed),
        (String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 3_000), .failed),
      ] {
        let proxy = try await TunnelProxy(to: server.port, interim: interim)
        Self.use(proxy)
        let verdict = try await check("https://site.example/") { $0.proxy = .environment }
        #expect(verdict.kind == kind, "\(verdict)")
        if kind == .failed { #expect(verdict.error?.code == .proxyFailed, "\(verdict)") }
      }
    }
  }

  /// The monitor goes on as before.
  @Test func aURLThatCannotBeAskedIsRefused() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("no_proxy")
      unsafe unsetenv("https_proxy")
      unsafe setenv("http_proxy", "ftp://user:secret@proxy/", 1)
      var configuration = SiteMonitorConfiguration()
      configuration.check.proxy = .environment
      let monitor = try SiteMonitor("https://192.0.2.1/", configuration: configuration)
      let error = #expect(throws: SiteError.self) { try monitor.setURL("http://192.0.2.2/") }
      #expect(
        error?.code == .invalidConfiguration && error?.message.contains("secret") == false, "\(error?.message ?? "")")
      #expect(monitor.url == "https://192.0.2.1/")
      try monitor.setURL("https://192.0.2.2/")
      #expect(monitor.url == "https://192.0.2.2/", "another URL, of a scheme that has no proxy")
      let pair = try SiteMonitor(http: "http://192.0.2.1/", https: "https://192.0.2.1/")
      #expect(throws: SiteError(.invalidConfiguration, "")) { try pair.reconfigure(configuration) }
    }
  }

  @Test func anImpostorBehindAProxyIsIntercepted() async {
    await #expect(processExitsWith: .success) {
      let identity = try SiteIdentity("chained")
      let server = try await SiteServer(.answer(204), as: identity)
      let proxy = try await TunnelProxy(to: server.port)
      Self.use(proxy)
      let verdict = try await check("https://site.example/") { $0.proxy = .environment }
      #expect(verdict.kind == .intercepted && verdict.error?.code == .certificateNameMismatch, "\(verdict)")
      #expect(server.connections.allSatisfy { $0.received.isEmpty })
    }
  }

  @Test func aProxyThatNeverAnswersIsNoConnection() async {
    await #expect(processExitsWith: .success) {
      let proxy = try await SiteServer(SiteBehaviour(), .plain)
      unsafe unsetenv("no_proxy")
      unsafe unsetenv("NO_PROXY")
      unsafe setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let verdict = try await check("https://site.example/") {
        $0.proxy = .environment
        $0.timeout = .seconds(2)
      }
      #expect(verdict.kind == .failed && verdict.stage == .connect && verdict.error?.code == .timedOut, "\(verdict)")
      #expect(verdict.timings.connect == nil && verdict.timings.tls == nil)
      #expect(proxy.requests.map(\.method) == ["CONNECT"])
    }
  }

  /// RFC 9110, 15.6: these do not tell whether the site has answered.
  @Test(arguments: [500, 502, 503, 504]) func whatAProxySaysOfItselfIsNoAnswerOfTheSite(_ status: Int) async {
    await #expect(processExitsWith: .success) { [status] in
      let proxy = try await SiteServer(.answer(status), .plain)
      Self.useForHTTP(proxy.port)
      for expectation in [SiteExpectation.answer, .success, .body(containing: "x")] {
        let verdict = try await check("http://site.example/") {
          $0.proxy = .environment
          $0.expectation = expectation
        }
        #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
        #expect(verdict.error?.code == .proxyFailed && verdict.error?.message.contains("\(status)") == true)
      }
      // If a user lists the status, it is expected, no matter who sent it.
      let listed = try await check("http://site.example/") {
        $0.proxy = .environment
        $0.expectation = .status(status)
      }
      #expect(listed.kind == .available, "\(listed)")
    }
  }

  /// 511 is the network's own answer. A status below 500 is the site's.
  @Test func otherAnswersThroughAProxyStandForTheSite() async {
    await #expect(processExitsWith: .success) {
      for (status, kind) in [(200, SiteVerdict.Kind.available), (404, .available), (511, .captivePortal)] {
        let proxy = try await SiteServer(.answer(status), .plain)
        Self.useForHTTP(proxy.port)
        let verdict = try await check("http://site.example/") { $0.proxy = .environment }
        #expect(verdict.kind == kind, "\(verdict)")
      }
    }
  }

  @Test func aProxyIsNotUsedUnlessAskedFor() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      let proxy = try await TunnelProxy(to: server.port)
      Self.use(proxy)
      let verdict = try await check(try server.url(.secure))
      #expect(verdict.kind == .available, "\(verdict)")
      #expect(proxy.requests.isEmpty && server.requests.count == 1)
    }
  }

  @Test func aProxyThatReachesNoSiteIsNoAnswer() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      let proxy = try await TunnelProxy(to: server.port)
      Self.use(proxy)
      try await server.stopListening()
      let verdict = try await check("https://site.example/") { $0.proxy = .environment }
      #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
      #expect(verdict.error?.code == .proxyFailed, "\(verdict)")
    }
  }
}
#endif
