// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Which queries an event touches, and which addresses the source has to know.
struct QueryTableTests {
  private let source = CountedSource()
  private let user = TargetRecord(TargetQuestion(.internet, .init()))

  private func queries(_ addresses: [IPAddress]) -> [RouteQuery] { addresses.map { RouteQuery(.address($0)) } }

  /// The addresses that are asked about after the change.
  private func asked(_ table: inout QueryTable, _ mark: (inout NetworkChange) -> Void) -> Set<IPAddress> {
    var change = NetworkChange()
    mark(&change)
    _ = table.mark(change)
    source.asked = []
    table.ask(source)
    return Set(source.asked)
  }

  @Test func anIdleLinkTouchesWhatIsNotReachable() {
    var table = QueryTable()
    let (fine, lost) = (ip("192.0.2.1"), ip("192.0.2.2"))
    source.answers[lost] = Reachability(status: .unreachable, reason: .noRoute)
    _ = table.attach(queries([fine, lost]), to: user)
    table.ask(source)
    let asked1 = asked(&table) { $0.touchesUnreachable = true }
    #expect(asked1 == [lost])
    // It is reachable by now.
    source.answers[lost] = nil
    let asked2 = asked(&table) { $0.touchesUnreachable = true }
    #expect(asked2 == [lost])
    let asked3 = asked(&table) { $0.touchesUnreachable = true }
    #expect(asked3 == [])
    let asked4 = asked(&table) { $0.markEverything() }
    #expect(asked4 == [fine, lost])
  }

  @Test func whatNobodyAsksForAnyMoreIsForgotten() {
    var table = QueryTable()
    let (kept, left) = (ip("192.0.2.1"), ip("192.0.2.2"))
    _ = table.attach(queries([kept]), to: user)
    let nodes = table.attach(queries([left]), to: user)
    table.ask(source)
    table.isInterestStale = false
    table.detach(nodes, from: user)
    #expect(table.isInterestStale)
    #expect(table.interest == [kept])
    let asked5 = asked(&table) { $0.markRoute(.init(ip("192.0.2.0").bits, length: 24)) }
    #expect(asked5 == [kept])
    // Asked for again, it is asked at once.
    _ = table.attach(queries([left]), to: user)
    source.asked = []
    table.ask(source)
    #expect(source.asked == [left])
  }

  @Test func upToSixteenAddressesAreNamedToTheSource() {
    var table = QueryTable()
    let addresses = (1...17).map { IPAddress(ipv4: 0xC000_0200 + UInt32($0)) }
    _ = table.attach(queries(Array(addresses.prefix(16))), to: user)
    #expect(table.interest.map(Set.init) == Set(addresses.prefix(16)))
    let last = table.attach(queries([addresses[16]]), to: user)
    #expect(table.interest == nil)
    table.detach(last, from: user)
    #expect(table.interest?.count == 16)
  }
}
