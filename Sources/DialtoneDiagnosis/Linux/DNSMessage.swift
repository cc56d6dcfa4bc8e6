// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Questions to name servers and their answers (RFC 1035, 4; RFC 3596), as far as they are needed here. Pure.
package enum DNSMessage {
  package enum RecordType: UInt16, Sendable {
    case a = 1
    case nameServer = 2
    case alias = 5
    case aaaa = 28
  }

  package struct Answer: Equatable, Sendable {
    package var id: UInt16
    package var code: NameFinding.ResponseCode
    var addresses: [IPAddress]
    /// Whether the answer did not fit into a datagram.
    var isTruncated: Bool
    /// Whether it repeats the question that was asked (RFC 5452, 9.1): programs drop it if not.
    package var isToQuestion: Bool
    /// Whether it names a name server of what was asked for.
    var hasNameServer = false
    var isAlias = false
  }

  /// Returns a question as it is sent; `nil` if the name does not fit. The empty name is the root. `padding` bytes that
  /// say nothing follow it, if there are to be any (RFC 7830).
  package static func question(
    _ name: String, _ type: RecordType, id: UInt16, wantsRecursion: Bool = true, padding: UInt16 = 0
  ) -> [UInt8]? {
    var bytes = bytes([id, wantsRecursion ? 0x0100 : 0, 1, 0, 0, padding > 0 ? 1 : 0])
    for label in name.split(separator: ".") {
      if label.utf8.count > 63 { return nil }
      bytes.append(UInt8(label.utf8.count))
      bytes += label.utf8
    }
    bytes.append(0)
    if bytes.count > 12 + 255 { return nil }
    bytes += Self.bytes([type.rawValue, 1])  // class IN
    if padding > 0 {
      // The pseudo-record OPT (41) of RFC 6891, which takes answers of 1,232 bytes, with the option Padding (12).
      bytes += [0] + Self.bytes([41, 1_232, 0, 0, padding + 4, 12, padding])
      bytes += [UInt8](repeating: 0, count: Int(padding))
    }
    return bytes
  }

  /// Numbers of two bytes in network order.
  static func bytes(_ numbers: [UInt16]) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

  /// Reads an answer to the question for a name; `nil` if the bytes are none. Only addresses that belong to the name,
  /// or to what it is an alias of, are taken, and none of a failure.
  package static func answer(_ bytes: [UInt8], to name: String, _ type: RecordType) -> Answer? {
    guard let id = number(bytes, 0), let flags = number(bytes, 2), flags & 0x8000 != 0,
      let questions = number(bytes, 4), let answers = number(bytes, 6), bytes.count >= 12
    else { return nil }
    var answer = Answer(
      id: id, code: NameFinding.ResponseCode(UInt8(flags & 0xF)), addresses: [], isTruncated: flags & 0x0200 != 0,
      isToQuestion: false)
    var owner = name.split(separator: ".").map { Array(ASCII.folded($0).utf8) }
    var offset = 12
    for _ in 0..<questions {
      guard let asked = self.name(bytes, offset), asked.end + 4 <= bytes.count else { return nil }
      let kind = [number(bytes, asked.end), number(bytes, asked.end + 2)]
      answer.isToQuestion = asked.labels == owner && kind == [type.rawValue, 1]  // class IN
      offset = asked.end + 4
    }
    // One that cannot read the question says so without it (RFC 1035, 4.1.1: format error).
    if questions != 1 { answer.isToQuestion = questions == 0 && answer.code != .success }
    // Without an answer, authority (AA) and recursion (RA) it only says whom else to ask: libc asks the next server.
    if answers == 0, answer.code == .success, flags & 0x0480 == 0 { answer.code = .referral }
    for _ in 0..<answers {
      guard let record = record(bytes, offset) else {
        // What does not fit is left out, as the flag says.
        return answer.isTruncated ? answer : nil
      }
      offset = record.end
      if record.owner != owner { continue }
      if record.type == RecordType.alias.rawValue, let alias = self.name(bytes, record.data.startIndex) {
        owner = alias.labels
        answer.isAlias = true
      } else if record.type == RecordType.nameServer.rawValue {
        answer.hasNameServer = true
      } else if record.type == type.rawValue, answer.code == .success, let address = address(record.data, type),
        !answer.addresses.contains(address)
      {
        answer.addresses.append(address)
      }
    }
    return answer
  }

  private typealias Record = (owner: [[UInt8]], type: UInt16, data: ArraySlice<UInt8>, end: Int)

  private static func record(_ bytes: [UInt8], _ start: Int) -> Record? {
    guard let owner = name(bytes, start), let type = number(bytes, owner.end), let length = number(bytes, owner.end + 8)
    else { return nil }
    let data = owner.end + 10
    guard data + Int(length) <= bytes.count else { return nil }
    return (owner.labels, type, bytes[data..<data + Int(length)], data + Int(length))
  }

  /// Two bytes as a number; `nil` behind the end.
  static func number(_ bytes: [UInt8], _ offset: Int) -> UInt16? {
    offset + 2 <= bytes.count ? UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]) : nil
  }

  /// Whether an answer to a question for the root's name servers is one that only a root server gives: with authority
  /// (AA), without recursion (RA), and its time to live whole, which no cache has (RFC 9609). `nil` if it is none.
  static func isOfRoot(_ bytes: [UInt8], id: UInt16) -> Bool? {
    // The header, then the root (one byte), its type and class.
    guard let answer = answer(bytes, to: "", .nameServer), answer.id == id, answer.isToQuestion,
      let flags = number(bytes, 2)
    else { return nil }
    guard answer.code == .success, flags & 0x0400 != 0, flags & 0x0080 == 0, let first = record(bytes, 17),
      first.type == RecordType.nameServer.rawValue, let lifetime = number(bytes, first.end - first.data.count - 6),
      let rest = number(bytes, first.end - first.data.count - 4)
    else { return false }
    return UInt32(lifetime) << 16 | UInt32(rest) == rootLifetime
  }

  /// The time to live of the root's NS records, in seconds: six days (the root zone, IANA).
  private static let rootLifetime: UInt32 = 518_400

  private static func address(_ data: ArraySlice<UInt8>, _ type: RecordType) -> IPAddress? {
    guard data.count == (type == .aaaa ? 16 : 4) else { return nil }
    var reader = NetworkByteReader(data)
    return reader.address(isIPv6: type == .aaaa).map { IPAddress($0) }
  }

  /// Reads a name in small letters, and where it ends. Pointers lead back (RFC 1035, 4.1.4), so that none goes round.
  private static func name(_ bytes: [UInt8], _ start: Int) -> (labels: [[UInt8]], end: Int)? {
    var labels: [[UInt8]] = []
    var end: Int?
    var offset = start
    while offset < bytes.count {
      let length = Int(bytes[offset])
      if length == 0 { return (labels, end ?? offset + 1) }
      if length & 0xC0 == 0xC0 {
        guard let pointer = number(bytes, offset).map({ Int($0 & 0x3FFF) }), pointer < offset else { return nil }
        end = end ?? offset + 2
        offset = pointer
        continue
      }
      guard length & 0xC0 == 0, offset + 1 + length <= bytes.count, labels.count < 128 else { return nil }
      labels.append(bytes[offset + 1..<offset + 1 + length].map { ASCII.folded($0) })
      offset += 1 + length
    }
    return nil
  }
}
