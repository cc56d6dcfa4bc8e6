// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Testing

@testable import Dialtone

struct QueryTableTests {
  /// Answers, and calls `onAnswer` while it does.
  private final class Source: NetworkSource {
    var onAnswer: () -> Void = {}
    private(set) var count = 0

    func drain(into change: inout NetworkChange) {}

    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      count += queries.count
      onAnswer()
      for position in queries.indices { receive(position, Reachability(status: .reachable)) }
    }

    func path(_ configuration: PathConfiguration) -> PathAnswer { PathAnswer(NetworkPath(.satisfied)) }
  }

  @Test func aQueryThatIsTouchedWhileItIsAskedIsAskedAgain() {
    let table = QueryTable()
    let record = TargetRecord(.address(IPAddress(ipv4: 0xC000_0207)), ReachabilityConfiguration())
    record.nodes = table.attach(record.initialQueries, to: record)
    // They hold each other until then.
    defer { table.detach(record.nodes, from: record) }
    let source = Source()
    source.onAnswer = {
      var change = NetworkChange()
      change.markEverything()
      _ = table.mark(change)
    }
    table.ask(source) { _ in }
    #expect(source.count == 1)
    #expect(table.isStale)
    source.onAnswer = {}
    table.ask(source) { _ in }
    #expect(source.count == 2)
    #expect(!table.isStale)
  }
}
