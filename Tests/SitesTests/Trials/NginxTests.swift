// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// A server that the world runs, in place of the trials' own.
@Suite(
  .enabled(if: NginxServer.path != nil, "nginx is not installed"),
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .fewAtATime)
struct NginxTests {
  @Test(arguments: Transport.allCases)
  func verdicts(_ transport: Transport) async throws {
    let lab = try NetworkLab()
    let server = try await NginxServer(as: try Trust.identity.get(), in: lab)
    defer { withExtendedLifetime(server) {} }
    let sites = try LabSites(lab, names: ["site.example": ["127.0.0.1"]])
    func kind(
      _ path: String, _ expectation: SiteExpectation, _ method: SiteConfiguration.Method? = nil
    ) async throws -> SiteVerdict.Kind {
      let verdict = try await sites.check("\(transport)://site.example\(path)") {
        $0.expectation = expectation
        $0.method = method
      }
      // That GET may be answered otherwise is no failure.
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

  @Test("TLS to the port of http, and http to the port of TLS")
  func theWrongPort() async throws {
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
