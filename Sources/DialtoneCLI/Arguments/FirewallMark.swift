// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A firewall mark as it is typed: decimal, or hexadecimal after `0x` (SO_MARK, socket(7)).
enum FirewallMark {
  static func parse(_ text: String) throws -> UInt32 {
    let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
    let digits = isHexadecimal ? text.dropFirst(2) : text[...]
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && (isHexadecimal ? $0.isHexDigit : $0.isNumber) }) else {
      throw ValidationError("that is not a mark; give a number from 0 to 4294967295, or 0x0 to 0xffffffff")
    }
    if !isHexadecimal, digits.count > 1, digits.first == "0" {
      throw ValidationError("a number that begins with a zero may be octal or decimal; leave the zero out, or write 0x")
    }
    guard let mark = UInt32(digits, radix: isHexadecimal ? 16 : 10) else {
      throw ValidationError("a mark has 32 bits; give 4294967295 (0xffffffff) at most")
    }
    return mark
  }
}
