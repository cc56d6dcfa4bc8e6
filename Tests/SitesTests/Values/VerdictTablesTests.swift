// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// Verdicts and errors: what makes two of them alike, and their words.
struct VerdictTablesTests {
  private static let url: SiteURL = "https://example.com/"
  private static let wired = NetworkInterface(name: "eth0", index: 2, kind: .wired)
  private static let wifi = NetworkInterface(name: "wlan0", index: 3, kind: .wifi)

  private func verdict(
    _ kind: SiteVerdict.Kind = .unexpectedResponse, of url: SiteURL = url, status: Int? = 302,
    stage: SiteVerdict.Stage? = nil, error: SiteError? = nil, location: String? = "http://a/",
    address: IPAddress? = .four, over interface: NetworkInterface? = wired
  ) -> SiteVerdict {
    SiteVerdict(
      url: url, kind: kind, status: status, location: location, stage: stage, error: error, address: address,
      interface: interface, timestamp: UTCTimestamp(durationSince1970: .seconds(1_000)))
  }

  @Test func whatIsNewsMakesAnotherState() {
    #expect(verdict().isSameState(as: verdict()))
    for other in [
      verdict(.captivePortal), verdict(of: "https://example.com/x"), verdict(status: 303), verdict(over: Self.wifi),
      verdict(over: nil),
    ] {
      #expect(!other.isSameState(as: verdict()) && !verdict().isSameState(as: other))
      #expect(!other.isIdentical(to: verdict()))
    }
    let failed = verdict(.failed, stage: .tls)
    #expect(!failed.isSameState(as: verdict(.failed, stage: .request)))
    #expect(failed.isSameState(as: verdict(.failed, stage: .tls)))
    // Which interface failed last is no news of a site that is offline; it is told all the same.
    #expect(verdict(.offline).isSameState(as: verdict(.offline, over: Self.wifi)))
    #expect(!verdict(.offline).isIdentical(to: verdict(.offline, over: Self.wifi)))
    #expect(!verdict(.failed).isSameState(as: verdict(.failed, over: Self.wifi)))
  }

  @Test func whatIsNoNewsMakesAnotherVerdict() {
    #expect(verdict().isIdentical(to: verdict()))
    for other in [
      verdict(location: "http://b/"), verdict(error: SiteError(.headRefused, "")), verdict(address: .six),
      verdict(location: nil), verdict(address: nil),
    ] {
      #expect(other.isSameState(as: verdict()) && !other.isIdentical(to: verdict()))
    }
  }

  @Test(arguments: [(199, nil), (200, 200), (599, 599), (999, 999), (1_000, nil)] as [(Int, Int?)])
  func aStatusIsThatOfAFinalAnswer(_ status: Int, _ kept: Int?) {
    for kind in [SiteVerdict.Kind.available, .captivePortal, .unexpectedResponse, .partial] {
      #expect(verdict(kind, status: status).status == kept)
    }
    for kind in [SiteVerdict.Kind.failed, .intercepted, .offline, .undetermined] {
      #expect(verdict(kind, status: status).status == nil)
    }
  }

  @Test func theNetworkAnswersForAPortalAndTheSiteForItself() {
    #expect(SiteVerdict.Kind.captivePortal.answerer == .network)
    #expect(SiteVerdict.Kind.available.answerer == .site && SiteVerdict.Kind.unexpectedResponse.answerer == .site)
    for kind in [SiteVerdict.Kind.intercepted, .partial, .failed, .offline, .undetermined] {
      #expect(kind.answerer == nil)
    }
  }

  @Test(
    arguments: [
      (.available, 200, nil, nil, "available (200)"), (.captivePortal, 302, nil, nil, "captive portal (302)"),
      (.unexpectedResponse, 404, nil, nil, "unexpected response (404)"),
      (.partial, 200, nil, nil, "partly available (200)"),
      (.intercepted, nil, nil, SiteError(.certificateExpired, "it has expired"), "intercepted: it has expired"),
      (
        .failed, nil, .connect, SiteError(.cannotConnect, "connection refused"),
        "failed to connect: connection refused"
      ),
      (.failed, nil, .name, nil, "failed to look up the name"), (.failed, nil, .tls, nil, "failed to agree on TLS"),
      (.failed, nil, .request, nil, "failed to send the request"),
      (.failed, nil, .body, nil, "failed to read the answer"),
      (.failed, nil, .response, nil, "failed to get an answer"), (.offline, nil, nil, nil, "offline"),
      (.undetermined, nil, nil, nil, "undetermined"),
    ] as [(SiteVerdict.Kind, Int?, SiteVerdict.Stage?, SiteError?, String)])
  func aVerdictHasWords(
    _ kind: SiteVerdict.Kind, _ status: Int?, _ stage: SiteVerdict.Stage?, _ error: SiteError?, _ words: String
  ) {
    #expect("\(verdict(kind, status: status, stage: stage, error: error))" == words)
  }

  @Test func aVerdictKnowsSinceWhenItFails() {
    let failed = verdict(.failed)
    #expect(failed.failingSince == nil && !failed.isAvailable && verdict(.available).isAvailable)
    #expect(failed.failing(for: .seconds(10)).failingSince?.durationSince1970 == .seconds(990))
    #expect(failed.failing(for: .seconds(10)) == failed, "it makes no other verdict")
    #expect(!verdict(.undetermined).isDetermined && verdict(.offline).isDetermined)
    #expect(verdict(.undetermined).failing(for: .zero).failingSince == nil)
  }

  // MARK: Errors

  @Test func anErrorIsItsCodeAndItsNumber() {
    let error = SiteError(.cannotConnect, "no", errno: 111)
    #expect(error == SiteError(.cannotConnect, "other", errno: 111) && error != SiteError(.timedOut, "no", errno: 111))
    #expect(error != SiteError(.cannotConnect, "no", errno: 110) && error != SiteError(.cannotConnect, "no"))
    #expect(error.hashValue == SiteError(.cannotConnect, "other", errno: 111).hashValue)
    // Errors that differ are found apart.
    #expect(Set(SiteError.Code.all.map { SiteError($0, "").hashValue }).count > 1)
    #expect(Set((0..<20).map { SiteError(.cannotConnect, "", errno: $0).hashValue }).count > 1)
    #expect("\(error)" == "no" && error.sender == nil)
  }

  @Test func someErrorsAreAboutIdentity() {
    let identity: Set<SiteError.Code> = [
      .certificateExpired, .certificateNotYetValid, .certificateNameMismatch, .certificateUntrusted,
    ]
    for code in SiteError.Code.all { #expect(SiteError(code, "").isAboutIdentity == identity.contains(code)) }
  }

  @Test(
    arguments: [
      (.invalidURL, "invalid URL"), (.timedOut, "timed out"), (.noPath, "no path"), (.tlsFailed, "TLS failed"),
      (.cannotConnect, "cannot connect"), (.headRefused, "HEAD refused"),
      (.certificateExpiresSoon, "certificate expires soon"),
    ] as [(SiteError.Code, String)])
  func aCodeHasWords(_ code: SiteError.Code, _ words: String) { #expect("\(code)" == words) }

  // MARK: Expectations and URLs

  @Test func anExpectationSaysWhatItLists() {
    let statuses = SiteExpectation.statuses([404, 200])
    #expect(statuses.lists(200) && statuses.lists(404) && !statuses.lists(201) && statuses.bodyText == nil)
    for other in [SiteExpectation.answer, .success, .body(containing: "200")] { #expect(!other.lists(200)) }
    #expect(SiteExpectation.body(containing: "x").bodyText == "x" && SiteExpectation.answer.bodyText == nil)
    #expect("\(statuses)" == "200,404" && "\(SiteExpectation.body(containing: "x"))" == "body:x")
    #expect([SiteExpectation.answer, .success, .status(204)].map { "\($0)" } == ["answer", "success", "204"])
  }

  /// RFC 6761, 6.3: localhost is this machine, with or without a trailing dot.
  @Test(arguments: [
    ("http://example.com/", "example.com", false), ("http://example.com./", "example.com.", true),
    ("http://localhost./", "localhost", true), ("http://localhost/", "localhost", false),
    ("http://a.localhost./", "a.localhost.", true), ("http://example.com.:81/", "example.com.", true),
  ])
  func aNameIsLookedUpAsItIsWritten(_ text: String, _ name: String, _ isAbsolute: Bool) throws {
    let url = try SiteURL(text)
    guard case .name(let found) = url.lookupHost else {
      Issue.record("\(url.lookupHost) is no name")
      return
    }
    #expect(found.text == name && url.isAbsolute == isAbsolute)
  }

  @Test(
    arguments: [
      ("http://a/", 80, false), ("https://a/", 443, true), ("http://a:443/", 443, false), ("https://a:80/", 80, true),
      ("http://a:1/", 1, false), ("https://a:65535/", 65_535, true), ("http://a:/", 80, false),
    ] as [(String, UInt16, Bool)])
  func aSchemeHasAPort(_ text: String, _ port: UInt16, _ isSecure: Bool) throws {
    let url = try SiteURL(text)
    #expect(url.port == port && url.isSecure == isSecure && url.description == text)
  }

  /// RFC 3986, 2: what a request may not have is percent-encoded, in two digits and capitals.
  @Test(arguments: [
    ("", "/"), ("?a", "/?a"), ("#a", "/"), ("/#a?b", "/"), ("/a?b#c", "/a?b"), ("/a^b`c", "/a%5Eb%60c"),
    ("/<>{}", "/%3C%3E%7B%7D"), ("/~!$&'()*+,;=:@", "/~!$&'()*+,;=:@"), ("/[]", "/[]"), ("?\u{F6}|", "/?%C3%B6%7C"),
    ("/%zz%", "/%zz%"), ("/\\", "/%5C"), ("/\u{0}\u{9}\u{F}\u{10}\u{7F}", "/%00%09%0F%10%7F"), ("/ ", "/%20"),
  ])
  func aTargetMayBeSent(_ text: String, _ target: String) { #expect(SiteURL.target(text) == target) }

  // MARK: Trust

  @Test func aSourceOfTrustHasAPlace() {
    let text = TrustSource(.pem("x"))
    #expect(text.place == "text" && text.stamps.isEmpty && text.pem == "x")
    let file = TrustSource(.file("/nowhere/a.pem"))
    #expect(file.place == "/nowhere/a.pem" && file.stamps == [nil] && file.pem == nil)
    #expect(file != TrustSource(.file("/nowhere/b.pem")) && file == TrustSource(.file("/nowhere/a.pem")))
  }

  @Test func whatIsAskedOfTLSIsPartOfIt() {
    var check = SiteCheckConfiguration()
    check.trust = .file("/nowhere/a.pem")
    let usual = TrustSource(check)
    #expect(usual == TrustSource(check.trust, verifies: true, protocols: ["http/1.1"]))
    #expect(usual == TrustSource(check.trust))
    // RFC 9113, 3.2, and RFC 7301, 6: their names, the preferred one first.
    let rows: [(Bool, Bool, Bool, [String])] = [
      (true, true, false, []), (true, true, true, []), (false, false, false, ["http/1.1"]),
      (true, false, true, ["h2", "http/1.1"]), (false, true, false, []),
    ]
    for (verifies, endsWithConnection, offersHTTP2, protocols) in rows {
      var inspection = SiteInspection()
      inspection.verifiesCertificate = verifies
      inspection.endsWithConnection = endsWithConnection
      check.offersHTTP2 = offersHTTP2
      check.inspection = inspection
      #expect(TrustSource(check) == TrustSource(check.trust, verifies: verifies, protocols: protocols))
      #expect(TrustSource(check) != usual)
    }
  }

  /// RFC 7468, 2: what stands between such lines is no certificate, and there is none without them.
  @Test(arguments: [
    ("", "it is empty"), ("\n", "there is no certificate in PEM"), ("CERTIFICATE", "there is no certificate in PEM"),
    (
      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "there is no certificate in PEM"
    ),
    ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate number 1 in it is broken"),
    (
      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        + "-----BEGIN X509 CERTIFICATE-----\nAAAA\n-----END X509 CERTIFICATE-----\n",
      "certificate number 1 in it is broken"
    ),
    (
      "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
      "certificate number 1 in it is broken"
    ),
  ])
  func saysWhatIsWrongWithATextOfCertificates(_ text: String, _ words: String) {
    let failure = #expect(throws: CertificateFile.Failure.self) {
      try CertificateFile.certificates(of: Array(text.utf8))
    }
    #expect(failure?.words == words)
  }
}
