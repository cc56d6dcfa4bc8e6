// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Addresses as the attributes of rtnetlink hold them.
extension IPAddressBits {
  /// Reads an address that must be of the family its message names; other families than IP are taken by their size.
  @inline(__always)
  init?(_ bytes: RawSpan, in range: Range<Int>, family: KernelAddressFamily) {
    self.init(bytes, in: range)
    if family == .ipv4 && isIPv6 || family == .ipv6 && !isIPv6 { return nil }
  }

  /// Reads `struct rtvia` (linux/rtnetlink.h): a 16-bit family, then an address of it.
  init?(via range: Range<Int>, in bytes: RawSpan) {
    guard range.count > 2, let family: UInt16 = bytes.integer(at: range.lowerBound) else { return nil }
    self.init(bytes, in: (range.lowerBound + 2)..<range.upperBound)
    guard family == UInt16(self.family.rawValue) else { return nil }
  }
}
