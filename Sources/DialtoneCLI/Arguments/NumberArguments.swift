// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

enum PortArgument {
  static func parse(_ text: String) throws -> UInt16 {
    guard let port = PortNumber.parse(text) else {
      throw ValidationError("that is not a port; give a number from 1 to 65535, such as 443")
    }
    return port
  }
}

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

enum LineCount {
  static let maximum = 1_000_000_000

  static func parse(_ text: String) throws -> Int {
    let isNumber = !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit)
    let isNegative = text.first == "-" && Int(text) != nil
    guard isNumber || isNegative else {
      throw ValidationError("that is not a whole number; give the number of lines, such as 1")
    }
    if isNegative || Int(text) == 0 { throw ValidationError("there is no such number of lines; give 1 or more") }
    guard let count = Int(text), count <= maximum else {
      throw ValidationError("that is too much; give \(maximum) lines at most, or leave it out for no end")
    }
    return count
  }
}

/// How many checks run at a time, as it is typed.
enum Concurrency {
  static let usual = 64
  /// Each check has a descriptor, and a few more while it tries several addresses.
  static let maximum = 256

  static func parse(_ text: String) throws -> Int {
    guard let number = Int(text), text.utf8.allSatisfy(ASCII.isDigit), (1...maximum).contains(number)
    else { throw ValidationError("that is no number of checks at a time; give 1 to \(maximum)") }
    return number
  }
}
