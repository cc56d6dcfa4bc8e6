// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Testing

@testable import Dialtone

/// Which of several answers becomes the target's state.
struct TargetRankingTests {
  private static let reachable = Reachability(status: .reachable, flags: .reachable, interface: interface("a"))
  private static let alsoReachable = Reachability(status: .reachable, flags: .reachable, interface: interface("b"))
  private static let dormant = Reachability(
    status: .requiresConnection, flags: [.reachable, .connectionRequired], reason: .dormant)
  private static let denied = Reachability.denied
  private static let noRoute = Reachability(status: .unreachable, reason: .noRoute)
  private static let noCarrier = Reachability(status: .unreachable, reason: .noCarrier)
  private static let prohibited = Reachability(status: .unreachable, reason: .prohibited)

  private static func nodes(_ answers: [Reachability?]) -> [QueryNode] {
    answers.enumerated().map { position, answer in
      let node = QueryNode(RouteQuery(.address(IPAddress(ipv4: UInt32(position)))))
      node.answer = answer
      return node
    }
  }

  @Test func reachableComesBeforeAConnectionBeforeUnknownBeforeNone() {
    let ranked = [Self.reachable, Self.dormant, Self.denied, Self.noCarrier]
    for better in 0..<ranked.count {
      for worse in better..<ranked.count {
        #expect(TargetRecord.best(Self.nodes([ranked[better], ranked[worse]])) == ranked[better])
        #expect(TargetRecord.best(Self.nodes([ranked[worse], ranked[better]])) == ranked[better])
      }
    }
  }

  @Test func theFirstOfEqualAnswersWins() {
    #expect(TargetRecord.best(Self.nodes([Self.reachable, Self.alsoReachable])) == Self.reachable)
    #expect(TargetRecord.best(Self.nodes([Self.alsoReachable, Self.reachable])) == Self.alsoReachable)
    #expect(TargetRecord.best(Self.nodes([Self.noCarrier, Self.prohibited])) == Self.noCarrier)
    #expect(TargetRecord.best(Self.nodes([Self.prohibited, Self.noCarrier])) == Self.prohibited)
  }

  @Test func anyReasonSaysMoreThanNoRoute() {
    for other in [Self.noCarrier, Self.prohibited] {
      #expect(TargetRecord.best(Self.nodes([Self.noRoute, other])) == other)
      #expect(TargetRecord.best(Self.nodes([other, Self.noRoute])) == other)
    }
    #expect(TargetRecord.best(Self.nodes([Self.noRoute, Self.noRoute])) == Self.noRoute)
  }

  @Test func nothingIsDecidedWhileAnAnswerIsMissing() {
    #expect(TargetRecord.best(Self.nodes([])) == nil)
    #expect(TargetRecord.best(Self.nodes([nil])) == nil)
    #expect(TargetRecord.best(Self.nodes([Self.reachable, nil])) == nil)
    #expect(TargetRecord.best(Self.nodes([nil, Self.reachable])) == nil)
  }
}
