// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The check sum of gzip (RFC 1952, 8).
struct CRC32 {
  private var register: UInt32 = 0xFFFF_FFFF

  /// The sum of the bytes so far.
  var value: UInt32 { ~register }

  mutating func add(_ byte: UInt8) {
    register = Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ register >> 8
  }

  private static let table = (0..<256).map { (index: UInt32) -> UInt32 in
    var value = index
    for _ in 0..<8 {
      let isOdd = value & 1 == 1
      value >>= 1
      if isOdd { value ^= 0xEDB8_8320 }
    }
    return value
  }
}
