// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// Field by field, where linux/rtnetlink.h, linux/fib_rules.h and linux/nexthop.h put them.
struct RouteAndRuleFieldsTests {
  private typealias Raw = RawMessage

  // MARK: Routes

  private static let plain: [UInt8] = [2, 24, 0, 0, 254, 3, 0, 1]

  /// `struct rtmsg`: family, both lengths, type of service, table, protocol, scope, type, flags.
  private func route(_ header: [UInt8] = plain, _ attributes: [UInt8]...) throws -> RouteMessage? {
    let bytes = Raw.bytes(24, header, Raw.host(UInt32(0x2010)), attributes.flatMap { $0 })
    return try decode(bytes) { .some(RouteMessage($0, in: $1)) }
  }

  private func nexthops(_ multipath: [UInt8]) throws -> [RouteNexthop] {
    let bytes = Raw.bytes(24, Self.plain, Raw.zeros(4), Raw.attribute(9, multipath))
    var nexthops: [RouteNexthop] = []
    _ = try decode(bytes) { RouteMessage($0, in: $1, nexthops: &nexthops) }
    return nexthops
  }

  @Test func readsEachFieldOfARoute() throws {
    let route = try #require(
      try route(
        [10, 64, 48, 8, 252, 16, 253, 7], Raw.attribute(1, Raw.ipv6(0)), Raw.attribute(4, Raw.host(UInt32(3))),
        Raw.attribute(5, Raw.ipv6(1)), Raw.attribute(6, Raw.host(UInt32(1024))), Raw.attribute(7, Raw.ipv6(2)),
        Raw.attribute(30, Raw.host(UInt32(9)))))
    #expect(route.family == .ipv6 && route.destinationLength == 64 && route.sourceLength == 48)
    #expect(route.table == 252 && route.type == .unreachable)
    #expect(route.flags == [.fibMatch, .linkDown])
    #expect(route.destination == Raw.address(0) && route.outputInterface == 3 && route.gateway == Raw.address(1))
    #expect(route.priority == 1024 && route.preferredSource == Raw.address(2) && route.nexthopID == 9)
    #expect(route.expiry == 0)
  }

  @Test func whatARouteDoesNotSayIsUnknown() throws {
    let route = try #require(try route())
    #expect(route.destination == nil && route.outputInterface == nil && route.gateway == nil)
    #expect(route.priority == nil && route.preferredSource == nil && route.nexthopID == nil && route.expiry == 0)
  }

  /// `struct rta_cacheinfo`: references, last use, then what is left. Later fields follow.
  @Test(arguments: [[1, 2, 300], [1, 2, 300, 4, 5, 6, 7, 8]] as [[Int32]])
  func readsHowLongARouteIsUsed(words: [Int32]) throws {
    #expect(try route([10, 0, 0, 0, 254, 3, 0, 1], Raw.attribute(12, words.flatMap { Raw.host($0) }))?.expiry == 300)
  }

  @Test func refusesTimesOfARouteThatAreCut() throws {
    #expect(try route([10, 0, 0, 0, 254, 3, 0, 1], Raw.attribute(12, Raw.zeros(11))) == nil)
    #expect(try route([10, 0, 0, 0, 254, 3, 0, 1], Raw.attribute(12, Raw.zeros(8))) == nil)
  }

  /// Both readers of a prefix.
  @Test(
    arguments: [
      (2, 0, true), (2, 32, true), (2, 33, false), (2, 255, false), (10, 0, true), (10, 33, true), (10, 128, true),
      (10, 129, false), (10, 255, false),
    ] as [(UInt8, UInt8, Bool)])
  func aPrefixIsAsLongAsAnAddressAtMost(family: UInt8, length: UInt8, isRead: Bool) throws {
    let header = [family, length, 0, 0, 254, 3, 0, 1]
    let destination = Raw.attribute(1, family == 2 ? [192, 0, 2, 1] : Raw.ipv6(7))
    #expect((try route(header, destination) != nil) == isRead)
    let bytes = Raw.bytes(24, header, Raw.zeros(4), destination)
    let prefix = try decode(bytes) { .some(IPPrefix($0, in: $1)) }
    #expect((prefix != nil) == isRead)
    if let prefix {
      #expect(prefix.length == Int(length))
      #expect(prefix.address == (family == 2 ? ipv4(192, 0, 2, 1) : Raw.address(7)))
    }
  }

  /// MPLS (AF_MPLS, 28) has labels of 20 bits, and is no family of IP.
  @Test func anotherFamilyHasARouteButNoPrefix() throws {
    let header: [UInt8] = [28, 200, 0, 0, 254, 3, 0, 1]
    #expect(try route(header)?.destinationLength == 200)
    #expect(try decode(Raw.bytes(24, header, Raw.zeros(4))) { .some(IPPrefix($0, in: $1)) } == nil)
  }

  @Test func theDefaultRouteOfIPv6IsAllZeros() throws {
    let bytes = Raw.bytes(25, [10, 0, 0, 0, 254, 3, 0, 1], Raw.zeros(4), Raw.attribute(4, Raw.host(UInt32(3))))
    let prefix = try decode(bytes, IPPrefix.init)
    #expect(prefix.address == IPAddressBits(ipv6High: 0, low: 0) && prefix.length == 0)
  }

  @Test func aPrefixIsOfItsRoutesFamily() throws {
    for (family, address) in [(2, Raw.ipv6(1)), (10, [192, 0, 2, 1]), (10, [1, 2, 3])] as [(UInt8, [UInt8])] {
      let bytes = Raw.bytes(24, [family, 24, 0, 0, 254, 3, 0, 1], Raw.zeros(4), Raw.attribute(1, address))
      #expect(try decode(bytes) { .some(IPPrefix($0, in: $1)) } == nil)
    }
  }

  /// Without a destination it is the default route, if its length is 0.
  @Test func aRouteCoversItsOwnFamily() throws {
    let all = try #require(try route([10, 0, 0, 0, 254, 3, 0, 1]))
    #expect(all.covers(Raw.address(1)) && !all.covers(ipv4(192, 0, 2, 1)))
    let unknown = try #require(try route())
    #expect(!unknown.covers(ipv4(0, 0, 0, 1)) && !unknown.covers(ipv4(192, 0, 2, 1)))
    let one = try #require(try route([2, 1, 0, 0, 254, 3, 0, 1]))
    #expect(!one.covers(ipv4(0, 0, 0, 1)))
  }

  // MARK: Several nexthops

  /// `struct rtnexthop`: length, flags, hops (one less than the weight), index. RTNH_ALIGN: the next one begins at a
  /// multiple of four.
  @Test func readsANexthopBehindOneOfOddLength() throws {
    let first = Raw.host(UInt16(13)) + [1, 4] + Raw.host(UInt32(3)) + Raw.host(UInt16(5)) + Raw.host(UInt16(99)) + [7]
    let second = Raw.host(UInt16(16)) + [16, 0] + Raw.host(UInt32(4)) + Raw.attribute(5, [192, 0, 2, 9])
    #expect(
      try nexthops(first + Raw.zeros(3) + second) == [
        RouteNexthop(flags: .dead, interfaceIndex: 3, gateway: nil),
        RouteNexthop(flags: .linkDown, interfaceIndex: 4, gateway: ipv4(192, 0, 2, 9)),
      ])
  }

  /// A gateway of two bytes, a gateway by `struct rtvia` whose family is not the address's, an attribute that is cut, a
  /// second nexthop that is cut.
  @Test(
    arguments: [
      Raw.host(UInt16(14)) + [0, 0] + Raw.host(UInt32(3)) + Raw.attribute(5, [1, 2]).prefix(6),
      Raw.host(UInt16(18)) + [0, 0] + Raw.host(UInt32(3)) + Raw.attribute(18, Raw.host(UInt16(10)) + [1, 2, 3, 4]),
      Raw.host(UInt16(12)) + [0, 0] + Raw.host(UInt32(3)) + [3, 0, 5, 0],
      Raw.host(UInt16(8)) + [0, 0] + Raw.host(UInt32(3)) + [8, 0, 0, 0, 4, 0, 0],
    ])
  func refusesANexthopThatIsMalformed(nexthop: [UInt8]) throws {
    #expect(try route(Self.plain, Raw.attribute(9, nexthop)) == nil)
  }

  @Test func readsBothKindsOfGatewayInANexthop() throws {
    for (attribute, gateway) in [
      (Raw.attribute(18, Raw.host(UInt16(2)) + [192, 0, 2, 1]), ipv4(192, 0, 2, 1)),
      (Raw.attribute(18, Raw.host(UInt16(10)) + Raw.ipv6(1)), Raw.address(1)),
      (Raw.attribute(5, Raw.ipv6(2)), Raw.address(2)),
    ] {
      let nexthop = Raw.host(UInt16(8 + attribute.count)) + [0, 255] + Raw.host(UInt32(3)) + attribute
      let nexthops = try nexthops(nexthop)
      #expect(nexthops.map(\.gateway) == [gateway])
      #expect(nexthops.allSatisfy { $0.interfaceIndex == 3 && $0.flags == [] })
    }
  }

  // MARK: Rules

  /// `struct fib_rule_hdr`: family, both lengths, type of service, table, two reserved bytes, action, flags.
  private func rule(_ attributes: [UInt8]...) throws -> RuleMessage? {
    let bytes = Raw.bytes(32, [2, 24, 16, 8, 252, 9, 9, 7], Raw.host(UInt32(3)), attributes.flatMap { $0 })
    return try decode(bytes) { .some(RuleMessage($0, in: $1)) }
  }

  @Test func readsEachFieldOfARule() throws {
    let rule = try #require(
      try rule(
        Raw.attribute(1, [192, 0, 2, 0]), Raw.attribute(2, [198, 51, 0, 0]), Raw.attribute(3, Raw.text("eth0")),
        Raw.attribute(4, Raw.host(UInt32(32_000))), Raw.attribute(6, Raw.host(UInt32(100))),
        Raw.attribute(10, Raw.host(UInt32(7))), Raw.attribute(14, Raw.host(UInt32(0))),
        Raw.attribute(15, Raw.host(UInt32(51_820))), Raw.attribute(16, Raw.host(UInt32(0xff))),
        Raw.attribute(17, Raw.text("wlan0")), Raw.attribute(19, [1]),
        Raw.attribute(20, Raw.host(UInt32(1000)) + Raw.host(UInt32(2000))), Raw.attribute(22, [6]),
        Raw.attribute(23, Raw.host(UInt16(1024)) + Raw.host(UInt16(2048))),
        Raw.attribute(24, Raw.host(UInt16(53)) + Raw.host(UInt16(53)))))
    #expect(rule.family == .ipv4 && rule.destinationLength == 24 && rule.sourceLength == 16)
    #expect(rule.typeOfService == 8 && rule.action == .unreachable && rule.flags == [.permanent, .invert])
    #expect(rule.destination == ipv4(192, 0, 2, 0))
    #expect(rule.source == ipv4(198, 51, 0, 0))
    #expect(rule.inputInterfaceName == "eth0" && rule.outputInterfaceName == "wlan0" && rule.goto == 32_000)
    #expect(rule.priority == 100 && rule.mark == 7 && rule.markMask == 0xff && rule.suppressPrefixLength == 0)
    #expect(rule.table == 51_820 && rule.usesMasterTable && rule.userIDs == 1000...2000 && rule.ipProtocol == 6)
    #expect(rule.sourcePorts == 1024...2048 && rule.destinationPorts == 53...53)
  }

  @Test func whatARuleDoesNotSayIsAnything() throws {
    let rule = try #require(try rule())
    #expect(rule.table == 252 && rule.priority == 0 && !rule.usesMasterTable)
    #expect(rule.destination == nil && rule.source == nil && rule.mark == nil && rule.markMask == nil)
    #expect(rule.inputInterfaceName == nil && rule.outputInterfaceName == nil && rule.goto == nil)
    #expect(rule.suppressPrefixLength == nil && rule.userIDs == nil && rule.ipProtocol == nil)
    #expect(rule.sourcePorts == nil && rule.destinationPorts == nil)
  }

  @Test func aRuleMayLeaveTheTableOfItsVRFAlone() throws {
    #expect(try rule(Raw.attribute(19, [0]))?.usesMasterTable == false)
    #expect(try rule(Raw.attribute(19, [2]))?.usesMasterTable == true)
  }

  /// One byte less and one more than each attribute has, and ranges that end before they begin.
  @Test(
    arguments: [
      (1, [3, 5, 16]), (2, [3, 5, 16]), (3, [17]), (4, [3, 5]), (6, [3, 5]), (10, [3, 5]), (14, [3, 5]), (15, [3, 5]),
      (16, [3, 5]), (17, [17]), (19, [0, 2]), (20, [4, 7, 9]), (22, [0, 2]), (23, [2, 3, 5]), (24, [2, 3, 5]),
    ] as [(UInt16, [Int])])
  func refusesARulesAttributeOfAnotherSize(type: UInt16, counts: [Int]) throws {
    for count in counts {
      #expect(try rule(Raw.attribute(type, [UInt8](repeating: 1, count: count))) == nil, "\(count) bytes")
    }
  }

  @Test(arguments: [(20, [2, 0, 0, 0, 1, 0, 0, 0]), (23, [2, 0, 1, 0]), (24, [2, 0, 1, 0])] as [(UInt16, [UInt8])])
  func refusesARangeThatEndsBeforeItBegins(type: UInt16, range: [UInt8]) throws {
    #expect(try rule(Raw.attribute(type, range)) == nil)
  }

  /// IFNAMSIZ is 16, the NUL included (linux/if.h).
  @Test(arguments: [3, 17] as [UInt16]) func aNameInARuleHasFifteenBytesAtMost(type: UInt16) throws {
    let rule = try #require(try rule(Raw.attribute(type, Raw.text(String(repeating: "x", count: 15)))))
    #expect((type == 3 ? rule.inputInterfaceName : rule.outputInterfaceName)?.utf8.count == 15)
  }

  // MARK: Nexthop objects

  /// `struct nhmsg`: family, scope, protocol, a reserved byte, flags.
  private func nexthop(_ attributes: [UInt8]...) throws -> NexthopMessage? {
    let bytes = Raw.bytes(104, [10, 253, 3, 9], Raw.host(UInt32(0x11)), attributes.flatMap { $0 })
    return try decode(bytes) { .some(NexthopMessage($0, in: $1)) }
  }

  @Test func readsEachFieldOfANexthopObject() throws {
    let id = Raw.attribute(1, Raw.host(UInt32(1)))
    let nexthop = try #require(
      try nexthop(id, Raw.attribute(5, Raw.host(UInt32(3))), Raw.attribute(6, Raw.ipv6(1))))
    #expect(nexthop.id == 1 && nexthop.flags == [.dead, .linkDown] && nexthop.outputInterface == 3)
    #expect(nexthop.gateway == Raw.address(1) && !nexthop.isBlackhole && nexthop.group.isEmpty)
    #expect(try self.nexthop(id, Raw.attribute(4, []))?.isBlackhole == true)
    #expect(try self.nexthop(id, Raw.attribute(3, Raw.host(UInt16(1))))?.isBlackhole == false)
  }

  /// `struct nexthop_grp`: id, the weight less one, its high half since Linux 6.12, two reserved bytes.
  @Test(
    arguments: [
      [], [[0, 0, 9, 9]], [[255, 0, 9, 9]], [[1, 2, 9, 9]], [[0, 0, 0, 0], [4, 0, 0, 0], [0, 1, 0, 0]],
    ] as [[[UInt8]]])
  func readsTheMembersOfAGroup(members: [[UInt8]]) throws {
    let group = members.enumerated().flatMap { Raw.host(UInt32(20 + $0.offset)) + $0.element }
    let nexthop = try #require(try nexthop(Raw.attribute(1, Raw.host(UInt32(5))), Raw.attribute(2, group)))
    #expect(nexthop.group == (0..<UInt32(members.count)).map { 20 + $0 })
  }

  @Test(arguments: [(1, 3), (1, 5), (2, 7), (2, 9), (2, 12), (5, 3), (5, 5), (6, 5), (6, 15)] as [(UInt16, Int)])
  func refusesANexthopsAttributeOfAnotherSize(type: UInt16, count: Int) throws {
    let id = Raw.attribute(1, Raw.host(UInt32(5)))
    #expect(try nexthop(id, Raw.attribute(type, [UInt8](repeating: 1, count: count))) == nil)
  }
}
