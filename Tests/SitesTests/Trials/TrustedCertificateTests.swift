// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import SiteLab
import Testing

/// A server's own certificate among the trusted ones, and files of these as others read them.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Curl.path != nil, "curl is not installed"))
struct TrustedCertificateTests {
  struct Case: CustomTestStringConvertible {
    let identity: String
    /// Whose certificates are trusted.
    let trusted: [String]
    /// Whether curl believes it.
    let isBelieved: Bool
    var testDescription: String { "\(identity), trusting \(trusted)" }

    init(_ identity: String, trusting trusted: [String], _ isBelieved: Bool) {
      self.identity = identity
      self.trusted = trusted
      self.isBelieved = isBelieved
    }
  }

  /// RFC 5280, 4.2.1.3: `own` may sign no certificates. It is the end of a chain all the same, and no authority.
  @Test(
    arguments: [
      Case("own", trusting: ["own"], true), Case("own", trusting: ["root", "own"], true),
      Case("own", trusting: ["root"], false), Case("own-expired", trusting: ["own-expired"], false),
      Case("own-client", trusting: ["own-client"], false), Case("of-own", trusting: ["own"], false),
      Case("other-address", trusting: ["other-address"], false),
      Case("chain-missing", trusting: ["chain-missing"], true),
      Case("sha1-namesake", trusting: ["root-rsa"], false),
    ], [SiteTLSVersion.tls12, .tls13])
  func believesACertificateThatIsTrustedItself(_ one: Case, _ version: SiteTLSVersion) async throws {
    let server = try await SiteServer(.answer(200), as: SiteIdentity(one.identity), tls: version...version)
    let trusted = try one.trusted.map { try SiteIdentity($0).certificates }.joined()
    let url = try server.url(.secure)
    #expect(try await Curl.get(url.text, trusting: trusted).status == (one.isBelieved ? 0 : 60))
    let asked = server.requests.count
    let verdict = try await check(url) { $0.trust = .pem(trusted) }
    #expect(verdict.kind == (one.isBelieved ? .available : .intercepted), "\(verdict)")
    #expect(server.requests.count == asked + (one.isBelieved ? 1 : 0))
    let message = verdict.error?.message ?? ""
    #expect(!message.contains("not among the trusted") || !one.trusted.contains(one.identity), "\(message)")
  }

  /// What is believed once is believed at once by the request that follows.
  @Test func isBelievedOnEachConnection() async throws {
    let identity = try SiteIdentity("own")
    let server = try await SiteServer(.head(.answer(405), otherwise: .answer(200)), as: identity)
    let verdict = try await check(server.url(.secure)) { $0.trust = .pem(identity.certificates) }
    #expect(verdict.kind == .available && verdict.status == 200 && verdict.timings.tls != nil, "\(verdict)")
    #expect(server.requests.map(\.method) == ["HEAD", "GET"] && server.connectionCount == 3)
  }

  /// curl reads addresses' constraints (RFC 5280, 4.2.1.10), and the TLS library does not.
  @Test func saysThatConstraintsOnAddressesAreNotRead() async throws {
    let root = try Trust.authority.get()
    let server = try await SiteServer(.answer(200), as: SiteIdentity("chain-local"))
    let url = try server.url(.secure)
    #expect(try await Curl.get(url.text, trusting: root).status == 0)
    let verdict = try await check(url) { $0.trust = .pem(root) }
    #expect(verdict.kind == .intercepted && verdict.error?.message.contains("iPAddress") == true, "\(verdict)")
    #expect(verdict.error?.isInDispute == true)
  }

  /// RFC 7468 has lines of 64 characters, and its readers take others.
  @Test(arguments: [
    "64", "1", "76", "253", "254", "1000", "mark", "later", "spaces", "CRLF", "indented", "blank", "CR",
  ])
  func readsTheTextsThatCurlReads(_ form: String) async throws {
    let root = try Trust.authority.get()
    let lines = root.split(separator: "\n")
    let body = lines.dropFirst().dropLast().joined().split(by: Int(form) ?? 64)
    let wrapped = (lines.prefix(1) + body + lines.suffix(1)).map { $0 + "\n" }.joined()
    let text =
      switch form {
      case "mark": "\u{FEFF}" + root
      case "later": try SiteIdentity("nobody").certificates + "\u{FEFF}" + root
      case "spaces": wrapped.replacing("\n", with: "  \n")
      case "CRLF": wrapped.replacing("\n", with: "\r\n")
      case "indented": wrapped.replacing("\n", with: "\n ")
      case "blank": (lines.prefix(2) + [""] + lines.dropFirst(2)).joined(separator: "\n")
      case "CR": wrapped.replacing("\n", with: "\r")
      default: wrapped
      }
    let server = try await SiteServer(.answer(204), .secure)
    let url = try server.url(.secure)
    let judge = try await Curl.get(url.text, trusting: text)
    let verdict = try await check(url) { $0.trust = .pem(text) }
    #expect((verdict.kind == .available) == (judge.status == 0), "\(verdict), \(judge)")
    // CURLE_SSL_CACERT_BADFILE.
    #expect([0, 77].contains(judge.status))
    #expect(judge.status == 77 || ["indented", "blank", "CR"].contains(form) == false)
  }
}

extension String {
  /// The text in parts of `length` characters.
  fileprivate func split(by length: Int) -> [Substring] {
    var rest = self[...]
    var parts: [Substring] = []
    while !rest.isEmpty {
      parts.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return parts
  }
}
#endif
