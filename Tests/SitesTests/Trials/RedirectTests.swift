// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import SiteLab
import TestSupport
import Testing

/// Trial 54 of Sites.md: the target of a redirect is reported as foreign text, and nothing is ever sent there.
@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
  /// Asks a server on `localhost` that redirects to `location`. 204 is expected, so that every target may be told.
  private func redirected(to location: String, _ transport: Transport = .plain) async throws -> SiteVerdict {
    let server = try await SiteServer(.redirect(to: location), transport)
    return try await check(server.url(transport, host: "localhost")) { $0.expectation = .status(204) }
  }

  @Test(arguments: Transport.allCases, [302, 301, 303, 307, 308])
  func nothingIsSentToTheTarget(_ transport: Transport, status: Int) async throws {
    let target = try await SiteServer(.answer(204), .plain)
    for host in ["127.0.0.1", "localhost"] {
      let server = try await SiteServer(.redirect(status, to: "http://\(host):\(target.port)/204"), transport)
      let verdict = try await check(server.url(transport, host: "localhost")) { $0.expectation = .status(204) }
      #expect(verdict.kind != .available)
      #expect(verdict.status == status)
      #expect(verdict.location == "http://\(host):\(target.port)/204")
    }
    #expect(target.connectionCount == 0)
  }

  @Test(arguments: [
    "http://login.example/", "http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "//login.example/x",
    "https://login.example:8443/?a=b", "http://localhost.example/", "http://wwww.localhost/", "http://[::1]/",
    "http://www.www.localhost/", "HTTP://LOGIN.EXAMPLE", "http://localhost@login.example/",
  ])
  func aRedirectToAnotherHostIsAPortal(_ location: String) async throws {
    let verdict = try await redirected(to: location)
    #expect(verdict.kind == .captivePortal, "\(verdict)")
    #expect(verdict.location != nil)
  }

  /// It is unknown which of them a browser would follow.
  @Test func anotherHostBesideTheSameHostIsAPortal() async throws {
    let fields = ["Location: /login", "Location: http://login.example/"]
    let server = try await SiteServer(.answer(302, fields: fields), .plain)
    let verdict = try await check(server.url(.plain, host: "localhost"))
    #expect(verdict.kind == .captivePortal && verdict.location == "http://login.example/", "\(verdict)")
  }

  @Test(arguments: [
    "/login", "login", "?login", "", "#top", "http://localhost/", "https://localhost/", "http://LOCALHOST./x",
    "http://www.localhost/", "http://WWW.localhost.:81/", "//localhost/", "http://localhost:1/",
  ])
  func aRedirectToTheSameHostIsUnexpected(_ location: String) async throws {
    let verdict = try await redirected(to: location)
    #expect(verdict.kind == .unexpectedResponse, "\(verdict)")
  }

  @Test(arguments: [
    "file:///etc/passwd", "javascript:alert(1)", "data:text/html,hello", "ftp://login.example/", "about:blank",
    "ws://login.example/", "gopher://login.example/", "FILE:///etc/passwd", "java\tscript:alert(1)", "mailto:a@b",
  ])
  func onlyHTTPTargetsAreTold(_ location: String) async throws {
    let verdict = try await redirected(to: location)
    #expect(verdict.location == nil)
    #expect(verdict.kind != .available, "\(verdict)")
  }

  @Test func targetsAreMadeAbsolute() async throws {
    let server = try await SiteServer(.redirect(to: "../login?next=%2F"), .plain)
    let verdict = try await check(server.url(.plain, host: "localhost", "/a/b/c")) { $0.expectation = .status(204) }
    #expect(verdict.location == "http://localhost:\(server.port)/a/login?next=%2F")
  }

  @Test func longTargetsAreCut() async throws {
    let verdict = try await redirected(to: "http://login.example/" + String(repeating: "x", count: 10_000))
    #expect(verdict.kind == .captivePortal)
    #expect(verdict.location?.count == 2_048)
    #expect(verdict.location?.hasPrefix("http://login.example/xxx") == true)
  }

  /// Escape sequences, a backspace, a C1 control, and characters that change the direction of writing.
  @Test(arguments: [
    "http://login.example/\u{1B}]0;title\u{7}", "http://login.example/\u{8}\u{8}\u{8}",
    "http://login.example/\u{9B}31m",
    "http://login.example/\u{202E}moc.elgoog", "http://login.example/\u{7F}", "http://login.example/\u{2066}x",
  ])
  func controlCharactersAreNotTold(_ location: String) async throws {
    let verdict = try await redirected(to: location)
    #expect(verdict.kind != .available, "\(verdict)")
    let harmless = verdict.location?.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) } ?? true
    #expect(harmless, "\(verdict.location?.unicodeScalars.map { String($0.value, radix: 16) } ?? [])")
    let words = "\(verdict)"
    #expect(words.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) })
  }

  /// Bytes that are not UTF-8, and a target given twice.
  @Test(arguments: [
    "HTTP/1.1 302 Found\r\nLocation: http://login.example/\u{FF}\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://a.example/\r\nLocation: http://b.example/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://login.example/ b\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://login.example:99999/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n",
  ])
  func strangeTargetsDoNoHarm(_ text: String) async throws {
    // Latin-1, so that U+00FF is the byte FF.
    let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let server = try await SiteServer(SiteBehaviour { _ in [.send(bytes), .close] }, .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .status(204) }
    #expect(verdict.kind != .available, "\(verdict)")
    #expect(verdict.location?.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) } ?? true)
  }
}
#endif
