// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: the filter may let too much through, never too little. It accepts what it does not understand: another
// type, an unknown family, a length out of range, a destination that is not where it should be. It drops a route
// message only after it has compared its whole prefix with every destination.

/// A classic BPF program for the socket that listens to events. It drops messages that cannot concern what is watched.
///
/// Of the messages about routes, only those reach the process that can concern the given destinations. Of those about
/// neighbours, only those do by which a given gateway begins or ceases to count as failed.
///
/// Beside a million routes that change all the time, the kernel drops in a few dozen nanoseconds what the process would
/// need microseconds to read. Never attach it to a socket that dumps: it judges a datagram by its first message.
package struct KernelFilter: Hashable, Sendable {
  /// How many destinations of a family are compared at most. With more, all routes of the family pass.
  static let exactLimit = 8
  /// How many gateways are compared at most. With more, all messages about neighbours pass.
  package static let gatewayLimit = 16

  /// An IPv6 router on a link, and what is known of it.
  package struct Gateway: Hashable, Sendable {
    package let address: IPAddressBits
    package let interface: UInt32
    /// Whether it is known not to answer (`NUD_FAILED`).
    package var isFailed: Bool
  }

  let instructions: [BPFInstruction]

  /// Offsets in the datagram: struct nlmsghdr is 16 bytes, struct rtmsg 12 (linux/rtnetlink.h).
  private enum Offset {
    static let type: UInt32 = 4
    static let family: UInt32 = 16
    static let destinationLength: UInt32 = 17
    static let table: UInt32 = 20
    static let attributes: UInt32 = 28
    /// Of struct ndmsg, which is 12 bytes, too (linux/neighbour.h).
    static let neighbourInterface: UInt32 = 20
    static let neighbourState: UInt32 = 24
  }

  private enum Memory {
    /// Four words of the route's destination, most significant first.
    static let address: UInt32 = 0
    /// Four words of the mask that the route's prefix length makes.
    static let mask: UInt32 = 4
    static let prefixLength: UInt32 = 8
  }

  private static let accept = BPFInstruction(.finish, .max)
  private static let drop = BPFInstruction(.finish, 0)
  /// `SKF_AD_OFF + SKF_AD_NLATTR` (linux/filter.h): A = the offset of the attribute of type X, searched from offset A
  /// on; 0 if there is none.
  private static let findAttribute = BPFInstruction(.loadWord, UInt32(bitPattern: -0x1000 + 12))

  /// - Parameters:
  ///   - destinations: the addresses watched, in any order; IPv4-mapped ones already turned into IPv4. `nil` for all.
  ///   - gateways: the gateways watched; if there are none, no message about a neighbour is dropped.
  package init(destinations: [IPAddressBits]?, gateways: [Gateway] = []) {
    let routes = destinations.map(Self.routes) ?? [Self.accept]
    // Packet loads read network order, but netlink headers are in host order, so compare with the swapped constant.
    let newRoute = UInt32(NetlinkMessageType.newRoute.rawValue.bigEndian)
    let deleteRoute = UInt32(NetlinkMessageType.deleteRoute.rawValue.bigEndian)
    let newNeighbour = UInt32(NetlinkMessageType.newNeighbour.rawValue.bigEndian)
    let deleteNeighbour = UInt32(NetlinkMessageType.deleteNeighbour.rawValue.bigEndian)
    instructions =
      [
        BPFInstruction(.loadHalf, Offset.type),
        BPFInstruction(.jumpIfEqual, newRoute, ifTrue: 5),
        BPFInstruction(.jumpIfEqual, deleteRoute, ifTrue: 4),
        BPFInstruction(.jumpIfEqual, newNeighbour, ifTrue: 2),
        BPFInstruction(.jumpIfEqual, deleteNeighbour, ifTrue: 1),
        Self.accept,
        BPFInstruction(.jump, UInt32(routes.count)),
      ] + routes + Self.neighbours(gateways)
  }

  /// The part for messages about routes; it always ends by accepting or dropping.
  private static func routes(to destinations: [IPAddressBits]) -> [BPFInstruction] {
    let ordered = Set(destinations).sorted()
    let ipv4 = comparison(with: ordered.filter { !$0.isIPv6 }, bitWidth: 32)
    let ipv6 = comparison(with: ordered.filter(\.isIPv6), bitWidth: 128)
    return
      [
        // A default route concerns everything.
        BPFInstruction(.loadByte, Offset.destinationLength),
        BPFInstruction(.jumpIfEqual, 0, ifFalse: 1),
        accept,
        BPFInstruction(.storeMemory, Memory.prefixLength),
        BPFInstruction(.loadByte, Offset.family),
        BPFInstruction(.jumpIfEqual, UInt32(KernelAddressFamily.ipv4.rawValue), ifTrue: 3),
        BPFInstruction(.jumpIfEqual, UInt32(KernelAddressFamily.ipv6.rawValue), ifTrue: 1),
        accept,
        BPFInstruction(.jump, UInt32(ipv4.count)),
      ] + ipv4 + ipv6
  }

  /// The part for messages about neighbours; it always ends by accepting or dropping.
  private static func neighbours(_ gateways: [Gateway]) -> [BPFInstruction] {
    if gateways.isEmpty || gateways.count > gatewayLimit { return [accept] }
    var program =
      [
        BPFInstruction(.loadByte, Offset.family),
        BPFInstruction(.jumpIfEqual, UInt32(KernelAddressFamily.ipv6.rawValue), ifTrue: 1),
        drop,
      ] + address(in: NeighbourMessage.Attribute.destination, words: 4)
    for gateway in gateways { program += test(gateway) }
    program.append(drop)
    return program
  }

  /// Accepts or drops messages about the gateway. Others fall through.
  private static func test(_ gateway: Gateway) -> [BPFInstruction] {
    // Netlink's integers are in host order, and packet loads read network order.
    let newNeighbour = UInt32(NetlinkMessageType.newNeighbour.rawValue.bigEndian)
    let failed = UInt32(NeighbourState.failed.rawValue.bigEndian)
    var verdict = [
      BPFInstruction(.loadHalf, Offset.type),
      // A deleted neighbour is not a failed one.
      BPFInstruction(.jumpIfEqual, newNeighbour, ifTrue: 1),
      gateway.isFailed ? accept : drop,
      BPFInstruction(.loadHalf, Offset.neighbourState),
      BPFInstruction(.jumpIfSet, failed, ifFalse: 1),
    ]
    verdict += gateway.isFailed ? [drop, accept] : [accept, drop]
    var program: [BPFInstruction] = []
    for word in (0..<UInt32(4)).reversed() {
      let half = word < 2 ? gateway.address.high : gateway.address.low
      let value = UInt32(truncatingIfNeeded: half >> (word % 2 == 0 ? 32 : 0))
      program =
        [
          BPFInstruction(.loadMemory, Memory.address + word),
          BPFInstruction(.jumpIfEqual, value, ifFalse: UInt8(program.count + verdict.count)),
        ] + program
    }
    let rest = UInt8(program.count + verdict.count)
    return [
      BPFInstruction(.loadWord, Offset.neighbourInterface),
      BPFInstruction(.jumpIfEqual, gateway.interface.bigEndian, ifFalse: rest),
    ] + program + verdict
  }

  /// The part for one family; it always ends by accepting or dropping.
  private static func comparison(with destinations: [IPAddressBits], bitWidth: Int) -> [BPFInstruction] {
    if destinations.isEmpty { return [drop] }
    if destinations.count > exactLimit { return [accept] }
    let words = UInt32(bitWidth / 32)
    // A source may be this machine's by a local route.
    let localTable = [
      BPFInstruction(.loadByte, Offset.table),
      BPFInstruction(.jumpIfEqual, UInt32(RouteMessage.localTable), ifFalse: 1),
      accept,
    ]
    var program =
      (words == 1 ? localTable : []) + [
        // A prefix longer than the address is unknown, so it passes.
        BPFInstruction(.loadMemory, Memory.prefixLength),
        BPFInstruction(.jumpIfGreater, UInt32(bitWidth), ifFalse: 1),
        accept,
      ] + address(in: RouteMessage.Attribute.destination, words: words)
    for word in 0..<words { program += mask(ofWord: word) }
    for destination in destinations { program += test(destination, words: words) }
    program.append(drop)
    return program
  }

  /// M[address…] = the words of the address in an attribute. A message without the attribute passes.
  private static func address(in attribute: UInt16, words: UInt32) -> [BPFInstruction] {
    let start = [
      BPFInstruction(.loadIndexImmediate, UInt32(attribute)),
      BPFInstruction(.loadImmediate, Offset.attributes),
      findAttribute,
      BPFInstruction(.jumpIfEqual, 0, ifFalse: 1),
      accept,
      BPFInstruction(.transferToIndex),
    ]
    return (0..<words).reduce(into: start) { program, word in
      // The address follows the four bytes of the attribute's header.
      program.append(BPFInstruction(.loadWordIndexed, 4 + 4 * word))
      program.append(BPFInstruction(.storeMemory, Memory.address + word))
    }
  }

  /// M[mask + word] = the bits of this word that the prefix length covers: all, some or none.
  private static func mask(ofWord word: UInt32) -> [BPFInstruction] {
    [
      BPFInstruction(.loadMemory, Memory.prefixLength),
      BPFInstruction(.jumpIfGreaterOrEqual, 32 * (word + 1), ifTrue: 7),
      BPFInstruction(.jumpIfGreater, 32 * word, ifFalse: 8),
      // Some: shift by 32 (word + 1) - length, which is 1 to 31 here.
      BPFInstruction(.subtract, 32 * (word + 1)),
      BPFInstruction(.negate),
      BPFInstruction(.transferToIndex),
      BPFInstruction(.loadImmediate, .max),
      BPFInstruction(.shiftLeftIndex),
      BPFInstruction(.jump, 3),
      // All.
      BPFInstruction(.loadImmediate, .max),
      BPFInstruction(.jump, 1),
      // None.
      BPFInstruction(.loadImmediate, 0),
      BPFInstruction(.storeMemory, Memory.mask + word),
    ]
  }

  /// Accepts if each word of the destination equals the route's under the mask, else falls through.
  private static func test(_ destination: IPAddressBits, words: UInt32) -> [BPFInstruction] {
    var program: [BPFInstruction] = []
    let lengthOfWord = 5
    for word in 0..<words {
      let value =
        words == 1
        ? UInt32(truncatingIfNeeded: destination.low)
        : UInt32(truncatingIfNeeded: (word < 2 ? destination.high : destination.low) >> (word % 2 == 0 ? 32 : 0))
      // From the instruction behind this word's jump to the one behind the final accept.
      let rest = UInt8(lengthOfWord * Int(words - word - 1) + 1)
      program += [
        BPFInstruction(.loadIndexMemory, Memory.mask + word),
        BPFInstruction(.loadMemory, Memory.address + word),
        BPFInstruction(.exclusiveOr, value),
        BPFInstruction(.andIndex),
        BPFInstruction(.jumpIfEqual, 0, ifFalse: rest),
      ]
    }
    program.append(accept)
    return program
  }
}
