// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How many checks run at a time, as it is typed.
enum Concurrency {
  static let usual = 64
  /// Each check has a descriptor, and a few more while it tries several addresses.
  static let maximum = 256

  static func parse(_ text: String) throws -> Int {
    guard let number = Int(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), (1...maximum).contains(number)
    else { throw ValidationError("that is no number of checks at a time; give 1 to \(maximum)") }
    return number
  }
}
