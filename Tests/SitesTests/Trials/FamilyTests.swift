// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 49 of Sites.md: both families race (RFC 8305).
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct FamilyTests {
  /// Drops the answers to one family's packets.
  private func blackhole(_ family: LabFamily, of cable: LabCable) throws {
    try cable.server.addRoute(family == .v6 ? "2001:db8:0::1/128" : "10.0.0.1/32", kind: .blackhole)
  }

  @Test("49: IPv6 blackholed, IPv4 works: success in under 1 s", arguments: Transport.allCases)
  func ipv6Blackholed(_ transport: Transport) async throws {
    try await succeeds(without: .v6, transport)
  }

  @Test("49: IPv4 blackholed, IPv6 works: success in under 1 s", arguments: Transport.allCases)
  func ipv4Blackholed(_ transport: Transport) async throws {
    try await succeeds(without: .v4, transport)
  }

  private func succeeds(without family: LabFamily, _ transport: Transport) async throws {
    let cable = try LabCable()
    try blackhole(family, of: cable)
    let identity = transport == .secure ? try Trust.identity.get() : nil
    let four = try await SiteServer(.answer(204), as: identity, at: "192.0.2.80", port: 80, in: cable.server)
    let six = try await SiteServer(.answer(204), as: identity, at: "2001:db8:80::80", port: 80, in: cable.server)
    // The dead family comes first, with more than one address. Each attempt begins 250 ms after the last, and families
    // take turns.
    let dead = family == .v6 ? ["2001:db8:80::80", "2001:db8:80::81"] : ["192.0.2.80", "192.0.2.81"]
    let alive = family == .v6 ? "192.0.2.80" : "2001:db8:80::80"
    let sites = try LabSites(cable.client, names: ["site.example": dead + [alive]])
    // A busy machine only adds time, so one quick check shows that the dead family costs no more.
    var quickest = Duration.seconds(1_000)
    var count = 0
    while count < 40, quickest >= .seconds(1) {
      count += 1
      let start = ContinuousClock.now
      let verdict = try await sites.check("\(transport)://site.example:80/")
      quickest = min(quickest, start.duration(to: .now))
      #expect(verdict.kind == .available, "\(verdict)")
      #expect(verdict.address == IPAddress(alive))
    }
    #expect(quickest < .seconds(1), "\(quickest)")
    #expect((family == .v6 ? six : four).connectionCount == 0)
    #expect((family == .v6 ? four : six).requests.count == count)
    try await eventually(within: .seconds(30), "the connection is closed") { four.openCount + six.openCount == 0 }
  }

  /// A network that drops the queries for one family: the other family must not wait for the resolver's timeout.
  @Test("49: one family's lookup never ends: the other is asked at once", arguments: [IPAddress.Family.ipv6, .ipv4])
  func oneLookupHangs(_ family: IPAddress.Family) async throws {
    let latch = Latch()
    defer { latch.open() }
    let cable = try LabCable()
    let address = family == .ipv6 ? "192.0.2.80" : "2001:db8:80::80"
    let server = try await SiteServer(.answer(204), at: address, port: 80, in: cable.server)
    let sites = try LabSites(
      cable.client,
      lookup: { _, asked in
        if asked != family, asked != nil { return .addresses([IPAddress(address)].compactMap(\.self)) }
        latch.wait()
        return .failed
      }, nameServers: [])
    var quickest = Duration.seconds(1_000)
    // After a second, names count as slow, and the check goes on without them: this comes sooner.
    for _ in 0..<40 where quickest >= .milliseconds(900) {
      let verdict = try await sites.check("http://site.example/")
      #expect(verdict.kind == .available, "\(verdict)")
      quickest = min(quickest, try #require(verdict.timings.total))
    }
    #expect(quickest < .milliseconds(900), "\(quickest)")
    // Without a listener the check fails soon, too, and not by the deadline.
    try await server.stopListening()
    let verdict = try await sites.check("http://site.example/")
    #expect(verdict.kind == .failed && verdict.error?.code == .cannotConnect, "\(verdict)")
    #expect(try #require(verdict.timings.total) < .seconds(20), "of 30")
  }

  /// The addresses of the family that answers first are refused. Later ones are tried nevertheless.
  @Test("49: a family that answers late is tried, too")
  func lateFamily() async throws {
    let cable = try LabCable()
    let four = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let isAnswered = Latch()
    let sites = try LabSites(
      cable.client,
      lookup: { _, family in
        defer { isAnswered.open() }
        if family == .ipv6 { return .addresses([IPAddress("2001:db8:80::80")].compactMap(\.self)) }
        isAnswered.wait()
        return .addresses([IPAddress("192.0.2.80")].compactMap(\.self))
      }, nameServers: [])
    let verdict = try await sites.check("http://site.example/")
    #expect(verdict.kind == .available && verdict.address == IPAddress("192.0.2.80"), "\(verdict)")
    #expect(four.requests.count == 1)
  }

  @Test("a name that leads to the unspecified address has none", arguments: [["0.0.0.0"], ["::"], ["0.0.0.0", "::"]])
  func aNameOfTheUnspecifiedAddressHasNone(_ addresses: [String]) async throws {
    let cable = try LabCable()
    // On the client: connect(2) takes the unspecified addresses for this machine.
    let local = try await SiteServer(.answer(204), at: "0.0.0.0", port: 80, in: cable.client)
    let sites = try LabSites(
      cable.client, names: ["site.example": addresses, "both.example": addresses + ["192.0.2.80"]])
    for isPublic in [false, true] {
      let verdict = try await sites.check("http://site.example/") { $0.requiresPublicAddress = isPublic }
      #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
      #expect(verdict.error?.code == .nameNotResolved, "\(verdict)")
      #expect(verdict.error?.message.contains(addresses[0]) ?? false || addresses.count > 1, "\(verdict)")
    }
    let far = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    #expect(try await sites.check("http://both.example/").kind == .available)
    #expect(local.connectionCount == 0 && far.requests.count == 1)
  }

  @Test("49: both work: the first address given is asked, and only it")
  func bothWork() async throws {
    let cable = try LabCable()
    let four = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let six = try await SiteServer(.answer(204), at: "2001:db8:80::80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": ["2001:db8:80::80", "192.0.2.80"]])
    // IPv4 waits 50 ms for the other family (RFC 8305, 3). A busy machine may need that time for the answer.
    // A busy machine may need longer for the first than the 250 ms after which the second is tried, too.
    var isAlone = false
    for _ in 0..<20 where !isAlone {
      let before = four.connectionCount
      let verdict = try await sites.check("http://site.example/")
      #expect(verdict.kind == .available, "\(verdict)")
      isAlone = verdict.address == IPAddress("2001:db8:80::80") && four.connectionCount == before
    }
    #expect(isAlone)
    #expect(six.requests.last.map { $0.values(of: "Host") } == ["site.example"])
  }

  @Test("49: an address that refuses costs no waiting")
  func refusedFirst() async throws {
    let cable = try LabCable()
    let four = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": ["2001:db8:80::80", "192.0.2.80"]])
    var quickest = Duration.seconds(1_000)
    var count = 0
    // Without an answer, the next attempt begins after 250 ms.
    while count < 10, quickest >= .milliseconds(240) {
      count += 1
      let verdict = try await sites.check("http://site.example/")
      #expect(verdict.kind == .available, "\(verdict)")
      quickest = min(quickest, try #require(verdict.timings.connect))
    }
    #expect(quickest < .milliseconds(240), "\(quickest)")
    #expect(four.requests.count == count)
  }

  @Test(
    "49: only the family asked for is used",
    arguments: [(IPAddress.Family.ipv4, "192.0.2.80"), (.ipv6, "2001:db8:80::80")])
  func oneFamily(_ family: IPAddress.Family, address: String) async throws {
    let cable = try LabCable()
    let four = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let six = try await SiteServer(.answer(204), at: "2001:db8:80::80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": ["2001:db8:80::80", "192.0.2.80"]])
    let verdict = try await sites.check("http://site.example/") { $0.family = family }
    #expect(verdict.address == IPAddress(address), "\(verdict)")
    #expect(four.connectionCount + six.connectionCount == 1)
  }
}
#endif
