// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

// Invariant: `rest` lies inside the bytes that the reader was made with. What does not fit is `nil`, and then nothing
// is taken: a stranger's number never becomes an offset without a look at the bounds.

/// Reads numbers and addresses in network order (RFC 791, appendix B), one after another, from bytes that anybody may
/// have written.
struct NetworkByteReader: Sendable {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var count: Int { rest.count }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Takes `count` bytes away. Returns whether there were that many.
  mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

  mutating func uint8() -> UInt8? { rest.popFirst() }

  mutating func uint16() -> UInt16? { bytes(2).map { UInt16(truncatingIfNeeded: Self.number($0)) } }

  mutating func uint32() -> UInt32? { bytes(4).map { UInt32(truncatingIfNeeded: Self.number($0)) } }

  mutating func address(isIPv6: Bool) -> IPAddressBits? {
    guard let bytes = bytes(isIPv6 ? 16 : 4) else { return nil }
    return isIPv6
      ? IPAddressBits(ipv6High: Self.number(bytes.prefix(8)), low: Self.number(bytes.suffix(8)))
      : IPAddressBits(ipv4: UInt32(truncatingIfNeeded: Self.number(bytes)))
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
