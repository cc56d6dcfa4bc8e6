// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

struct FlagsSummaryTests {
  @Test(arguments: [
    ("", "not reachable"), ("WctiCDld", "not reachable"), ("R", "reachable"),
    ("RW", "reachable over a cellular interface"), ("RWtld", "reachable over a cellular interface"),
    ("Rl", "reachable on this machine"), ("Rltd", "reachable on this machine"),
    ("Rt", "reachable over a transient connection"), ("Rtd", "reachable over a transient connection"),
    ("Rd", "reachable without a gateway"), ("Ri", "reachable"), ("RCD", "reachable"),
    ("RWc", "reachable over a cellular interface, once a connection is made"),
    ("Rc", "reachable, once a connection is made"), ("RcC", "reachable, once traffic makes a connection"),
    ("RcCD", "reachable, once traffic makes a connection"), ("RcD", "reachable, once a connection is made on demand"),
    ("RcCDi", "reachable, once somebody acts and a connection is made"),
    ("RWctid", "reachable over a cellular interface, once somebody acts and a connection is made"),
  ])
  func saysWhatConcernsAPersonMost(letters: String, summary: String) {
    let bits = ReachabilityFlags.lettersByBit.filter { letters.contains($0.letter) }.map { UInt32(1) << $0.bit }
    #expect(ReachabilityFlags(rawValue: bits.reduce(0, |)).summary() == summary)
  }

  @Test func isReachableInWordsExactlyIfItIsInBits() {
    for flags in ReachabilityFlags.combinations {
      #expect(flags.summary().hasPrefix("reachable") == flags.contains(.reachable))
      #expect(flags.summary().contains(", once") == flags.isSuperset(of: [.reachable, .connectionRequired]))
      #expect(!flags.summary().contains("{"))
    }
  }
}
