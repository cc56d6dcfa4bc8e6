// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import DialtoneTesting
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 52 of Sites.md: a name that something on the way leads astray.
@Suite(.timeLimit(.minutes(5)))
struct HijackTests {
  /// There is a path to each of them: the kind of the address decides.
  @Test(
    "52: a name hijacked to a private address, a public one required: intercepted",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
  func hijacked() async throws {
    let addresses = [
      "127.0.0.1", "10.0.0.1", "10.99.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
      "100.64.0.1", "100.127.255.255", "::1", "fd00::1", "fc00::1", "::ffff:192.168.1.1",
    ]
    let cable = try LabCable()
    for (number, address) in addresses.enumerated() {
      let sites = try LabSites(cable.client, names: ["site\(number).example": [address]])
      for transport in Transport.allCases {
        let verdict = try await sites.check("\(transport)://site\(number).example/") { $0.requiresPublicAddress = true }
        #expect(verdict.kind == .intercepted, "\(address): \(verdict)")
        #expect(verdict.error?.code == .privateAddress)
        #expect(verdict.timings.connect == nil && verdict.stage == nil)
      }
    }
  }

  @Test("52: nothing is sent to a private address if a public one is required")
  func nothingIsSent() async throws {
    let server = try await SiteServer(.answer(200), .plain)
    let names = SiteNames(["site.example": ["127.0.0.1", "::1"]])
    let url = try server.url(.plain, host: "site.example")
    let verdict = try await check(url, in: names.environment) { $0.requiresPublicAddress = true }
    #expect(verdict.kind == .intercepted, "\(verdict)")
    #expect(server.connectionCount == 0)
    // The same if it is not required: the test's server is the site.
    #expect(try await check(url, in: names.environment).kind == .available)
    #expect(server.connectionCount == 1)
  }

  /// The addresses of the name count, not the paths to them.
  @Test("52: private addresses beside a public one without a path: offline, not intercepted")
  func pathsDoNotDecide() async throws {
    let network = ScriptedNetwork()
    let environment = SiteEnvironment(reachability: network.environment)
    let publicAddress = try #require(IPAddress("2001:503:ba3e::2:30"))
    let privateAddress = try #require(IPAddress("10.9.8.7"))
    network.set(.wifi)
    network.set(.unreachable(), for: publicAddress)
    network.set(.addresses([publicAddress, privateAddress]), forName: "both.example")
    network.set(.addresses([privateAddress]), forName: "private.example")
    let both = try await check("http://both.example/", in: environment) { $0.requiresPublicAddress = true }
    #expect(both.kind == .offline && both.error?.code == .noPath, "\(both)")
    network.set(.unreachable())
    let hijacked = try await check("http://private.example/", in: environment) { $0.requiresPublicAddress = true }
    #expect(hijacked.kind == .intercepted && hijacked.error?.code == .privateAddress, "\(hijacked)")
    #expect(hijacked.address == privateAddress)
  }

  /// A literal address is meant as it is.
  @Test("52: a literal private address is exempt")
  func literals() async throws {
    let server = try await SiteServer(.answer(200), .plain)
    let verdict = try await check(server.url(.plain)) { $0.requiresPublicAddress = true }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  @Test(
    "52: public addresses are not private",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"),
    arguments: [["198.41.0.4"], ["192.168.1.1", "198.41.0.4"], ["fd00::1", "2001:503:ba3e::2:30"]])
  func publicAddresses(_ addresses: [String]) async throws {
    let cable = try LabCable()
    try cable.server.addAddress("198.41.0.4/32", "lo")
    try cable.server.addAddress("2001:503:ba3e::2:30/128", "lo")
    let four = try await SiteServer(.answer(204), at: "198.41.0.4", port: 80, in: cable.server)
    let six = try await SiteServer(.answer(204), at: "2001:503:ba3e::2:30", port: 80, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": addresses])
    let verdict = try await sites.check("http://site.example/") { $0.requiresPublicAddress = true }
    #expect(verdict.kind == .available, "\(verdict)")
    #expect(four.connectionCount + six.connectionCount == 1)
  }

  @Test(
    "57: a name hijacked to somebody else's server: over TLS intercepted, and nothing is told", arguments: ["127.0.0.1"]
  )
  func hijackedOverTLS(to address: String) async throws {
    let impostor = try await SiteServer(.answer(200), as: try SiteIdentity("other-site"))
    let names = SiteNames(["site.example": [address]])
    let verdict = try await check(impostor.url(.secure, host: "site.example"), in: names.environment)
    #expect(verdict.kind == .intercepted, "\(verdict)")
    #expect(impostor.connections.allSatisfy { $0.received.isEmpty })
  }
}
#endif
