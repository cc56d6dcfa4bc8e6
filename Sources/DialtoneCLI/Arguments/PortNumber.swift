// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A port as it is typed.
enum PortNumber {
  static func parse(_ text: String) throws -> UInt16 {
    guard let port = number(text) else {
      throw ValidationError("that is not a port; give a number from 1 to 65535, such as 443")
    }
    return port
  }

  /// The port, or `nil` if `text` is none.
  static func number(_ text: some StringProtocol) -> UInt16? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text), port > 0 else { return nil }
    return port
  }
}
