// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// Which addresses a check may connect to, by what its name leads to and by which paths there are.
struct AddressSearchTests {
  /// Of the blocks for documentation: 192.0.2.0/24 (RFC 5737) and 2001:db8::/32 (RFC 3849).
  private func four(_ number: Int) -> IPAddress { IPAddress(ipv4: 0xC000_0200 + UInt32(number)) }
  private func six(_ number: Int) throws -> IPAddress {
    try #require(IPAddress("2001:db8::\(String(number, radix: 16))"))
  }

  private let reachable = Reachability(.reachable)

  private func noPath(_ reason: Reachability.Reason) -> Reachability { Reachability(.unreachable, reason: reason) }

  @Test func asksForTheFamiliesThatCount() {
    var both = AddressSearch(SiteCheckConfiguration())
    #expect(Set(both.beginName(requiresPublicAddress: false)) == [.ipv4, .ipv6] && both.isOpen)
    for family in [IPAddress.Family.ipv4, .ipv6] {
      var configuration = SiteCheckConfiguration()
      configuration.family = family
      var one = AddressSearch(configuration)
      #expect(one.beginName(requiresPublicAddress: false) == [family])
    }
    #expect(!AddressSearch(SiteCheckConfiguration()).isOpen, "an address needs no name")
  }

  /// RFC 8305, 4: the families take turns, also across answers that come one after the other.
  @Test func familiesTakeTurnsUpToALimit() throws {
    var search = AddressSearch(SiteCheckConfiguration())
    let first = search.beginPaths([four(1), four(2), try six(1)])
    #expect(first == [four(1), try six(1), four(2)])
    _ = search.pathsAreKnown([four(1)], [reachable])
    // The last one was of IPv4.
    #expect(search.beginPaths([four(3), try six(2)]) == [try six(2), four(3)])
    // Each costs a watched path: no more than 32 of a name.
    #expect(search.beginPaths((1...100).map(four)).count == 32)
  }

  /// gai.conf(5) may have IPv4 first, which the addresses of a name do not tell.
  @Test func whatIsGivenKeepsItsOrder() throws {
    var given = SiteCheckConfiguration()
    given.addresses = [four(1), try six(1)]
    for (configuration, first) in [(given, four(1)), (SiteCheckConfiguration(), try six(1))] {
      var search = AddressSearch(configuration)
      let order = search.beginPaths(given.addresses)
      #expect(search.pathsAreKnown(order, [reachable, reachable]).count == 2)
      #expect(search.routes.first?.address == first)
    }
  }

  @Test func itIsOpenWhilePathsOrNamesAreNotKnown() throws {
    var search = AddressSearch(SiteCheckConfiguration())
    _ = search.beginPaths([four(1)])
    _ = search.beginPaths([four(2)])
    _ = search.pathsAreKnown([four(1)], [reachable])
    #expect(search.isOpen)
    _ = search.pathsAreKnown([four(2)], [reachable])
    #expect(!search.isOpen && search.routes.map(\.address) == [four(1), four(2)])
    _ = search.beginName(requiresPublicAddress: false)
    _ = search.resolution?.ended(.ipv6, .noAddress)
    #expect(search.isOpen && search.resolution?.hasNoAddress == true)
    search.resolution?.close()
    #expect(!search.isOpen)
  }

  @Test func onlyWhatHasAPathIsARoute() throws {
    var search = AddressSearch(SiteCheckConfiguration())
    var onDemand = Reachability(.requiresConnection, flags: [.reachable, .connectionRequired, .connectionOnTraffic])
    onDemand.gateway = four(254)
    let states = [noPath(.noRoute), reachable, Reachability(.undetermined, reason: .denied), onDemand]
    let found = search.pathsAreKnown((1...4).map(four), states)
    #expect(found.map(\.address) == [four(2), four(3)])
    var accepts = SiteCheckConfiguration()
    accepts.acceptsConnectionOnDemand = true
    var other = AddressSearch(accepts)
    #expect(other.pathsAreKnown([four(4)], [onDemand]) == [Route(address: four(4), interface: nil, gateway: four(254))])
  }

  /// A translator's address (RFC 6052) stands for the site's.
  @Test func whatIsBehindATranslatorIsConnectedToByItsAddress() throws {
    let translated = try #require(IPAddress("64:ff9b::c000:201"))
    var search = AddressSearch(SiteCheckConfiguration())
    var state = reachable
    state.destination = translated
    #expect(search.pathsAreKnown([four(1)], [state]).map(\.address) == [translated])
    // The same family is the same address, whatever the kernel writes.
    state.destination = four(9)
    #expect(search.pathsAreKnown([four(2)], [state]).map(\.address) == [four(2)])
    let mapped = try #require(IPAddress("::ffff:192.0.2.7"))
    state.destination = four(7)
    #expect(search.pathsAreKnown([mapped], [state]).map(\.address) == [mapped])
  }

  @Test func theFirstReasonThatSaysMoreThanNoRouteCounts() {
    for (reasons, counts) in [
      ([.noRoute, .noCarrier], 2), ([.noCarrier, .noRoute], 1), ([.noCarrier, .prohibited], 1),
      ([.noRoute, .noRoute], 1),
    ] as [([Reachability.Reason], Int)] {
      var search = AddressSearch(SiteCheckConfiguration())
      _ = search.pathsAreKnown([four(1), four(2)], reasons.map(noPath))
      #expect(search.missingPath?.address == four(counts) && search.missingPath?.state.reason == reasons[counts - 1])
      #expect(search.routes.isEmpty && search.refused == nil)
    }
  }

  @Test func whatMayNotBeConnectedToIsRefused() throws {
    var configuration = SiteCheckConfiguration()
    var inspection = SiteInspection()
    inspection.admission = AddressAdmission(networks: [try #require(.init(four(0), length: 24))])
    configuration.inspection = inspection
    var search = AddressSearch(configuration)
    let stranger = IPAddress(ipv4: 0xC633_6401)
    #expect(search.pathsAreKnown([stranger, four(1)], [reachable, reachable]).map(\.address) == [four(1)])
    #expect(search.refused == stranger && search.missingPath == nil)
    // A translator that leads elsewhere is refused, too.
    var state = reachable
    state.destination = try six(1)
    #expect(search.pathsAreKnown([four(2)], [state]).isEmpty)
    #expect(search.refused == (try six(1)))
  }

  @Test func aSecondRequestGoesWhereTheFirstWent() {
    var search = AddressSearch(SiteCheckConfiguration())
    _ = search.pathsAreKnown((1...3).map(four), [reachable, reachable, reachable])
    let winner = search.routes[1]
    search.prefer(winner)
    #expect(search.routes.map(\.address) == [four(2), four(1), four(3)])
  }
}
