// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

struct FlagsTextTests {
  @Test func bothFormsAreReadBackForEveryCombination() {
    #expect(Set(ReachabilityFlags.combinations).count == 512)
    var texts: Set<String> = []
    for flags in ReachabilityFlags.combinations {
      #expect(ReachabilityFlags(flags.description) == flags)
      #expect(ReachabilityFlags(flags.descriptionByBit) == flags)
      #expect(flags.description.count == 10)
      #expect(flags.descriptionByBit.count == 9)
      texts.formUnion([flags.description, flags.descriptionByBit])
    }
    #expect(texts.count == 1024)
  }

  static let written: [(description: String, byBit: String, flags: ReachabilityFlags)] = [
    ("-R -------", "-------R-", .reachable),
    ("-R -----l-", "--l----R-", [.reachable, .isLocalAddress]),
    ("WR tcCiDld", "WdlDiCcRt", ReachabilityFlags(rawValue: 0x7_003F)),
    ("-- -------", "---------", []),
    ("WR tc-----", "W-----cRt", [.reachable, .isWWAN, .connectionRequired, .transientConnection]),
  ]

  @Test(arguments: 0..<written.count)
  func isWrittenAsTheLibrariesWroteIt(position: Int) {
    let (description, byBit, flags) = Self.written[position]
    #expect(flags.description == description)
    #expect(flags.descriptionByBit == byBit)
    #expect(ReachabilityFlags(description) == flags)
    #expect(ReachabilityFlags(byBit) == flags)
    #expect(ReachabilityFlags(description[...]) == flags)
  }

  @Test(arguments: [
    "", " ", "-", "R", "reachable", "-R", "-R-------", "-R ------", "WR ctiCDld", "-R --------", "-R  -------",
    " -R -------",
    "-R ------- ", "-R -------\n", "-r -------", "R- -------", "-R -d-----", "-R------- ", "-R\t-------", "-R ------l",
    "-R------- -", "--------R", "-------r-", "-------R- ", " -------R-", "-------R", "tRcCiDldW", "WdlDiCcRtt",
    "WdlDiCcR ", "-R\u{301} -------", "-R -------\u{301}", "-------R\u{301}-", "−R -------", "-R\0-------", "🏁",
  ])
  func refusesOtherTexts(text: String) {
    #expect(ReachabilityFlags(text) == nil)
  }

  @Test func bitsWithoutALetterAreNotWritten() {
    let flags = ReachabilityFlags(rawValue: 0x8000_0002)
    #expect(flags.descriptionByBit == "-------R-")
    #expect(ReachabilityFlags(flags.descriptionByBit) == .reachable)
  }
}
