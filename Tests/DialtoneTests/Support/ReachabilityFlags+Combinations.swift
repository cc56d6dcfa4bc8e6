// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone

extension ReachabilityFlags {
  /// Apple's bits with their letters, as the numbers of SCNetworkReachability.h, so that no test takes them from what
  /// it tests.
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
}
