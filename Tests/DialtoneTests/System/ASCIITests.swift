// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct ASCIITests {
  /// Unicode has the same letters, and more behind them: these stay as they are.
  @Test func changesTheCaseOfLettersAlone() {
    for byte in UInt8.min...UInt8.max {
      let character = Character(UnicodeScalar(byte))
      #expect(ASCII.capital(byte) == (byte < 128 ? character.uppercased().utf8.first : byte), "\(byte)")
      #expect(ASCII.folded(byte) == (byte < 128 ? character.lowercased().utf8.first : byte), "\(byte)")
      #expect(ASCII.isLetter(byte) == (byte < 128 && character.isLetter), "\(byte)")
      #expect(ASCII.isDigit(byte) == (byte < 128 && character.isNumber), "\(byte)")
    }
  }
}
