// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// A server in wide use, in place of the trials' own.
@Suite(
  .enabled(if: NginxServer.path != nil, "nginx is not installed"),
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct NginxTests {
  @Test(arguments: Transport.allCases)
  func givesTheVerdictsOfAnswersByNginx(_ transport: Transport) async throws {
    let lab = try NetworkLab()
    let server = try await NginxServer(as: try Trust.identity.get(), in: lab)
    defer { withExtendedLifetime(server) {} }
    let sites = try LabSites(lab, names: ["site.example": ["127.0.0.1"]])
    func kind(
      _ path: String, _ expectation: SiteExpectation, _ method: SiteCheckConfiguration.Method? = nil
    ) async throws -> SiteVerdict.Kind {
      let verdict = try await sites.check("\(transport)://site.example\(path)") {
        $0.expectation = expectation
        $0.method = method
      }
      // That GET may be answered differently is no failure.
      #expect(verdict.error == nil || verdict.error?.code == .headRefused, "\(verdict)")
      return verdict.kind
    }
    let portal: SiteVerdict.Kind = transport == .plain ? .captivePortal : .unexpectedResponse
    #expect(try await kind("/", .answer) == .available)
    #expect(try await kind("/", .success) == .available)
    #expect(try await kind("/", .success, .get) == .available)
    #expect(try await kind("/", .status(204)) == portal)
    #expect(try await kind("/", .body(containing: "the site")) == .available)
    #expect(try await kind("/", .body(containing: "another")) == portal)
    #expect(try await kind("/204", .status(204)) == .available)
    #expect(try await kind("/nothing", .answer) == .available)
    #expect(try await kind("/nothing", .success) == .unexpectedResponse)
    #expect(try await kind("/302", .success) == portal)
    #expect(try await kind("/302", .answer) == (transport == .plain ? .captivePortal : .available))
    #expect(try await kind("/same", .answer) == .available)
    #expect(try await kind("/511", .answer) == .captivePortal)
    #expect(try await kind("/get-only", .success) == .available)
  }

  /// `gzip_static always` compresses whatever the client accepts.
  @Test(.enabled(if: NginxServer.hasGzipStatic, "nginx has no gzip_static"), arguments: Transport.allCases)
  func aBodyThatIsCompressedAllTheSameIsNotRead(_ transport: Transport) async throws {
    let lab = try NetworkLab()
    let server = try await NginxServer(as: try Trust.identity.get(), in: lab)
    defer { withExtendedLifetime(server) {} }
    let sites = try LabSites(lab, names: ["site.example": ["127.0.0.1"]])
    let url = "\(transport)://site.example/compressed"
    let text = try await sites.check(url) { $0.expectation = .body(containing: "the site") }
    #expect(text.kind == .failed && text.stage == .body && text.status == nil, "\(text)")
    #expect(text.error?.code == .unreadableBody && text.error?.message.contains("gzip") == true, "\(text)")
    for expectation in [SiteExpectation.answer, .success, .status(200)] {
      let verdict = try await sites.check(url) {
        $0.expectation = expectation
        $0.method = .get
      }
      #expect(verdict.kind == .available && verdict.error == nil, "\(expectation): \(verdict)")
    }
    let status = try await sites.check(url) { $0.expectation = .status(204) }
    // Over https no page is a portal's: the status says enough.
    #expect(status.kind == (transport == .plain ? .failed : .unexpectedResponse), "\(status)")
    #expect(status.stage == (transport == .plain ? .body : nil), "\(status)")
    #expect(status.error?.code == (transport == .plain ? .unreadableBody : nil), "\(status)")
  }

  @Test("TLS to the port of http fails, and http to the port of TLS gets no expected answer")
  func theWrongPortOfASchemeIsNotAvailable() async throws {
    let lab = try NetworkLab()
    let server = try await NginxServer(as: try Trust.identity.get(), in: lab)
    defer { withExtendedLifetime(server) {} }
    let sites = try LabSites(lab)
    let secure = try await sites.check("https://127.0.0.1:80/")
    #expect(secure.kind == .failed && secure.stage == .tls, "\(secure)")
    let plain = try await sites.check("http://127.0.0.1:443/") { $0.expectation = .success }
    #expect(plain.kind == .unexpectedResponse && plain.status == 400, "\(plain)")
  }
}
#endif
