// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The rules of the older libraries and their texts, compared with what the originals returned.
struct OriginalRulesTests {
  struct Rule: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let letter: Character
    let holds: @Sendable (ReachabilityFlags) -> Bool

    init(_ name: String, _ letter: Character, holds: @escaping @Sendable (ReachabilityFlags) -> Bool) {
      (testDescription, self.letter, self.holds) = (name, letter, holds)
    }
  }

  static let rules: [Rule] = [
    Rule("DTReachability isReachable", "r") { $0.isReachableWithoutConnection },
    Rule("DTReachability isWWAN", "w") { $0.isCellular },
    Rule("KSReachability reachable", "R") { $0.isReachableWithoutIntervention },
    Rule("KSReachability WWANOnly", "W") { $0.isCellularOnly },
    Rule("RKReachabilityObserver isConnectionRequired", "c") { $0.contains(.connectionRequired) },
    Rule("RKReachabilityObserver isConnectionOnDemand", "d") { $0.isConnectionOnDemand },
    Rule("RKReachabilityObserver isInterventionRequired", "i") { $0.isInterventionRequired },
  ]

  @Test func theTableHasEveryCombination() {
    #expect(OriginalRules.all.count == 512)
    #expect(Set(OriginalRules.all.map(\.flags)) == Set(ReachabilityFlags.combinations))
  }

  @Test(arguments: rules)
  func aRuleHoldsExactlyIfItHeldInTheOriginal(rule: Rule) {
    for original in OriginalRules.all {
      #expect(rule.holds(original.flags) == original.rules.contains(rule.letter), "\(original.description)")
    }
  }

  @Test func bothTextsAreThoseOfTheOriginalsAndAreReadBack() {
    for original in OriginalRules.all {
      #expect(original.flags.description == original.description)
      #expect(original.flags.descriptionByBit == original.descriptionByBit)
      #expect(ReachabilityFlags(original.description) == original.flags)
      #expect(ReachabilityFlags(original.descriptionByBit) == original.flags)
    }
  }

  @Test func theDecisionIsThatOfTheOriginals() {
    for original in OriginalRules.all {
      #expect(Self.word(original.flags.connectivity()) == original.network, "\(original.description)")
      #expect(
        Self.word(original.flags.connectivity(to: .localNetwork)) == original.localNetwork, "\(original.description)")
    }
  }

  /// The word that the table has for it.
  static func word(_ connectivity: ReachabilityFlags.Connectivity) -> String {
    switch connectivity {
    case .unreachable: "none"
    case .nonCellular: "wifi"
    case .cellular: "wwan"
    }
  }
}
