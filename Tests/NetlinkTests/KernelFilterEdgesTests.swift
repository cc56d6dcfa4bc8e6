// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// Where one word of an address ends and the next begins, and where the limits are.
struct KernelFilterEdgesTests {
  private static func flipped(_ address: IPAddressBits, bit: Int) -> IPAddressBits {
    if !address.isIPv6 { return IPAddressBits(ipv4: UInt32(address.low) ^ (0x8000_0000 >> UInt32(bit))) }
    return IPAddressBits(
      ipv6High: address.high ^ (bit < 64 ? 1 << UInt64(63 - bit) : 0),
      low: address.low ^ (bit < 64 ? 0 : 1 << UInt64(127 - bit)))
  }

  private func filter(_ destinations: [IPAddressBits]?, gateways: [KernelFilter.Gateway] = []) -> BPFInterpreter {
    BPFInterpreter(program: KernelFilter(destinations: destinations, gateways: gateways).instructions)
  }

  @Test(
    arguments: [1, 2, 31, 32, 33, 34, 63, 64, 65, 66, 95, 96, 97, 98, 127, 128],
    [ipv4(198, 41, 0, 4), KernelFilterTests.v6])
  func everyBitOfAPrefixCounts(length: Int, destination: IPAddressBits) throws {
    guard length <= destination.bitWidth else { return }
    let filter = filter([destination])
    #expect(try filter.accepts(KernelFilterTests.routeEvent(destination, length: length)))
    for bit in 0..<length {
      let other = Self.flipped(destination, bit: bit)
      #expect(try !filter.accepts(KernelFilterTests.routeEvent(other, length: length)), "bit \(bit)")
    }
  }

  /// Behind its length a prefix has no bits, whatever the message has there.
  @Test(arguments: [1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127])
  func noBitBehindAPrefixCounts(length: Int) throws {
    let filter = filter([KernelFilterTests.v6])
    for bit in length..<128 {
      let event = message(.newRoute) {
        $0.appendRouteHeader(family: .ipv6, destinationLength: UInt8(length))
        $0.append(1, address: Self.flipped(KernelFilterTests.v6, bit: bit))
      }
      #expect(try filter.accepts(event), "bit \(bit)")
    }
  }

  /// 33 of 32 bits, 129 of 128: nobody knows what that means, so it passes.
  @Test func aLengthOneBeyondTheAddressPasses() throws {
    func route(_ address: IPAddressBits, _ length: UInt8) -> [UInt8] {
      message(.newRoute) {
        $0.appendRouteHeader(family: address.family, destinationLength: length)
        $0.append(1, address: address)
      }
    }
    let filter = filter([ipv4(198, 41, 0, 4), KernelFilterTests.v6])
    #expect(try !filter.accepts(route(ipv4(203, 0, 113, 0), 32)) && filter.accepts(route(ipv4(203, 0, 113, 0), 33)))
    #expect(try !filter.accepts(route(RawMessage.address(9), 128)) && filter.accepts(route(RawMessage.address(9), 129)))
  }

  @Test func eachOfManyDestinationsIsCompared() throws {
    let eight = (0..<UInt64(8)).map { IPAddressBits(ipv6High: 0x2001_0db8_0000_0000 + $0, low: 1 << ($0 * 8)) }
    let filter = filter(eight)
    for address in eight {
      #expect(try filter.accepts(KernelFilterTests.routeEvent(address, length: 128)))
      #expect(try filter.accepts(KernelFilterTests.routeEvent(address, length: 64)))
      for bit in [0, 31, 32, 61, 96, 127] {
        let other = Self.flipped(address, bit: bit)
        #expect(try filter.accepts(KernelFilterTests.routeEvent(other, length: 128)) == eight.contains(other))
      }
    }
  }

  // MARK: Gateways

  private static func gateways(_ count: Int) -> [KernelFilter.Gateway] {
    (0..<count).map {
      KernelFilter.Gateway(
        address: IPAddressBits(ipv6High: 0xfe80 << 48, low: UInt64($0 + 1)), interface: 2, isFailed: false)
    }
  }

  /// 16 are compared. With more, all messages about neighbours pass, and with none.
  @Test(arguments: [(0, true), (1, false), (16, false), (17, true), (40, true)])
  func asManyGatewaysAsAreComparedStillDropOthers(count: Int, passes: Bool) throws {
    let filter = filter(nil, gateways: Self.gateways(count))
    let other = IPAddressBits(ipv6High: 0xfe80 << 48, low: 0xffff)
    for state in [NeighbourState.failed, .reachable] {
      let event = KernelFilterTests.neighbourEvent(other, interface: 2, state)
      #expect(try filter.accepts(event) == passes)
      // One that is not known to have failed, and has not: nothing new.
      if let known = Self.gateways(count).last {
        let event = KernelFilterTests.neighbourEvent(known.address, interface: 2, state)
        #expect(try filter.accepts(event) == (passes || state == .failed))
      }
    }
  }

  @Test func everyBitOfAGatewayCounts() throws {
    let gateway = IPAddressBits(ipv6High: 0xfe80_0000_1234_5678, low: 0x9abc_def0_0fed_cba9)
    let filter = filter([], gateways: [KernelFilter.Gateway(address: gateway, interface: 0x0102_0304, isFailed: false)])
    #expect(try filter.accepts(KernelFilterTests.neighbourEvent(gateway, interface: 0x0102_0304, .failed)))
    for bit in 0..<128 {
      let other = Self.flipped(gateway, bit: bit)
      #expect(try !filter.accepts(KernelFilterTests.neighbourEvent(other, interface: 0x0102_0304, .failed)))
    }
    for bit in 0..<UInt32(32) {
      let interface: UInt32 = 0x0102_0304 ^ (1 << bit)
      #expect(try !filter.accepts(KernelFilterTests.neighbourEvent(gateway, interface: interface, .failed)))
    }
  }

  /// A message about a neighbour that names none is not understood.
  @Test(arguments: [false, true]) func aNeighbourWithoutAnAddressPasses(hasAttribute: Bool) throws {
    let filter = filter([], gateways: Self.gateways(1))
    let event = message(.newNeighbour) {
      $0.appendNeighbourHeader(family: .ipv6, index: 2, state: .reachable)
      if hasAttribute { $0.append(2, bytes: [2, 0, 0, 0, 0, 1]) }
    }
    #expect(try filter.accepts(event))
  }

  /// NUD_FAILED among other bits.
  @Test func aStateIsFailedIfItsBitIsSet() throws {
    for isFailed in [false, true] {
      let gateway = KernelFilter.Gateway(address: RawMessage.address(1), interface: 2, isFailed: isFailed)
      let filter = filter([], gateways: [gateway])
      for state in [0x21, 0xa0, 0xff, 0xdf, 0x00] as [UInt16] {
        let event = KernelFilterTests.neighbourEvent(gateway.address, interface: 2, NeighbourState(rawValue: state))
        #expect(try filter.accepts(event) == ((state & 0x20 != 0) != isFailed), "\(state)")
      }
    }
  }
}
