// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone

extension ReachabilityFlags {
  /// Apple's bits with their letters, as the numbers of SCNetworkReachability.h, so that no test takes them from what it tests.
  static let lettersByBit: [(bit: UInt32, letter: Character)] = [
    (18, "W"), (17, "d"), (16, "l"), (5, "D"), (4, "i"), (3, "C"), (2, "c"), (1, "R"), (0, "t"),
  ]

  /// Each of the 512 combinations of the nine flags.
  static let combinations: [ReachabilityFlags] = (0..<512).map { number in
    ReachabilityFlags(
      rawValue: lettersByBit.enumerated().reduce(0) { bits, entry in
        number >> entry.offset & 1 == 0 ? bits : bits | 1 << entry.element.bit
      })
  }

  /// The letters of the flags that are set, found by number.
  var letters: Set<Character> { Set(Self.lettersByBit.filter { rawValue >> $0.bit & 1 == 1 }.map(\.letter)) }

  /// Whether the flags have every letter of `pattern`, and none that stands after its `!`.
  func match(_ pattern: String) -> Bool {
    let parts = pattern.split(separator: "!", maxSplits: 1, omittingEmptySubsequences: false)
    let letters = letters
    return letters.isSuperset(of: parts[0]) && (parts.count == 1 || letters.isDisjoint(with: parts[1]))
  }
}
