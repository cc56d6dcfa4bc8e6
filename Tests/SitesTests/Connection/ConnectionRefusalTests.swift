// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import Testing

@testable import DialtoneDiagnosis
@testable import DialtoneSites

/// ICMP messages in words, and what a diagnosis makes of them.
struct ConnectionRefusalTests {
  private typealias Meaning = NetworkStatement.Meaning

  private static let router = IPAddress(ipv4: 0xC000_0201)
  private static let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1))

  /// Types and codes of RFC 792, RFC 1122 (3.2.2.1) and RFC 1812 (5.2.7.1).
  private static let rows: [(type: UInt8, code: UInt8, words: String, meaning: Meaning)] = [
    (3, 0, "network unreachable", .networkUnreachable), (3, 1, "host unreachable", .hostUnreachable),
    (3, 2, "protocol unreachable", .protocolUnreachable), (3, 3, "port unreachable", .portUnreachable),
    (3, 4, "the packet is too large", .tooLarge), (3, 5, "source route failed", .other(type: 3, code: 5)),
    (3, 6, "network unknown", .networkUnreachable), (3, 7, "host unknown", .hostUnreachable),
    (3, 8, "host isolated", .hostUnreachable), (3, 9, "network prohibited", .prohibited),
    (3, 10, "host prohibited", .prohibited),
    (3, 11, "network unreachable for this type of service", .networkUnreachable),
    (3, 12, "host unreachable for this type of service", .hostUnreachable), (3, 13, "prohibited", .prohibited),
    (3, 14, "precedence violation", .other(type: 3, code: 14)),
    (3, 15, "precedence too low", .other(type: 3, code: 15)),
    (3, 16, "ICMP type 3, code 16", .other(type: 3, code: 16)),
    (11, 0, "the packet's lifetime ended on the way", .lifetimeEnded),
    (11, 1, "the packet's lifetime ended on the way", .lifetimeEnded),
    (12, 0, "the packet is malformed", .other(type: 12, code: 0)),
    (4, 0, "ICMP type 4, code 0", .other(type: 4, code: 0)),
  ]

  /// Types and codes of RFC 4443.
  private static let rows6: [(type: UInt8, code: UInt8, words: String, meaning: Meaning)] = [
    (1, 0, "no route", .networkUnreachable), (1, 1, "prohibited", .prohibited),
    (1, 2, "beyond the scope of the source address", .networkUnreachable),
    (1, 3, "address unreachable", .hostUnreachable), (1, 4, "port unreachable", .portUnreachable),
    (1, 5, "source address prohibited", .prohibited), (1, 6, "route rejected", .networkUnreachable),
    (1, 7, "ICMP type 1, code 7", .other(type: 1, code: 7)), (2, 0, "ICMP type 2, code 0", .tooLarge),
    (3, 0, "the packet's lifetime ended on the way", .lifetimeEnded),
    (4, 0, "the packet is malformed", .other(type: 4, code: 0)),
    (11, 0, "ICMP type 11, code 0", .other(type: 11, code: 0)),
  ]

  @Test func saysWhatAMessageMeans() {
    for (router, rows) in [(Self.router, Self.rows), (Self.router6, Self.rows6)] {
      for (type, code, words, meaning) in rows {
        let refusal = ConnectionRefusal(offender: router, isOwn: false, type: type, code: code)
        #expect(refusal.words(gateway: nil) == "\(router) says: \(words)")
        #expect(refusal.statement == NetworkStatement(meaning, by: router, isOwn: false), "\(type), \(code)")
        #expect(refusal.sender(gateway: router) == .elsewhere)
      }
    }
  }

  /// The kernel says "host unreachable" in its own name if a neighbour does not answer (RFC 1122, 3.3.2.1; RFC 4861,
  /// 7.2.2).
  @Test func theKernelSpeaksOfASilentNeighbour() {
    for (router, type, code) in [(Self.router, 3, 1), (Self.router6, 1, 3)] as [(IPAddress, UInt8, UInt8)] {
      let refusal = ConnectionRefusal(offender: router, isOwn: true, type: type, code: code)
      #expect(refusal.words(gateway: router) == "the gateway \(router) does not answer")
      #expect(refusal.words(gateway: nil) == "the host does not answer on the link")
      #expect(refusal.sender(gateway: router) == .silentGateway && refusal.sender(gateway: nil) == .silentHost)
      #expect(refusal.statement == NetworkStatement(.hostUnreachable, by: router, isOwn: true))
      // Any other code is this machine's own refusal.
      let other = ConnectionRefusal(offender: router, isOwn: true, type: type, code: 5)
      #expect(other.words(gateway: router).hasPrefix("this machine says: source "))
      #expect(other.sender(gateway: router) == .thisMachine)
    }
  }
}
#endif
