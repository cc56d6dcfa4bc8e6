// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A number of lines as it is typed.
enum LineCount {
  static let maximum = 1_000_000_000

  static func parse(_ text: String) throws -> Int {
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
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
