// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Testing

@testable import DialtoneSites

/// The http and the https URL of one site, and the one verdict on both.
struct SitePairTests {
  private static let http: SiteURL = "http://example.com/"
  private static let https: SiteURL = "https://example.com/"
  private static let kinds: [SiteVerdict.Kind] = [
    .available, .captivePortal, .intercepted, .unexpectedResponse, .failed, .offline,
  ]

  private func verdict(_ url: SiteURL, _ kind: SiteVerdict.Kind) -> SiteVerdict {
    SiteVerdict(
      url: url, kind: kind, status: 200, error: SiteError(.tlsFailed, "no"), address: url.isSecure ? .six : .four,
      certificateExpires: UTCTimestamp(durationSince1970: .seconds(9)), timings: .init(total: .seconds(3)),
      timestamp: UTCTimestamp(durationSince1970: .seconds(url.isSecure ? 7 : 8)))
  }

  /// Available if https is, partial if only http is; else a portal's if one answered over http, else that of https.
  @Test(arguments: kinds, kinds) func oneVerdictIsOfBoth(_ plain: SiteVerdict.Kind, _ secure: SiteVerdict.Kind) {
    let (plainVerdict, secureVerdict) = (verdict(Self.http, plain), verdict(Self.https, secure))
    let found = SitePair.combine(plain: plainVerdict, secure: secureVerdict)
    switch (plain, secure) {
    case (_, .available), (_, .offline): #expect(found == secureVerdict)
    case (.captivePortal, _): #expect(found == plainVerdict)
    case (.available, _):
      #expect(found.kind == .partial && found.url == Self.https && found.address == .six)
      #expect(found.status == secureVerdict.status && found.error == secureVerdict.error)
      #expect(found.timings == secureVerdict.timings && found.timestamp == secureVerdict.timestamp)
      #expect(found.certificateExpires == secureVerdict.certificateExpires)
    default: #expect(found == secureVerdict)
    }
  }

  private let environment = SiteEnvironment(reachability: ScriptedNetwork().environment)

  @Test(
    arguments: [
      ("http://example.com/", "https://example.com/", nil),
      ("http://example.com:81/a", "https://EXAMPLE.com:444/b", nil),
      ("https://example.com/", "https://example.com/", "the first URL has to be http, and the second https"),
      ("http://example.com/", "http://example.com/", "the first URL has to be http, and the second https"),
      ("https://example.com/", "http://example.com/", "the first URL has to be http, and the second https"),
      ("http://a.example/", "https://b.example/", "the two URLs have to be of one host: a.example is not b.example"),
    ] as [(String, String, String?)])
  func aPairIsOfOneHost(_ http: String, _ https: String, _ words: String?) throws {
    let url = try SiteURL(https)
    do {
      let monitor = try SiteMonitor(http: http, https: https, environment: environment)
      #expect(words == nil && monitor.url == url)
    } catch {
      #expect(error.code == .invalidURL && error.message == words)
    }
  }

  @Test func aMonitorTakesOnlyWhatIsValid() throws {
    let monitor = try SiteMonitor(Self.http, environment: environment)
    try monitor.setURL(Self.https)
    #expect(monitor.url == Self.https)
    var configuration = SiteMonitorConfiguration()
    configuration.interval = .seconds(5)
    try monitor.reconfigure(configuration)
    #expect(monitor.configuration == configuration)
    var invalid = configuration
    invalid.failuresBeforeLoss = 0
    #expect(throws: SiteError(.invalidConfiguration, "")) { try monitor.reconfigure(invalid) }
    invalid = configuration
    invalid.check.timeout = .zero
    #expect(throws: SiteError(.invalidConfiguration, "")) { try monitor.reconfigure(invalid) }
    #expect(monitor.configuration == configuration && monitor.url == Self.https)
  }
}
