// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address as a number: cheap to compare, to mask, and to keep in a snapshot of plain bits.
///
/// The value is in host order, the most significant bits first: IPv6 in `high` and `low`, IPv4 in the low 32 bits of
/// `low`. Order is by family, IPv4 first, then by value.
package struct IPAddressBits: Hashable, Sendable, BitwiseCopyable {
  package let isIPv6: Bool
  package let high: UInt64
  package let low: UInt64

  package init(ipv4 value: UInt32) {
    isIPv6 = false
    high = 0
    low = UInt64(value)
  }

  package init(ipv6High high: UInt64, low: UInt64) {
    isIPv6 = true
    self.high = high
    self.low = low
  }

  /// Reads an address in network order. 4 bytes are IPv4, 16 bytes are IPv6; other sizes give `nil`.
  package init?(_ bytes: RawSpan, in range: Range<Int>) {
    switch range.count {
    case 4:
      guard let value: UInt32 = bytes.integer(at: range.lowerBound) else { return nil }
      self.init(ipv4: UInt32(bigEndian: value))
    case 16:
      guard bytes.contains(range), let high: UInt64 = bytes.integer(at: range.lowerBound),
        let low: UInt64 = bytes.integer(at: range.lowerBound + 8)
      else { return nil }
      self.init(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    default:
      return nil
    }
  }

  /// 32 or 128.
  package var bitWidth: Int { isIPv6 ? 128 : 32 }
  package var byteCount: Int { isIPv6 ? 16 : 4 }
  package var family: KernelAddressFamily { isIPv6 ? .ipv6 : .ipv4 }

  /// Whether this is an IPv4 address written as IPv6, `::ffff:a.b.c.d` (RFC 4291, 2.5.5.2).
  package var isIPv4Mapped: Bool { isIPv6 && high == 0 && low >> 32 == 0xffff }

  /// The IPv4 address inside an IPv4-mapped one; any other address as it is.
  package var unmapped: IPAddressBits {
    isIPv4Mapped ? IPAddressBits(ipv4: UInt32(truncatingIfNeeded: low)) : self
  }

  /// The address with all but its first `length` bits cleared. A length out of range is clamped.
  package func prefix(_ length: Int) -> IPAddressBits {
    guard isIPv6 else {
      return IPAddressBits(ipv4: UInt32(truncatingIfNeeded: low) & (UInt32.max << (32 - min(max(length, 0), 32))))
    }
    // A shift by 64 gives 0 in Swift, so the ends need no case of their own.
    let highMask = UInt64.max << (64 - min(max(length, 0), 64))
    let lowMask = UInt64.max << (128 - min(max(length, 64), 128))
    return IPAddressBits(ipv6High: high & highMask, low: low & lowMask)
  }

  /// Whether the address lies inside a prefix of its own family. Bits of `prefix` after `length` do not matter.
  package func matches(prefix: IPAddressBits, length: Int) -> Bool {
    isIPv6 == prefix.isIPv6 && self.prefix(length) == prefix.prefix(length)
  }
}

extension IPAddressBits: Comparable {
  package static func < (first: IPAddressBits, second: IPAddressBits) -> Bool {
    if first.isIPv6 != second.isIPv6 { return second.isIPv6 }
    return first.high != second.high ? first.high < second.high : first.low < second.low
  }
}

/// Addresses that begin with the same bits.
package struct IPPrefix: Hashable, Sendable, BitwiseCopyable {
  package var address: IPAddressBits
  package var length: Int

  package init(_ address: IPAddressBits, length: Int) {
    self.address = address
    self.length = length
  }
}

/// An address family as the Linux kernel numbers it (`AF_…`, bits/socket.h). Other systems number IPv6 differently, so
/// the parser, which builds on every platform, has its own.
package struct KernelAddressFamily: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let unspecified = Self(rawValue: 0)
  package static let ipv4 = Self(rawValue: 2)
  package static let ipv6 = Self(rawValue: 10)
}
