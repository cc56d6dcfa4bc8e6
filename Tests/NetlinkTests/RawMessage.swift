// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone

/// Messages written byte by byte, so that the builder of requests has no part in what its readers are tested with.
enum RawMessage {
  /// `struct nlmsghdr` (linux/netlink.h: length, type, flags, number, port), then the parts as they are.
  static func bytes(_ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, _ parts: [UInt8]...) -> [UInt8] {
    let body = parts.flatMap { $0 }
    return host(UInt32(16 + body.count)) + host(type) + host(flags) + host(sequence) + host(UInt32(0)) + body
  }

  /// `struct nlattr`, and the padding behind it.
  static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
    host(UInt16(4 + payload.count)) + host(type) + payload + zeros((4 - payload.count % 4) % 4)
  }

  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// An integer in this machine's order, which is netlink's (netlink(7)).
  static func host(_ value: some FixedWidthInteger) -> [UInt8] {
    var value = value
    return unsafe withUnsafeBytes(of: &value) { unsafe Array($0) }
  }

  static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  /// 2001:db8::, with a last byte.
  static func ipv6(_ last: UInt8) -> [UInt8] { [0x20, 0x01, 0x0d, 0xb8] + zeros(11) + [last] }

  /// The same as a number.
  static func address(_ last: UInt64) -> IPAddressBits { IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: last) }
}
