// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// What events add up to.
struct NetworkChangeTests {
  private func prefix(_ number: UInt32) -> IPPrefix {
    .init(IPAddress(ipv4: 0x0A00_0000 + number << 8).bits, length: 24)
  }

  @Test func eachMarkIsAChange() {
    #expect(NetworkChange().isEmpty)
    let marks: [(inout NetworkChange) -> Void] = [
      { $0.markEverything() }, { $0.touchesUnreachable = true }, { $0.markRoute(prefix(0)) },
      { $0.touchesNames = true }, { $0.touchesNameServers = true }, { $0.isUnfinished = true }, { $0.isInDoubt = true },
    ]
    for (position, mark) in marks.enumerated() {
      var change = NetworkChange()
      mark(&change)
      let found = [
        change.touchesEverything, change.touchesUnreachable, !change.prefixes.isEmpty, change.touchesNames,
        change.touchesNameServers, change.isUnfinished, change.isInDoubt,
      ]
      #expect(!change.isEmpty && found == marks.indices.map { $0 == position })
    }
  }

  @Test func aPrefixIsKeptOnceAndTooManyAreEverything() {
    var change = NetworkChange()
    for _ in 0..<2 { change.markRoute(prefix(7)) }
    #expect(Array(change.prefixes) == [prefix(7)])
    for number in UInt32(0)..<200 { change.markRoute(prefix(number)) }
    #expect(change.prefixes.count == 200 && !change.touchesEverything)
    for number in UInt32(200)..<300 { change.markRoute(prefix(number)) }
    #expect(change.touchesEverything && change.prefixes.isEmpty)
    change.markRoute(prefix(1_000))
    #expect(change.prefixes.isEmpty, "it is part of everything")
  }

  @Test func onlyIPv6RoutesConcernItsGateways() {
    var change = NetworkChange()
    change.touchesUnreachable = true
    change.markRoute(prefix(1))
    #expect(!change.touchesIPv6Routes)
    change.markRoute(.init(ip("2001:db8::").bits, length: 32))
    #expect(change.touchesIPv6Routes)
    var everything = NetworkChange()
    everything.markEverything()
    #expect(everything.touchesIPv6Routes)
  }
}
