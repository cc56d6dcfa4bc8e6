// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct RouteMessageTests {
  private func nexthops(_ bytes: [UInt8]) throws -> [RouteNexthop] {
    var nexthops: [RouteNexthop] = []
    _ = try decode(bytes) { RouteMessage($0, in: $1, nexthops: &nexthops) }
    return nexthops
  }

  @Test func readsTheAnswerForADefaultRoute() throws {
    let route = try decode(RecordedMessage.answer4.bytes, RouteMessage.init)
    #expect(route.family == .ipv4)
    #expect(route.type == .unicast)
    #expect(route.destination == nil && route.destinationLength == 0)
    #expect(route.gateway == ipv4(10, 0, 0, 2))
    #expect(route.outputInterface == 3)
    #expect(route.priority == 600)
    #expect(route.table == 254)
    #expect(try nexthops(RecordedMessage.answer4.bytes).isEmpty)
    #expect(route.flags == [])
  }

  @Test func readsTheSourceOfAPlainAnswer() throws {
    let route = try decode(RecordedMessage.answer4Plain.bytes, RouteMessage.init)
    #expect(route.preferredSource == ipv4(10, 0, 0, 1))
    #expect(route.destination == ipv4(198, 41, 0, 4))
    #expect(route.destinationLength == 32)
    #expect(route.flags.contains(.cloned))
  }

  @Test(arguments: [RecordedMessage.answer6, .answer6Plain]) func readsAnswersOfIPv6(answer: RecordedMessage) throws {
    let route = try decode(answer.bytes, RouteMessage.init)
    #expect(route.family == .ipv6)
    #expect(route.gateway == IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 2))
    #expect(route.priority == 77)
    #expect(route.outputInterface == 3)
  }

  @Test func takesTheTableFromItsAttribute() throws {
    let route = try decode(RecordedMessage.route4Multipath.bytes, RouteMessage.init)
    #expect(route.table == 1000)
  }

  @Test func readsEveryWayOfAMultipathRoute() throws {
    let route = try decode(RecordedMessage.route4Multipath.bytes, RouteMessage.init)
    #expect(route.destination == ipv4(198, 51, 100, 0))
    #expect(route.gateway == nil && route.outputInterface == nil)
    #expect(
      try nexthops(RecordedMessage.route4Multipath.bytes) == [
        RouteNexthop(flags: [], interfaceIndex: 3, gateway: ipv4(10, 0, 0, 2)),
        RouteNexthop(
          flags: [], interfaceIndex: 3, gateway: IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 2)),
      ])
  }

  @Test func readsEveryWayOfIPv6() throws {
    let nexthops = try nexthops(RecordedMessage.route6Multipath.bytes)
    #expect(nexthops.map { $0.gateway?.low } == [3, 2])
  }

  @Test func readsAnIPv6GatewayOfAnIPv4Route() throws {
    let route = try decode(RecordedMessage.route4Via6.bytes, RouteMessage.init)
    #expect(route.gateway == IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 9))
    #expect(route.preferredSource == ipv4(10, 0, 0, 1))
  }

  @Test func readsTheNexthopObject() throws {
    let route = try decode(RecordedMessage.answerNexthopGroup.bytes, RouteMessage.init)
    #expect(route.nexthopID == 13)
    #expect(try nexthops(RecordedMessage.answerNexthopGroup.bytes).count == 2)
  }

  @Test func readsADeletion() throws {
    let route = try decode(RecordedMessage.routeDeleted.bytes, RouteMessage.init)
    #expect(route.destinationLength == 0)
    #expect(route.covers(ipv4(8, 8, 8, 8)))
    #expect(!route.covers(IPAddressBits(ipv6High: 0, low: 1)))
  }

  @Test func coversWhatLiesInsideItsPrefix() throws {
    let route = try decode(RecordedMessage.route4Via6.bytes, RouteMessage.init)
    #expect(route.covers(ipv4(203, 0, 113, 255)))
    #expect(!route.covers(ipv4(203, 0, 112, 255)))
  }

  @Test func readsFlagsOfNexthops() throws {
    let bytes = message(.newRoute) {
      $0.appendRouteHeader(family: .ipv4, type: .unicast, flags: [.dead, .linkDown, .fibMatch])
      $0.append(9, bytes: [8, 0, 0x11, 255, 5, 5, 5, 5])
    }
    let route = try decode(bytes, RouteMessage.init)
    #expect(route.flags == [.dead, .linkDown, .fibMatch])
    #expect(
      try nexthops(bytes) == [
        RouteNexthop(flags: [.dead, .linkDown], interfaceIndex: 0x0505_0505, gateway: nil)
      ])
  }

  @Test(
    arguments: [
      (1, [1, 2, 3]), (1, [UInt8](repeating: 0, count: 16)), (4, [1, 0]), (5, [1, 0]), (6, [1]), (7, []), (9, [8, 0]),
      (9, [7, 0, 0, 0, 1, 0, 0, 0]), (9, [9, 0, 0, 0, 1, 0, 0, 0]), (15, [1]), (18, [2, 0, 1]),
      (18, [10, 0, 1, 2, 3, 4]),
      (30, [0]), (9, [0, 0, 0, 0, 0, 0, 0, 0]),
    ] as [(UInt16, [UInt8])])
  func refusesAMalformedAttribute(type: UInt16, payload: [UInt8]) throws {
    let bytes = message(.newRoute) {
      $0.appendRouteHeader(family: .ipv4)
      $0.append(type, bytes: payload)
    }
    #expect(try decode(bytes) { .some(RouteMessage($0, in: $1)) } == nil)
  }

  @Test(arguments: [(KernelAddressFamily.ipv4, 33), (.ipv6, 129)] as [(KernelAddressFamily, UInt8)])
  func refusesAPrefixLongerThanTheAddress(family: KernelAddressFamily, length: UInt8) throws {
    let bytes = message(.newRoute) { $0.appendRouteHeader(family: family, destinationLength: length) }
    #expect(try decode(bytes) { .some(RouteMessage($0, in: $1)) } == nil)
  }

  // MARK: The prefix alone

  @Test func readsThePrefixThatAnEventIsAbout() throws {
    let multipath = try decode(RecordedMessage.route4Multipath.bytes, IPPrefix.init)
    #expect(multipath.address == ipv4(198, 51, 100, 0) && multipath.length == 24)
    let route = try decode(RecordedMessage.route4Via6.bytes, RouteMessage.init)
    let prefix = try decode(RecordedMessage.route4Via6.bytes, IPPrefix.init)
    #expect(prefix.address == route.destination && prefix.length == Int(route.destinationLength))
  }

  @Test func aDefaultRouteHasAPrefixOfNoLength() throws {
    let deleted = try decode(RecordedMessage.routeDeleted.bytes, IPPrefix.init)
    #expect(deleted.address == ipv4(0, 0, 0, 0) && deleted.length == 0)
  }

  @Test func refusesAMalformedPrefix() throws {
    for bytes in [
      message(.newRoute) { $0.appendRouteHeader(family: .ipv4, destinationLength: 33) },
      message(.newRoute) {
        $0.appendRouteHeader(family: .ipv4, destinationLength: 24)
        $0.append(RouteMessage.Attribute.destination, bytes: [UInt8](repeating: 0, count: 16))
      },
      message(.newRoute) { $0.appendRouteHeader(family: .bridge) },
      message(.newLink) { $0.appendRouteHeader(family: .ipv4) },
    ] {
      #expect(try decode(bytes) { .some(IPPrefix($0, in: $1)) } == nil)
    }
  }
}
