// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import Netlink

/// Questions to name servers and their answers (RFC 1035, 4; RFC 3596), as far as a diagnosis needs them. Pure.
enum DNSMessage {
  /// What is asked for.
  enum RecordType: UInt16, Sendable {
    case a = 1
    case nameServer = 2
    case aaaa = 28
  }

  /// A name server's answer.
  struct Answer: Equatable, Sendable {
    var id: UInt16
    var code: NameFinding.ResponseCode
    var addresses: [IPAddress]
    /// Whether the answer did not fit into a datagram.
    var isTruncated: Bool
  }

  /// Returns a question as it is sent; `nil` if the name does not fit. The empty name is the root.
  static func question(
    _ name: String, _ type: RecordType, id: UInt16, wantsRecursion: Bool = true
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    func append(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xFF)] }
    append(id)
    append(wantsRecursion ? 0x0100 : 0)
    append(1)
    for _ in 0..<3 { append(0) }
    for label in name.split(separator: ".") {
      if label.utf8.count > 63 { return nil }
      bytes.append(UInt8(label.utf8.count))
      bytes += label.utf8
    }
    bytes.append(0)
    if bytes.count > 12 + 255 { return nil }
    append(type.rawValue)
    append(1)  // class IN
    return bytes
  }

  /// Reads an answer; `nil` if the bytes are none.
  static func answer(_ bytes: [UInt8]) -> Answer? {
    func number(_ offset: Int) -> UInt16? {
      offset + 2 <= bytes.count ? UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]) : nil
    }
    guard let id = number(0), let flags = number(2), flags & 0x8000 != 0, let questions = number(4),
      let answers = number(6), bytes.count >= 12
    else { return nil }
    var answer = Answer(
      id: id, code: NameFinding.ResponseCode(UInt8(flags & 0xF)), addresses: [], isTruncated: flags & 0x0200 != 0)
    var offset = 12
    for _ in 0..<questions {
      guard let end = skipName(bytes, offset) else { return nil }
      offset = end + 4
    }
    for _ in 0..<answers {
      guard let end = skipName(bytes, offset), let type = number(end), let length = number(end + 8) else {
        // What does not fit is left out, as the flag says.
        return answer.isTruncated ? answer : nil
      }
      let data = end + 10
      guard data + Int(length) <= bytes.count else { return answer.isTruncated ? answer : nil }
      if let address = address(bytes[data..<data + Int(length)], type), !answer.addresses.contains(address) {
        answer.addresses.append(address)
      }
      offset = data + Int(length)
    }
    return answer
  }

  /// Whether an answer to a question for the root's name servers is one that only a root server gives: with authority
  /// (AA), without recursion (RA), and its time to live whole, which no cache has (RFC 9609). `nil` if it is none.
  static func isOfRoot(_ bytes: [UInt8], id: UInt16) -> Bool? {
    func number(_ offset: Int) -> UInt32? {
      offset + 2 <= bytes.count ? UInt32(bytes[offset]) << 8 | UInt32(bytes[offset + 1]) : nil
    }
    // The header, the root (one byte), its type and class, and of the first record the same and its time to live.
    guard let answer = answer(bytes), answer.id == id, number(4) == 1, bytes[12] == 0,
      number(13) == UInt32(RecordType.nameServer.rawValue), let flags = number(2), let count = number(6)
    else { return nil }
    guard answer.code == .success, count > 0, flags & 0x0400 != 0, flags & 0x0080 == 0,
      let owner = skipName(bytes, 17), number(owner) == UInt32(RecordType.nameServer.rawValue),
      let high = number(owner + 4), let low = number(owner + 6)
    else { return false }
    return high << 16 | low == rootLifetime
  }

  /// The time to live of the root's NS records, in seconds: six days (the root zone, IANA).
  private static let rootLifetime: UInt32 = 518_400

  private static func address(_ data: ArraySlice<UInt8>, _ type: UInt16) -> IPAddress? {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    switch (type, data.count) {
    case (RecordType.a.rawValue, 4): return IPAddress(ipv4: UInt32(truncatingIfNeeded: number(data)))
    case (RecordType.aaaa.rawValue, 16):
      return IPAddress(IPAddressBits(ipv6High: number(data.prefix(8)), low: number(data.suffix(8))))
    default: return nil
    }
  }

  /// Returns where a name ends. A pointer ends it, too (RFC 1035, 4.1.4).
  private static func skipName(_ bytes: [UInt8], _ start: Int) -> Int? {
    var offset = start
    while offset < bytes.count {
      let length = bytes[offset]
      if length == 0 { return offset + 1 }
      if length & 0xC0 == 0xC0 { return offset + 2 <= bytes.count ? offset + 2 : nil }
      if length & 0xC0 != 0 { return nil }
      offset += 1 + Int(length)
    }
    return nil
  }
}
