// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct NetlinkRequestBuilderTests {
  /// The messages of a builder, each with the bytes of its fixed header and its attributes.
  private func messages(
    _ builder: NetlinkRequestBuilder, headerByteCount: Int
  ) throws -> [(header: NetlinkHeader, fixed: [UInt8], attributes: [UInt16: [UInt8]])] {
    try withBytes(of: builder.bytes) { bytes throws(NetlinkFormatError) in
      var cursor = NetlinkMessageCursor(count: bytes.byteCount)
      var found: [(header: NetlinkHeader, fixed: [UInt8], attributes: [UInt16: [UInt8]])] = []
      while let message = try cursor.next(in: bytes) {
        let range = message.attributes(after: headerByteCount) ?? 0..<0
        var attributes = NetlinkAttributeCursor(range)
        var values: [UInt16: [UInt8]] = [:]
        while let attribute = attributes.next(in: bytes) { values[attribute.type] = bytes.array(in: attribute.payload) }
        #expect(!attributes.isMalformed)
        let fixed = bytes.array(in: message.body.lowerBound..<(message.body.lowerBound + headerByteCount)) ?? []
        found.append((message.header, fixed, values))
      }
      return found
    }
  }

  @Test func routeQueryNamesFullLengthsAndNothingElse() throws {
    var builder = NetlinkRequestBuilder()
    builder.appendRouteQuery(destination: ipv4(198, 41, 0, 4), fibMatch: true, sequence: 9)
    let query = try #require(try messages(builder, headerByteCount: 12).first)
    #expect(query.header == NetlinkHeader(length: 36, type: .getRoute, flags: .request, sequence: 9))
    #expect(query.fixed[..<8] == [2, 32, 0, 0, 0, 0, 0, 0])
    #expect(withBytes(of: query.fixed) { $0.integer(at: 8) } == UInt32(0x2000))
    #expect(query.attributes == [1: [198, 41, 0, 4]])
  }

  @Test func routeQueryCarriesSourceInterfaceAndMark() throws {
    var builder = NetlinkRequestBuilder()
    builder.appendRouteQuery(
      destination: IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 1),
      source: IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 2), outputInterface: 0x0101_0101, mark: 0x0202_0202,
      fibMatch: false)
    let query = try #require(try messages(builder, headerByteCount: 12).first)
    #expect(query.fixed == [10, 128, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(query.attributes[2]?.last == 2)
    #expect(query.attributes[4] == [1, 1, 1, 1])
    #expect(query.attributes[16] == [2, 2, 2, 2])
  }

  @Test func barrierAsksForALinkThatCannotExist() throws {
    var builder = NetlinkRequestBuilder()
    builder.appendLinkBarrier()
    let barrier = try #require(try messages(builder, headerByteCount: 16).first)
    #expect(barrier.header.type == .getLink)
    #expect(barrier.header.flags == .request)
    #expect(withBytes(of: barrier.fixed) { $0.integer(at: 4) } == Int32.max)
    #expect(barrier.attributes.keys.sorted() == [29])
  }

  @Test func numbersPipelinedRequestsAfresh() throws {
    var builder = NetlinkRequestBuilder()
    for _ in 0..<3 { builder.appendLinkBarrier(sequence: 1) }
    builder.number(1..<3, from: .max)
    #expect(try messages(builder, headerByteCount: 16).map(\.header.sequence) == [1, .max, 0])
    #expect(builder.count == 3)
    #expect(builder.range(of: 1) == 40..<80)
    #expect(builder.range(of: 2) == 80..<120)
  }

  @Test func startsAfreshAfterRemoval() throws {
    var builder = NetlinkRequestBuilder()
    builder.appendLinkBarrier()
    builder.removeAll()
    #expect(builder.count == 0)
    builder.appendGetNexthop(id: 7)
    let request = try #require(try messages(builder, headerByteCount: 8).first)
    #expect(request.header.type == .getNexthop)
    #expect(request.attributes.keys.sorted() == [1])
  }

  @Test func padsEveryAttribute() {
    for count in 0...9 {
      let bytes = message(.newLink) { $0.append(3, bytes: [UInt8](repeating: 0xff, count: count)) }
      #expect(bytes.count == 16 + 4 + (count + 3) / 4 * 4)
      #expect(bytes[(20 + count)...].allSatisfy { $0 == 0 })
    }
  }

  @Test func nestsAttributes() throws {
    let bytes = message(.newLink) {
      let outer = $0.beginNested(18)
      $0.append(1, string: "bond")
      let inner = $0.beginNested(2, isMarked: false)
      $0.append(2, UInt32(5))
      $0.endNested(inner)
      $0.endNested(outer)
    }
    withBytes(of: bytes) { bytes in
      var cursor = NetlinkAttributeCursor(16..<bytes.byteCount)
      let outer = cursor.next(in: bytes)
      #expect(outer?.type == 18 && outer?.payload == 20..<44)
      let marked: UInt16? = bytes.integer(at: 18)
      #expect(marked == 0x8012)
      cursor = NetlinkAttributeCursor(20..<44)
      let kind = cursor.next(in: bytes)
      #expect(kind?.payload == 24..<29)
      let inner = cursor.next(in: bytes)
      #expect(inner?.type == 2 && inner?.payload == 36..<44)
      let end = cursor.next(in: bytes)
      #expect(end == nil && !cursor.isMalformed)
    }
  }

  @Test(
    arguments: [
      (.getLink, 16, [29]), (.getAddress, 8, []), (.getRoute, 12, [15]), (.getRule, 12, []), (.getNexthop, 8, []),
      (.getNeighbour, 12, []), (NetlinkMessageType(rawValue: 66), 1, []),
    ] as [(NetlinkMessageType, Int, [UInt16])])
  func dumpHasTheHeaderOfItsFamily(type: NetlinkMessageType, headerByteCount: Int, attributes: [UInt16]) throws {
    var builder = NetlinkRequestBuilder()
    builder.appendDump(type, family: .ipv6, table: 254, sequence: 3)
    let dump = try #require(try messages(builder, headerByteCount: headerByteCount).first)
    #expect(dump.header.type == type)
    #expect(dump.header.flags == [.request, .dump])
    #expect(dump.fixed == [10] + [UInt8](repeating: 0, count: headerByteCount - 1))
    #expect(dump.attributes.keys.sorted() == attributes)
  }

  @Test func genericRequestsNameFamilyAndInterface() throws {
    var builder = NetlinkRequestBuilder()
    builder.appendGetFamily(named: "nl80211")
    builder.appendGetWirelessInterface(index: 0x0303_0303, family: NetlinkMessageType(rawValue: 40))
    let requests = try messages(builder, headerByteCount: 4)
    let family = try #require(requests.first { $0.header.type.rawValue == 16 })
    #expect(family.fixed.first == 3)
    #expect(family.attributes == [2: Array("nl80211\0".utf8)])
    let interface = try #require(requests.first { $0.header.type.rawValue == 40 })
    #expect(interface.fixed.first == 5)
    #expect(interface.attributes == [3: [3, 3, 3, 3]])
  }
}
