// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Scenario 57 of linux.md: who cannot prove to be the site is told nothing, and is not asked again less strictly.
@Suite(.timeLimit(.minutes(2)))
struct CertificateTests {
  struct Impostor: CustomTestStringConvertible {
    let name: String
    var host = "127.0.0.1"
    var versions: ClosedRange<SiteTLSVersion> = .modern
    let code: SiteError.Code
    let identity: @Sendable (SiteAuthority) throws -> SiteIdentity

    var testDescription: String { name }
  }

  static let impostors: [Impostor] = [
    Impostor(name: "another address", code: .certificateNameMismatch) {
      try $0.identity(for: ["127.0.0.2", "localhost", "::1"])
    },
    Impostor(name: "another name", host: "localhost", code: .certificateNameMismatch) {
      try $0.identity(for: ["localhost.example", "127.0.0.1", "*.localhost"])
    },
    Impostor(name: "a wildcard for everything", host: "localhost", code: .certificateNameMismatch) {
      try $0.identity(for: ["*"])
    },
    Impostor(name: "an address as a name", code: .certificateNameMismatch) {
      // A host name of these letters is no IP alternative name (RFC 9525, 6.5).
      try $0.identity(for: ["*.0.0.1"])
    },
    Impostor(name: "the name in the subject alone", host: "localhost", code: .certificateNameMismatch) {
      try $0.identity(withCommonName: "localhost")
    },
    Impostor(name: "expired", code: .certificateExpired) { try $0.identity(for: ["127.0.0.1"], .expired) },
    Impostor(name: "not valid yet", code: .certificateNotYetValid) { try $0.identity(for: ["127.0.0.1"], .notYet) },
    Impostor(name: "self-signed", code: .certificateUntrusted) { _ in try SiteAuthority.selfSigned(for: ["127.0.0.1"])
    },
    Impostor(name: "of an unknown authority", code: .certificateUntrusted) { _ in
      try SiteAuthority(name: "Nobody").identity(for: ["127.0.0.1"])
    },
    Impostor(name: "of an unknown authority of the same name", code: .certificateUntrusted) { _ in
      try SiteAuthority().identity(for: ["127.0.0.1"])
    },
    Impostor(name: "without its intermediate", code: .certificateUntrusted) {
      try $0.identity(for: ["127.0.0.1"], .now, .intermediateMissing)
    },
    Impostor(name: "for another use", code: .certificateUntrusted) {
      try $0.identityThatMayNotSign(for: ["127.0.0.1"])
    },
    Impostor(name: "for another use, TLS 1.2", versions: .tls12 ... .tls12, code: .certificateUntrusted) {
      try $0.identityThatMayNotSign(for: ["127.0.0.1"])
    },
    Impostor(name: "self-signed, TLS 1.2", versions: .tls12 ... .tls12, code: .certificateUntrusted) { _ in
      try SiteAuthority.selfSigned(for: ["127.0.0.1"])
    },
  ]

  @Test(arguments: impostors)
  func intercepted(by impostor: Impostor) async throws {
    let server = try await SiteServer(
      .answer(200), as: impostor.identity(try Trust.authority.get()), tls: impostor.versions)
    let verdict = try await check(server.url(.secure, host: impostor.host))
    #expect(verdict.kind == .intercepted, "\(verdict)")
    #expect(verdict.error?.code == impostor.code, "\(verdict)")
    #expect(verdict.stage == nil && verdict.status == nil && verdict.location == nil)
    try await eventually(within: .seconds(30), "the connection is closed") { server.openCount == 0 }
    // Once, and not a byte of HTTP, with TLS or without.
    #expect(server.connectionCount == 1)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
    #expect(server.connections.allSatisfy { !$0.receivedRaw.contains(bytesOf: "HTTP/1") })
  }

  @Test(arguments: [SiteAuthority.Chain.direct, .intermediate], ["127.0.0.1", "localhost"])
  func proven(_ chain: SiteAuthority.Chain, host: String) async throws {
    let identity = try Trust.authority.get().identity(for: ["localhost", "127.0.0.1", "::1"], .now, chain)
    let server = try await SiteServer(.answer(200), as: identity)
    let verdict = try await check(server.url(.secure, host: host))
    #expect(verdict.kind == .available, "\(verdict)")
  }

  /// A wildcard stands for one label.
  @Test(arguments: [("a.trial.localhost", true), ("a.b.trial.localhost", false), ("trial.localhost", false)])
  func wildcard(host: String, isMeant: Bool) async throws {
    let identity = try Trust.authority.get().identity(for: ["*.trial.localhost"])
    let server = try await SiteServer(.answer(200), as: identity)
    let names = SiteNames([host: ["127.0.0.1"]])
    let verdict = try await check(server.url(.secure, host: host), in: names.environment)
    #expect(verdict.kind == (isMeant ? .available : .intercepted), "\(verdict)")
  }

  @Test(arguments: [SiteTLSVersion.tls12, .tls13])
  func versions(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: try Trust.identity.get(), tls: version...version)
    #expect(try await check(server.url(.secure)).kind == .available)
  }

  /// A server that knows nothing newer is not an impostor, but it is not asked, either.
  @Test(arguments: [SiteTLSVersion.tls10, .tls11])
  func tooOld(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: try Trust.identity.get(), tls: version...version)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.stage == .tls)
    #expect(verdict.error?.code == .tlsFailed)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// That says nothing of TLS's versions.
  @Test func closesAtTheHello() async throws {
    let server = try await SiteServer(SiteBehaviour(opening: [.awaitBytes, .close]), .plain)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed && verdict.stage == .tls, "\(verdict)")
    #expect(verdict.error?.code == .connectionLost, "\(verdict)")
    #expect(verdict.error?.message == "the connection was closed before TLS was agreed upon", "\(verdict)")
  }

  /// The name is told in the hello (RFC 6066), an address is not.
  @Test(arguments: [("localhost", true), ("127.0.0.1", false)])
  func serverName(host: String, isTold: Bool) async throws {
    let server = try await SiteServer(.answer(200), .secure)
    #expect(try await check(server.url(.secure, host: host)).kind == .available)
    let raw = try #require(server.connections.last?.receivedRaw)
    #expect(raw.contains(bytesOf: host) == isTold)
  }

  @Test func trustThatCannotBeRead() async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let verdict = try await check(server.url(.secure)) { $0.trust = .file("/nowhere/root.pem") }
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.error?.code == .trustUnreadable)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// Whoever has to mend a file of hundreds is told where.
  @Test(arguments: [
    ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate number 2 in it is broken"),
    ("-----BEGIN CERTIFICATE-----\n", "certificate number 2 in it is broken"),
  ])
  func trustWithABrokenCertificate(_ broken: String, _ words: String) async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let root = try Trust.authority.get().root
    let verdict = try await check(server.url(.secure)) { $0.trust = .pem(root + broken + root) }
    #expect(verdict.kind == .failed && verdict.error?.code == .trustUnreadable, "\(verdict)")
    #expect(verdict.error?.message.hasSuffix(words) == true, "\(verdict)")
  }

  /// Nobody vouches for the trials' authority but the trials.
  @Test func theSystemDoesNotTrustIt() async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let verdict = try await check(server.url(.secure)) { $0.trust = .system }
    #expect(verdict.kind != .available, "\(verdict)")
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }
}

extension [UInt8] {
  /// Whether the text's bytes are part of these.
  func contains(bytesOf text: String) -> Bool {
    let wanted = Array(text.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}
#endif
