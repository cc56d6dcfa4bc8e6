// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// Requests byte by byte, as linux/netlink.h, linux/rtnetlink.h, linux/genetlink.h and linux/wireguard.h want them.
struct RequestBytesTests {
  private typealias Raw = RawMessage

  private func bytes(_ body: (inout NetlinkRequestBuilder) -> Void) -> [UInt8] {
    var builder = NetlinkRequestBuilder()
    body(&builder)
    return builder.bytes
  }

  /// RTM_GETROUTE is 26, NLM_F_REQUEST 1.
  @Test func aRouteQueryNamesAllThatItIsAbout() {
    let query = bytes {
      $0.appendRouteQuery(
        destination: ipv4(192, 0, 2, 1), source: ipv4(192, 0, 2, 2), outputInterface: 3, mark: 4, transport: 6,
        destinationPort: 443, fibMatch: true, namesTable: true, sequence: 5)
    }
    #expect(
      query
        == Raw.bytes(
          26, flags: 1, sequence: 5, [2, 32, 32, 0, 0, 0, 0, 0], Raw.host(UInt32(0x3000)),
          Raw.attribute(1, [192, 0, 2, 1]), Raw.attribute(2, [192, 0, 2, 2]), Raw.attribute(4, Raw.host(UInt32(3))),
          // RTA_IP_PROTO, a byte; RTA_DPORT, in network order.
          Raw.attribute(16, Raw.host(UInt32(4))), Raw.attribute(27, [6]), Raw.attribute(29, [1, 0xbb])))
  }

  /// RTM_F_LOOKUP_TABLE is 0x1000, RTM_F_FIB_MATCH 0x2000.
  @Test(
    arguments: [(false, false, 0), (true, false, 0x2000), (false, true, 0x1000), (true, true, 0x3000)]
      as [(Bool, Bool, UInt32)])
  func aRouteQueryAsksForWhatIsWanted(fibMatch: Bool, namesTable: Bool, flags: UInt32) {
    let query = bytes {
      $0.appendRouteQuery(destination: Raw.address(1), fibMatch: fibMatch, namesTable: namesTable)
    }
    #expect(
      query
        == Raw.bytes(
          26, flags: 1, [10, 128, 0, 0, 0, 0, 0, 0], Raw.host(flags), Raw.attribute(1, Raw.ipv6(1))))
  }

  /// RTM_GETLINK is 18, RTM_GETNEXTHOP 106, RTM_GETNEIGH 30; IFLA_EXT_MASK 29 with RTEXT_FILTER_SKIP_STATS, 8.
  @Test func aRequestForOneObjectNamesIt() {
    #expect(
      bytes { $0.appendGetLink(index: 7, sequence: 2) }
        == Raw.bytes(
          18, flags: 1, sequence: 2, [0, 0, 0, 0], Raw.host(Int32(7)), Raw.zeros(8),
          Raw.attribute(29, Raw.host(UInt32(8)))))
    #expect(
      bytes { $0.appendGetNexthop(id: 7, sequence: 3) }
        == Raw.bytes(106, flags: 1, sequence: 3, Raw.zeros(8), Raw.attribute(1, Raw.host(UInt32(7)))))
    #expect(
      bytes { $0.appendGetNeighbour(Raw.address(1), interface: 7, sequence: 4) }
        == Raw.bytes(
          30, flags: 1, sequence: 4, [10, 0, 0, 0], Raw.host(Int32(7)), Raw.zeros(4), Raw.attribute(1, Raw.ipv6(1))))
    #expect(
      bytes { $0.appendGetNeighbour(ipv4(192, 0, 2, 1), interface: 7) }
        == Raw.bytes(
          30, flags: 1, [2, 0, 0, 0], Raw.host(Int32(7)), Raw.zeros(4), Raw.attribute(1, [192, 0, 2, 1])))
  }

  /// CTRL_CMD_GETFAMILY is 3 of version 1, NL80211_CMD_GET_INTERFACE 5 of version 0, WG_CMD_GET_DEVICE 0 of version 1.
  /// A dump is NLM_F_ROOT and NLM_F_MATCH, 0x300.
  @Test func aGenericRequestNamesItsCommandAndItsVersion() {
    let family = NetlinkMessageType(rawValue: 33)
    #expect(
      bytes { $0.appendGetFamily(named: "nl80211", sequence: 2) }
        == Raw.bytes(16, flags: 1, sequence: 2, [3, 1, 0, 0], Raw.attribute(2, Raw.text("nl80211"))))
    #expect(
      bytes { $0.appendGetWirelessInterface(index: 7, family: family, sequence: 3) }
        == Raw.bytes(33, flags: 1, sequence: 3, [5, 0, 0, 0], Raw.attribute(3, Raw.host(UInt32(7)))))
    // WGDEVICE_A_IFNAME is 2.
    #expect(
      bytes { $0.appendGetWireGuard("wg0", family: family, sequence: 4) }
        == Raw.bytes(33, flags: 0x301, sequence: 4, [0, 1, 0, 0], Raw.attribute(2, Raw.text("wg0"))))
    #expect(GenericNetlinkMessage.Wireless.familyName == "nl80211" && WireGuardDevice.familyName == "wireguard")
  }

  @Test func aDumpOfRoutesNamesATableOnlyIfOneIsWanted() {
    #expect(
      bytes { $0.appendDump(.getRoute, family: .ipv4, sequence: 1) }
        == Raw.bytes(26, flags: 0x301, sequence: 1, [2] + Raw.zeros(11)))
    #expect(
      bytes { $0.appendDump(.getRoute, family: .ipv4, table: 1000) }
        == Raw.bytes(26, flags: 0x301, [2] + Raw.zeros(11), Raw.attribute(15, Raw.host(UInt32(1000)))))
    #expect(
      bytes { $0.appendDump(.getLink) }
        == Raw.bytes(18, flags: 0x301, Raw.zeros(16), Raw.attribute(29, Raw.host(UInt32(8)))))
    // struct rtgenmsg: the family and three bytes of pad. RTM_GETMULTICAST is 58.
    #expect(
      bytes { $0.appendDump(NetlinkMessageType(rawValue: 58), family: .ipv6) }
        == Raw.bytes(58, flags: 0x301, [10, 0, 0, 0]))
  }

  // MARK: Fixed headers

  @Test func writesEachFieldOfAFixedHeader() {
    let cases: [(body: (inout NetlinkRequestBuilder) -> Void, expected: [[UInt8]])] = [
      (
        { $0.appendLinkHeader(family: .bridge, index: 7, flags: .up, change: .running) },
        [[7, 0, 0, 0], Raw.host(Int32(7)), Raw.host(UInt32(1)), Raw.host(UInt32(0x40))]
      ),
      (
        { $0.appendAddressHeader(family: .ipv6, prefixLength: 64, flags: 0x80, scope: .link, index: 7) },
        [[10, 64, 0x80, 253], Raw.host(UInt32(7))]
      ),
      (
        {
          $0.appendRouteHeader(
            family: .ipv4, destinationLength: 24, sourceLength: 16, table: 254, protocol: .boot, scope: .host,
            type: .blackhole, flags: .cloned)
        },
        [[2, 24, 16, 0, 254, 3, 254, 6], Raw.host(UInt32(0x200))]
      ),
      (
        {
          $0.appendRuleHeader(
            family: .ipv4, destinationLength: 24, sourceLength: 16, table: 254, action: .prohibit, flags: .invert)
        },
        [[2, 24, 16, 0, 254, 0, 0, 8], Raw.host(UInt32(2))]
      ),
      (
        { $0.appendNexthopHeader(family: .ipv6, scope: .link, protocol: .boot, flags: .linkDown) },
        [[10, 253, 3, 0], Raw.host(UInt32(16))]
      ),
      (
        { $0.appendNeighbourHeader(family: .ipv6, index: 7, state: .failed, flags: 0x81) },
        [[10, 0, 0, 0], Raw.host(Int32(7)), Raw.host(UInt16(0x20)), [0x81, 0]]
      ),
      ({ $0.appendGenericHeader(command: 5, version: 6) }, [[5, 6, 0, 0]]),
    ]
    for (body, expected) in cases {
      let built = message(NetlinkMessageType(rawValue: 99), [], body)
      #expect(built == Raw.bytes(99, expected.flatMap { $0 }))
    }
  }

  // MARK: The builder itself

  @Test(arguments: 0...9) func aFixedHeaderIsPaddedToAMultipleOfFour(count: Int) {
    var builder = NetlinkRequestBuilder()
    builder.begin(.getLink, .request)
    let start = builder.appendHeader(byteCount: count)
    #expect(start == 16)
    #expect(builder.bytes.count == 16 + [0, 4, 4, 4, 4, 8, 8, 8, 8, 12][count])
  }

  @Test func anAttributeHoldsWhatItIsGiven() {
    let built = message(NetlinkMessageType(rawValue: 99)) {
      $0.append(1, UInt8(0x11))
      $0.append(2, UInt16(0x2222))
      $0.append(3, UInt64(0x3333_3333_3333_3333))
      $0.append(4, address: Raw.address(9))
      $0.append(5, address: ipv4(192, 0, 2, 1))
      $0.append(6, bytes: [1, 2, 3, 4, 5])
      $0.append(7, string: "")
      $0.appendFlag(8)
    }
    #expect(
      built
        == Raw.bytes(
          99, [5, 0, 1, 0, 0x11, 0, 0, 0], [6, 0, 2, 0, 0x22, 0x22, 0, 0],
          [12, 0, 3, 0] + [UInt8](repeating: 0x33, count: 8), [20, 0, 4, 0] + Raw.ipv6(9), [8, 0, 5, 0, 192, 0, 2, 1],
          [9, 0, 6, 0, 1, 2, 3, 4, 5, 0, 0, 0], [5, 0, 7, 0, 0, 0, 0, 0], [4, 0, 8, 0]))
  }

  @Test func requestsStandOneBehindTheOther() {
    var builder = NetlinkRequestBuilder()
    #expect(builder.count == 0)
    builder.appendGetNexthop(id: 1)
    #expect(builder.count == 1)
    #expect(builder.range(of: 0) == 0..<32)
    builder.appendLinkBarrier()
    builder.appendGetNexthop(id: 2)
    #expect(builder.range(of: 0) == 0..<32 && builder.range(of: 1) == 32..<72 && builder.range(of: 2) == 72..<104)
    builder.number(0..<2, from: 70)
    let numbers = withBytes(of: builder.bytes) { bytes in
      [8, 40, 80].map { bytes.integer(at: $0, as: UInt32.self) }
    }
    #expect(numbers == [70, 71, 0])
    builder.removeAll()
    #expect(builder.count == 0 && builder.bytes.isEmpty)
    // Without a request begun there is nothing to end.
    builder.end()
    #expect(builder.bytes.isEmpty)
  }
}
