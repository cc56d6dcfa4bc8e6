// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

struct KernelFilterTests {
  static func routeEvent(
    _ prefix: IPAddressBits, length: Int, type: NetlinkMessageType = .newRoute, attributeBefore: Bool = true
  ) -> [UInt8] {
    message(type) {
      $0.appendRouteHeader(family: prefix.family, destinationLength: UInt8(length), table: 254, type: .unicast)
      if attributeBefore { $0.append(15, UInt32(254)) }
      if length > 0 { $0.append(1, address: prefix.prefix(length)) }
      $0.append(4, UInt32(2))
    }
  }

  static let v6 = IPAddressBits(ipv6High: 0x2001_0db8_0000_0001, low: 0x8000_0000_0000_00ff)

  @Test(arguments: seeds) func agreesWithMatchesOnRandomPrefixes(seed: UInt64) throws {
    var generator = SeededNumbers(seed: seed)
    for round in 0..<400 {
      var destinations: [IPAddressBits] = []
      var near: [IPAddressBits] = []
      for _ in 0..<Int.random(in: 1...KernelFilter.exactLimit, using: &generator) {
        let (destination, other) = RandomPrefix.pair(using: &generator)
        destinations.append(destination)
        near.append(other)
      }
      let filter = BPFInterpreter(program: KernelFilter(destinations: destinations).instructions)
      for prefix in near + destinations {
        let length = Int.random(in: 0...prefix.bitWidth, using: &generator)
        let type: NetlinkMessageType = Bool.random(using: &generator) ? .newRoute : .deleteRoute
        let event = Self.routeEvent(prefix, length: length, type: type, attributeBefore: round % 2 == 0)
        let expected = length == 0 || destinations.contains { $0.matches(prefix: prefix, length: length) }
        #expect(
          try filter.accepts(event) == expected, "seed \(seed): \(prefix) / \(length) against \(destinations)")
      }
    }
  }

  @Test(arguments: [ipv4(198, 41, 0, 4), v6]) func decidesAtEveryPrefixLength(destination: IPAddressBits) throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: [destination]).instructions)
    for length in 1...destination.bitWidth {
      #expect(try filter.accepts(Self.routeEvent(destination, length: length)), "length \(length)")
      // The same address with the last bit of the prefix flipped.
      let bit = destination.bitWidth - length
      let other =
        destination.isIPv6
        ? IPAddressBits(
          ipv6High: destination.high ^ (bit >= 64 ? 1 << UInt64(bit - 64) : 0),
          low: destination.low ^ (bit < 64 ? 1 << UInt64(bit) : 0))
        : IPAddressBits(ipv4: UInt32(destination.low) ^ (1 << UInt32(bit)))
      #expect(try !filter.accepts(Self.routeEvent(other, length: length)), "length \(length)")
    }
  }

  @Test(arguments: [[], [ipv4(1, 2, 3, 4)], [v6]] as [[IPAddressBits]])
  func defaultRoutesAlwaysPass(destinations: [IPAddressBits]) throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: destinations).instructions)
    for prefix in [ipv4(0, 0, 0, 0), IPAddressBits(ipv6High: 0, low: 0)] {
      #expect(try filter.accepts(Self.routeEvent(prefix, length: 0)))
      #expect(try filter.accepts(Self.routeEvent(prefix, length: 0, type: .deleteRoute)))
    }
  }

  /// RT_TABLE_LOCAL, linux/rtnetlink.h: which sources are this machine's.
  @Test func localRoutesOfIPv4PassIfIPv4IsWatched() throws {
    func local(_ prefix: IPAddressBits, length: UInt8) -> [UInt8] {
      message(.newRoute) {
        $0.appendRouteHeader(family: prefix.family, destinationLength: length, table: 255, type: .local)
        $0.append(1, address: prefix)
      }
    }
    for (destination, passes) in [(ipv4(198, 51, 100, 1), true), (Self.v6, false)] {
      let filter = BPFInterpreter(program: KernelFilter(destinations: [destination]).instructions)
      #expect(try filter.accepts(local(ipv4(10, 9, 9, 0), length: 24)) == passes)
      #expect(try !filter.accepts(local(IPAddressBits(ipv6High: 1, low: 0), length: 64)))
    }
  }

  @Test func otherFamilysRoutesAreDropped() throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: [ipv4(1, 2, 3, 4)]).instructions)
    #expect(try !filter.accepts(Self.routeEvent(Self.v6, length: 64)))
  }

  @Test(arguments: RecordedMessage.all.filter { !$0.name.hasPrefix("route") && !$0.name.hasPrefix("answer") })
  func messagesAboutOtherThingsPass(recorded: RecordedMessage) throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: []).instructions)
    #expect(try filter.accepts(recorded.bytes))
  }

  @Test func asManyDestinationsAsAreComparedStillDropOthersRoutes() throws {
    #expect(KernelFilter.exactLimit == 8)
    let eight = (0..<UInt8(8)).map { ipv4(10, 0, 0, $0) }
    let filter = BPFInterpreter(program: KernelFilter(destinations: eight).instructions)
    #expect(try !filter.accepts(Self.routeEvent(ipv4(203, 0, 113, 0), length: 24)))
    for destination in eight { #expect(try filter.accepts(Self.routeEvent(destination, length: 32))) }
  }

  @Test func manyDestinationsLetTheirWholeFamilyThrough() throws {
    let many = (0...UInt8(KernelFilter.exactLimit)).map { ipv4(10, 0, 0, $0) }
    let filter = BPFInterpreter(program: KernelFilter(destinations: many).instructions)
    #expect(try filter.accepts(Self.routeEvent(ipv4(203, 0, 113, 0), length: 24)))
    #expect(try !filter.accepts(Self.routeEvent(Self.v6, length: 64)))
  }

  @Test func repeatedDestinationsCountOnce() throws {
    let repeated = [IPAddressBits](repeating: ipv4(10, 0, 0, 1), count: 100)
    #expect(KernelFilter(destinations: repeated) == KernelFilter(destinations: [ipv4(10, 0, 0, 1)]))
  }

  @Test(arguments: [ipv4(10, 0, 0, 1), v6]) func whatItDoesNotUnderstandPasses(destination: IPAddressBits) throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: [destination]).instructions)
    func route(_ family: KernelAddressFamily, _ length: UInt8, _ address: IPAddressBits?) -> [UInt8] {
      message(.newRoute) {
        $0.appendRouteHeader(family: family, destinationLength: length)
        if let address { $0.append(1, address: address) }
      }
    }
    // No destination attribute, an impossible length, an unknown family.
    #expect(try filter.accepts(route(destination.family, 24, nil)))
    #expect(try filter.accepts(route(destination.family, 255, ipv4(203, 0, 113, 0))))
    #expect(try filter.accepts(route(KernelAddressFamily(rawValue: 28), 20, ipv4(203, 0, 113, 0))))
  }

  static func neighbourEvent(
    _ address: IPAddressBits, interface: UInt32, _ state: NeighbourState,
    type: NetlinkMessageType = .newNeighbour, attributeBefore: Bool = false
  ) -> [UInt8] {
    message(type) {
      $0.appendNeighbourHeader(family: address.family, index: interface, state: state)
      if attributeBefore { $0.append(2, bytes: [2, 0, 0, 0, 0, 1]) }
      $0.append(1, address: address)
    }
  }

  @Test(arguments: [false, true])
  func neighboursPassWhenAGatewayFailsOrRecovers(isFailed: Bool) throws {
    let gateways = (1...3).map {
      KernelFilter.Gateway(address: IPAddressBits(ipv6High: 0xfe80 << 48, low: $0), interface: 258, isFailed: isFailed)
    }
    let filter = BPFInterpreter(program: KernelFilter(destinations: [], gateways: gateways).instructions)
    let other = KernelFilter.Gateway(
      address: IPAddressBits(ipv6High: 0xfe80 << 48, low: 9), interface: 258, isFailed: isFailed)
    // NUD_…, linux/neighbour.h: 0x20 is failed.
    let states = [0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80].map { NeighbourState(rawValue: $0) }
    for gateway in gateways + [other] {
      for state in states {
        for type in [NetlinkMessageType.newNeighbour, .deleteNeighbour] {
          let isNowFailed = type == .newNeighbour && state.rawValue == 0x20
          let event = Self.neighbourEvent(
            gateway.address, interface: 258, state, type: type, attributeBefore: gateway.address.low == 2)
          #expect(
            try filter.accepts(event) == (gateway != other && isNowFailed != isFailed),
            "\(gateway.address.low) \(state) \(type)")
          // The same address on another link is another neighbour.
          let elsewhere = Self.neighbourEvent(gateway.address, interface: 259, state, type: type)
          #expect(try !filter.accepts(elsewhere))
        }
      }
    }
    // Each word of the address counts; other families do not.
    for bit in [UInt64(0), 40] {
      for high in [false, true] {
        let address = IPAddressBits(
          ipv6High: 0xfe80 << 48 ^ (high ? 1 << bit : 0), low: 1 ^ (high ? 0 : 1 << (bit + 8)))
        let event = Self.neighbourEvent(address, interface: 258, isFailed ? .reachable : .failed)
        #expect(try !filter.accepts(event))
      }
    }
    #expect(try !filter.accepts(Self.neighbourEvent(ipv4(10, 0, 0, 1), interface: 258, .failed)))
    // Everything else stays the same.
    #expect(try !filter.accepts(Self.routeEvent(Self.v6, length: 64)))
    let all = BPFInterpreter(program: KernelFilter(destinations: nil, gateways: gateways).instructions)
    #expect(try all.accepts(Self.routeEvent(Self.v6, length: 64)))
    #expect(try !all.accepts(Self.neighbourEvent(other.address, interface: 258, .failed)))
  }

  @Test func staysWithinTheKernelsLimits() {
    let many = (1...UInt8(KernelFilter.exactLimit)).map { ipv4(10, 0, 0, $0) }
    let manyV6 = (1...UInt64(KernelFilter.exactLimit)).map { IPAddressBits(ipv6High: $0, low: $0) }
    let gateways = (1...UInt64(KernelFilter.gatewayLimit)).map {
      KernelFilter.Gateway(address: IPAddressBits(ipv6High: $0, low: $0), interface: 2, isFailed: $0 % 2 == 0)
    }
    let program = KernelFilter(destinations: many + manyV6, gateways: gateways).instructions
    // BPF_MAXINSNS, linux/bpf_common.h.
    #expect(program.count <= 4096)
    for (position, instruction) in program.enumerated() where instruction.code & 7 == 5 {
      let reach = instruction.code == 5 ? Int(instruction.operand) : Int(max(instruction.ifTrue, instruction.ifFalse))
      #expect(position + 1 + reach < program.count)
    }
  }
}
