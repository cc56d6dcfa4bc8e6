// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import Glibc
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 57 of Sites.md: a server that cannot prove to be the site is told nothing, and is not asked again less
/// strictly.
@Suite(.timeLimit(.minutes(5)))
struct CertificateTests {
  struct Impostor: CustomTestStringConvertible {
    let testDescription: String
    let identity: String
    let code: SiteError.Code
    let host: String
    let versions: ClosedRange<SiteTLSVersion>

    init(
      _ description: String, _ identity: String, _ code: SiteError.Code, host: String = "127.0.0.1",
      _ versions: ClosedRange<SiteTLSVersion> = .modern
    ) {
      testDescription = description
      self.identity = identity
      self.code = code
      self.host = host
      self.versions = versions
    }
  }

  static let impostors: [Impostor] = [
    Impostor("another address", "other-address", .certificateNameMismatch),
    Impostor("another name", "other-name", .certificateNameMismatch, host: "localhost"),
    Impostor("a wildcard for everything", "any-name", .certificateNameMismatch, host: "localhost"),
    // A host name of digits and dots is no IP alternative name (RFC 9525, 6.5).
    Impostor("an address as a name", "address-as-name", .certificateNameMismatch),
    Impostor("the name in the subject alone", "common-name", .certificateNameMismatch, host: "localhost"),
    Impostor("expired", "expired", .certificateExpired),
    Impostor("not valid yet", "not-yet", .certificateNotYetValid),
    Impostor("self-signed", "self-signed", .certificateUntrusted),
    Impostor("of an unknown authority", "of-nobody", .certificateUntrusted),
    Impostor("of an unknown authority of the same name", "of-namesake", .certificateUntrusted),
    Impostor("without its intermediate", "chain-missing", .certificateUntrusted),
    Impostor("with an expired intermediate", "chain-expired", .certificateUntrusted),
    Impostor("of an authority for other names", "chain-constrained", .certificateUntrusted, host: "localhost"),
    Impostor("for clients", "client", .certificateUntrusted),
    Impostor("of a short key", "key-rsa1024", .certificateUntrusted),
    Impostor("for another use", "cannot-sign", .certificateUntrusted),
    Impostor("for another use, TLS 1.2", "cannot-sign", .certificateUntrusted, .tls12 ... .tls12),
    Impostor("self-signed, TLS 1.2", "self-signed", .certificateUntrusted, .tls12 ... .tls12),
  ]

  @Test(arguments: impostors)
  func aServerThatCannotProveToBeTheSiteIsIntercepted(by impostor: Impostor) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(impostor.identity), tls: impostor.versions)
    let verdict = try await check(server.url(.secure, host: impostor.host))
    #expect(verdict.kind == .intercepted, "\(verdict)")
    #expect(verdict.error?.code == impostor.code, "\(verdict)")
    #expect(verdict.stage == nil && verdict.status == nil && verdict.location == nil)
    try await eventually(within: .seconds(30), "the connection is closed") { server.openCount == 0 }
    // It was asked once, and got no byte of HTTP, with TLS or without.
    #expect(server.connectionCount == 1)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
    #expect(server.connections.allSatisfy { !$0.receivedRaw.contains(bytesOf: "HTTP/1") })
  }

  /// The words for a chain that is not believed. The TLS library does not tell which of these it is.
  @Test(arguments: ["chain-expired", "chain-missing", "chain-constrained"])
  func saysWhatMayBeWrongWithAChain(_ identity: String) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(identity))
    let error = try await check(server.url(.secure, host: "localhost")).error
    let message = error?.message
    let words = "the authority is unknown, or a certificate between is missing, has expired, may not vouch"
    #expect(message?.contains(words) == true, "\(message ?? "nothing")")
    #expect(message?.hasSuffix("(CERTIFICATE_VERIFY_FAILED)") == true, "\(message ?? "nothing")")
    // curl ends a chain at any certificate that is trusted (X509_V_FLAG_PARTIAL_CHAIN).
    #expect(error?.isInDispute == true)
  }

  @Test func saysWhatIsWrongWithALeaf() async throws {
    for (words, identity) in [
      ("the certificate is not made for a server", "client"),
      ("the certificate is self-signed", "self-signed"),
      ("the certificate's RSA key of 1024 bits is too short", "key-rsa1024"),
    ] {
      let server = try await SiteServer(.answer(200), as: SiteIdentity(identity))
      let error = try await check(server.url(.secure)).error
      #expect(error?.message.hasPrefix(words) == true && error?.isInDispute == false, "\(error?.message ?? "nothing")")
    }
  }

  // MARK: As other clients

  /// curl shows whether a kind of key is accepted.
  @Test(
    .enabled(if: Curl.path != nil, "curl is not installed"),
    arguments: [
      "server", "key-p384", "key-p521", "key-ed25519", "key-rsa1024", "key-rsa1962", "key-rsa1963", "key-rsa2047",
      "key-rsa2048",
    ], [SiteTLSVersion.tls12, .tls13])
  func believesTheKeysThatCurlBelieves(_ identity: String, _ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(identity), tls: version...version)
    try await Self.judge(server, try Trust.authority.get())
  }

  @Test(.enabled(if: Curl.path != nil, "curl is not installed"), arguments: [SiteTLSVersion.tls12, .tls13])
  func exchangesKeysAsCurlDoes(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(
      .answer(200), as: try Trust.identity.get(), tls: version...version, keyExchange: .p521)
    try await Self.judge(server, try Trust.authority.get())
    #expect(try await check(server.url(.secure)).kind == .available)
  }

  @Test(.enabled(if: Curl.path != nil, "curl is not installed"))
  func believesTheSignaturesThatCurlBelieves() async throws {
    for identity in ["rsa-signed", "sha1", "rsa-chained"] {
      let server = try await SiteServer(.answer(200), as: SiteIdentity(identity))
      try await Self.judge(server, try SiteIdentity("root-rsa").certificates)
    }
  }

  @Test func saysThatASignatureIsWeak() async throws {
    let authority = try SiteIdentity("root-rsa").certificates
    let server = try await SiteServer(.answer(200), as: SiteIdentity("sha1"))
    let verdict = try await check(server.url(.secure)) { $0.trust = .pem(authority) }
    #expect(verdict.kind == .intercepted && verdict.error?.code == .certificateUntrusted, "\(verdict)")
    #expect(verdict.error?.message == "the certificate is signed with SHA-1, which can be forged", "\(verdict)")
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// A self-signed certificate that is trusted is its own authority: its signature does not matter, for curl neither.
  @Test func aTrustedSelfSignedCertificateIsBelieved() async throws {
    let identity = try SiteIdentity("self-signed")
    let server = try await SiteServer(.answer(200), as: identity)
    let verdict = try await check(server.url(.secure)) { $0.trust = .pem(identity.certificates) }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  private static func judge(_ server: SiteServer, _ authority: String) async throws {
    let url = try server.url(.secure)
    let judge = try await Curl.get(url.text, trusting: authority)
    let verdict = try await check(url) { $0.trust = .pem(authority) }
    #expect((verdict.kind == .available) == (judge.status == 0), "\(verdict), \(judge)")
    // CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION.
    #expect([0, 35, 60].contains(judge.status), "\(judge)")
  }

  // MARK: Words

  /// Alerts by their numbers (RFC 8446, 6; RFC 7301, 3.2; RFC 6066, 3), each in answer to the hello.
  @Test(
    arguments: [
      (40, "refused"), (49, "refused"), (70, "no TLS 1.2 or later"), (80, "refused"),
      (112, "no server of the name"), (116, "client certificate"), (120, "neither HTTP/1.1 nor HTTP/2"),
    ] as [(UInt8, String)])
  func saysWhatAnAlertMeans(_ alert: UInt8, _ words: String) async throws {
    let server = try await SiteServer(
      SiteBehaviour(opening: [.awaitBytes, .send([0x15, 3, 3, 0, 2, 2, alert]), .close]), .plain)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed && verdict.stage == .tls && verdict.error?.code == .tlsFailed, "\(verdict)")
    #expect(verdict.error?.message.contains(words) == true, "\(verdict)")
    // The TLS library's own word follows.
    #expect(verdict.error?.message.contains(/\([A-Z0-9_]+\)$/) == true, "\(verdict)")
  }

  @Test func saysThatAServerDoesNotSpeakTLS() async throws {
    let server = try await SiteServer(
      SiteBehaviour(opening: [.awaitBytes, .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close]), .plain)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed && verdict.error?.code == .tlsFailed, "\(verdict)")
    #expect(verdict.error?.message == "what answers does not speak TLS (WRONG_VERSION_NUMBER)", "\(verdict)")
  }

  /// In TLS 1.3 the client has finished before the server says so (RFC 8446, 4.4.2.4).
  @Test(arguments: [SiteTLSVersion.tls12, .tls13])
  func saysThatAClientCertificateIsAskedFor(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(
      .answer(200), as: try Trust.identity.get(), tls: version...version,
      clientAuthority: try Trust.authority.get())
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed && verdict.stage == .tls && verdict.error?.code == .tlsFailed, "\(verdict)")
    #expect(verdict.error?.message.contains("client certificate") == true, "\(verdict)")
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  // MARK: When it ends

  /// The server's own certificate counts, whatever the verdict.
  @Test(arguments: [
    ("chained", SiteIdentity.end), ("not-yet", SiteIdentity.end), ("other-address", SiteIdentity.end),
    // 2001-12-31T23:59:59Z
    ("expired", 1_009_843_199),
  ])
  func tellsWhenTheCertificateEnds(_ identity: String, _ end: Int) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(identity))
    for host in ["127.0.0.1", "localhost"] {
      let verdict = try await check(server.url(.secure, host: host))
      #expect(verdict.certificateExpires?.durationSince1970 == .seconds(end), "\(verdict)")
    }
  }

  @Test func nothingEndsWithoutACertificate() async throws {
    let server = try await SiteServer(.answer(200), .plain)
    #expect(try await check(server.url(.plain)).certificateExpires == nil)
    // It waits for the rest of a request, and so says nothing.
    let silence = try await check(server.url(.secure)) { $0.timeout = .seconds(1) }
    #expect(silence.kind == .failed && silence.certificateExpires == nil, "\(silence)")
  }

  @Test func aCertificateThatEndsTooSoonIsNotWhatIsExpected() async throws {
    let server = try await SiteServer(.answer(200), .secure)
    // An hour is longer than any test.
    let left = SiteIdentity.end - time(nil)
    for (seconds, isEnough) in [(0, true), (left - 3600, true), (left + 3600, false)] {
      let verdict = try await check(server.url(.secure)) { $0.minimumCertificateLifetime = .seconds(seconds) }
      #expect(verdict.kind == (isEnough ? .available : .unexpectedResponse) && verdict.status == 200, "\(verdict)")
      #expect(verdict.error?.code == (isEnough ? nil : .certificateExpiresSoon), "\(verdict)")
      #expect(isEnough || verdict.error?.message == "the certificate expires at \(SiteIdentity.endText)", "\(verdict)")
    }
    // A check that fails for another reason says that reason.
    let unexpected = try await check(server.url(.secure)) {
      $0.minimumCertificateLifetime = .seconds(left + 3600)
      $0.expectation = .status(204)
    }
    #expect(unexpected.kind == .unexpectedResponse && unexpected.error == nil, "\(unexpected)")
    let plain = try await SiteServer(.answer(200), .plain)
    let verdict = try await check(plain.url(.plain)) { $0.minimumCertificateLifetime = .seconds(1_000_000_000) }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  @Test(arguments: ["server", "chained"], ["127.0.0.1", "localhost"])
  func aServerThatProvesToBeTheSiteIsBelieved(_ identity: String, host: String) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(identity))
    let verdict = try await check(server.url(.secure, host: host))
    #expect(verdict.kind == .available, "\(verdict)")
  }

  /// A wildcard stands for one label.
  @Test(arguments: [("a.trial.localhost", true), ("a.b.trial.localhost", false), ("trial.localhost", false)])
  func aWildcardStandsForOneLabel(host: String, isMeant: Bool) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity("wildcard"))
    let names = SiteNames([host: ["127.0.0.1"]])
    let verdict = try await check(server.url(.secure, host: host), in: names.environment)
    #expect(verdict.kind == (isMeant ? .available : .intercepted), "\(verdict)")
  }

  @Test(arguments: [SiteTLSVersion.tls12, .tls13])
  func presentTLSVersionsAreSpoken(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: try Trust.identity.get(), tls: version...version)
    #expect(try await check(server.url(.secure)).kind == .available)
  }

  /// A server that knows nothing newer is not taken for an impostor, but is not asked either.
  @Test(arguments: [SiteTLSVersion.tls10, .tls11])
  func oldTLSVersionsAreRefused(_ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: try Trust.identity.get(), tls: version...version)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.stage == .tls)
    #expect(verdict.error?.code == .tlsFailed)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// A closed connection says nothing about TLS versions.
  @Test func aServerThatClosesAtTheHelloFails() async throws {
    let server = try await SiteServer(SiteBehaviour(opening: [.awaitBytes, .close]), .plain)
    let verdict = try await check(server.url(.secure))
    #expect(verdict.kind == .failed && verdict.stage == .tls, "\(verdict)")
    #expect(verdict.error?.code == .connectionLost, "\(verdict)")
    #expect(verdict.error?.message == "the connection was closed before TLS was agreed upon", "\(verdict)")
  }

  /// The hello contains a name (RFC 6066), but no address.
  @Test(arguments: [("localhost", true), ("127.0.0.1", false)])
  func theHelloNamesAHostButNoAddress(host: String, isTold: Bool) async throws {
    let server = try await SiteServer(.answer(200), .secure)
    #expect(try await check(server.url(.secure, host: host)).kind == .available)
    let raw = try #require(server.connections.last?.receivedRaw)
    #expect(raw.contains(bytesOf: host) == isTold)
  }

  @Test func trustThatCannotBeReadFails() async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let verdict = try await check(server.url(.secure)) { $0.trust = .file("/nowhere/root.pem") }
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.error?.code == .trustUnreadable)
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// A user who has to mend a file of hundreds of certificates needs the place.
  @Test(arguments: [
    ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate number 2 in it is broken"),
    ("-----BEGIN CERTIFICATE-----\n", "certificate number 2 in it is broken"),
  ])
  func trustWithABrokenCertificateNamesItsPlace(_ broken: String, _ words: String) async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let root = try Trust.authority.get()
    let verdict = try await check(server.url(.secure)) { $0.trust = .pem(root + broken + root) }
    #expect(verdict.kind == .failed && verdict.error?.code == .trustUnreadable, "\(verdict)")
    #expect(verdict.error?.message.hasSuffix(words) == true, "\(verdict)")
  }

  /// Only the trials trust their authority.
  @Test func theSystemDoesNotTrustTheTrials() async throws {
    let server = try await SiteServer(.answer(200), .secure)
    let verdict = try await check(server.url(.secure)) { $0.trust = .system }
    #expect(verdict.kind != .available, "\(verdict)")
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }
}

extension [UInt8] {
  /// Returns whether these bytes contain the text's bytes.
  func contains(bytesOf text: String) -> Bool {
    let wanted = Array(text.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}
#endif
