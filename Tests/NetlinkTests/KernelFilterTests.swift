// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Netlink
import TestSupport
import Testing

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
      // The same with the last bit of the prefix turned over.
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

  @Test func otherFamilysRoutesAreDropped() throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: [ipv4(1, 2, 3, 4)]).instructions)
    #expect(try !filter.accepts(Self.routeEvent(Self.v6, length: 64)))
  }

  @Test(arguments: RecordedMessage.all.filter { !$0.name.hasPrefix("route") && !$0.name.hasPrefix("answer") })
  func messagesAboutOtherThingsPass(recorded: RecordedMessage) throws {
    let filter = BPFInterpreter(program: KernelFilter(destinations: []).instructions)
    #expect(try filter.accepts(recorded.bytes))
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

  @Test func staysWithinTheKernelsLimits() {
    let many = (1...UInt8(KernelFilter.exactLimit)).map { ipv4(10, 0, 0, $0) }
    let manyV6 = (1...UInt64(KernelFilter.exactLimit)).map { IPAddressBits(ipv6High: $0, low: $0) }
    let program = KernelFilter(destinations: many + manyV6).instructions
    // BPF_MAXINSNS, linux/bpf_common.h.
    #expect(program.count <= 4096)
    for (position, instruction) in program.enumerated() where instruction.code & 7 == 5 {
      let reach = instruction.code == 5 ? Int(instruction.operand) : Int(max(instruction.ifTrue, instruction.ifFalse))
      #expect(position + 1 + reach < program.count)
    }
  }
}
