// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneSitesTesting
import DialtoneTesting
import TestSupport
import Testing

/// Turns of scripted sites that only some networks take.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedTurnsTests {
  private let network = ScriptedNetwork()
  private let sites: ScriptedSites

  init() {
    sites = ScriptedSites(on: network)
    network.set(.wifi)
  }

  private func check(_ url: SiteURL) async throws -> SiteVerdict {
    try await SiteCheck(url, environment: sites.environment).run()
  }

  /// RFC 7050: a lookup tells the prefix of a translator, behind which an IPv4 address is all that a network leads to.
  @Test(arguments: [true, false]) func anAddressMayBeBehindATranslator(isSlow: Bool) async throws {
    let url: SiteURL = "http://192.0.2.33/"
    let translated = try #require(IPAddress("64:ff9b::192.0.2.33"))
    let prefix = ScriptedNames.addresses([try #require(IPAddress("64:ff9b::192.0.0.170"))])
    network.set(.unreachable(), for: IPAddress(ipv4: 0xC000_0221))
    network.set(.wired, for: translated)
    network.set(isSlow ? .hanging : prefix, forName: "ipv4only.arpa")
    sites.set(.status(200), for: url)
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.set(prefix, forName: "ipv4only.arpa")
    let found = try await verdict
    #expect(found.isAvailable && found.address == translated && found.interface?.kind == .wired, "\(found)")
  }

  /// There is always a thread: it is the lookup that takes so long.
  @Test func aNameThatHangsIsBeingLookedUp() async throws {
    network.set(.hanging, forName: "example.com")
    async let verdict = check("http://example.com/")
    try await sites.waitUntilChecked("http://example.com/")
    network.clock.advance(by: .seconds(15))
    let error = try await verdict.error
    #expect(error?.message.hasPrefix("no answer within") == true, "\(String(describing: error))")
  }

  /// RFC 5280, 4.1.2.5: a certificate is valid through the moment at which it ends.
  @Test func aCertificateIsValidToItsLastMoment() async throws {
    let now = network.environment.provider.time.timestamp
    for (end, kind) in [(now, SiteVerdict.Kind.available), (now.advanced(by: .nanoseconds(-1)), .intercepted)] {
      sites.set(.status(200).certificateExpiring(at: end), for: "https://example.com/")
      #expect(try await check("https://example.com/").kind == kind)
    }
  }

  /// The clock stands still.
  @Test func aPathThatNeedNotSettleIsCheckedOverAtOnce() async throws {
    let site = AskedSite()
    var configuration = SiteMonitorConfiguration()
    configuration.settling = .zero
    let monitor = try SiteMonitor(
      "http://192.0.2.1/", configuration: configuration, environment: site.environment(network))
    await site.answer(.available)
    try await monitor.waitUntilAvailable()
    network.set(.wired)
    try await eventually(within: .seconds(30), "it is checked") { monitor.isChecking }
    await site.answer(.available)
  }

  @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 2), (1, -1)]) func aQuorumIsOfTheSites(count: Int, quorum: Int) {
    let urls: [SiteURL] = Array(["http://a.example/"].prefix(count))
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteGroup(urls, quorum: quorum, environment: sites.environment)
    }
  }
}
