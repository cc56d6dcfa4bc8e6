// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// More IPv6 gateways than the kernel's filter can compare.
struct GatewayTableTests {
  private static let limit = KernelFilter.gatewayLimit
  private static let second: Int64 = 1_000_000_000

  private func gateway(_ number: Int) -> IPAddressBits { IPAddressBits(ipv6High: 0xfe80 << 48, low: UInt64(number)) }

  private func reply(_ number: Int, over link: UInt32 = 1) throws -> RouteReplies {
    RouteReplies(match: try BuiltMessages.route(.ipv6, over: link, via: "fe80::\(String(number, radix: 16))"))
  }

  @Test func onlyAGatewayOfAnAnswerFindsTheTableTooSmall() {
    var table = GatewayTable()
    for number in 1...Self.limit {
      let isAdded = table.add(gateway(number), on: 1, isFailed: false)
      #expect(isAdded && !table.isOverfull)
    }
    // Neighbours that are failed are watched as far as there is room, and one that is there needs none.
    for (number, isFailed) in [(100, true), (1, false)] {
      let isAdded = table.add(gateway(number), on: 1, isFailed: isFailed)
      #expect(!isAdded && !table.isOverfull)
    }
    for (number, isFailed) in [(100, false), (101, true)] {
      let isAdded = table.add(gateway(number), on: 1, isFailed: isFailed)
      #expect(!isAdded && table.isOverfull)
    }
    #expect(table.gateways.count == Self.limit)
  }

  @Test func onlyAnotherStateOfAGatewayThatIsThereIsAChange() {
    var table = GatewayTable()
    func update(_ number: Int, isFailed: Bool) -> Bool { table.update(gateway(number), on: 1, isFailed: isFailed) }
    let isAdded = table.add(gateway(1), on: 1, isFailed: false)
    #expect(isAdded)
    let changes = [
      update(1, isFailed: false), update(2, isFailed: true), update(1, isFailed: true), update(1, isFailed: true),
      table.update(gateway(1), on: 2, isFailed: false), update(1, isFailed: false),
    ]
    #expect(changes == [false, false, true, false, false, true])
  }

  @Test(
    "all are forgotten for lack of room, so that those in use come back: at most once a minute",
    .enabled(if: NetworkLab.isAvailable, "needs network namespaces"))
  func gatewaysAreForgottenAtMostOnceAMinute() throws {
    let lab = try NetworkLab()
    try lab.run {
      let (queries, events) = (try KernelQueries(), try KernelEvents())
      let watch = GatewayWatch(TimeSource.system)
      func isAskedAgain(_ numbers: ClosedRange<Int>, at seconds: Int64) throws -> Bool {
        watch.note(try numbers.map { try reply($0) }, queries, events, now: seconds * Self.second)
      }
      // New ones: a change may have been missed before they were watched.
      #expect(try isAskedAgain(1...Self.limit, at: 0))
      #expect(try !isAskedAgain(1...Self.limit, at: 1))
      // One more: all are forgotten, and come back.
      #expect(try isAskedAgain(Self.limit + 1...Self.limit + 1, at: 2))
      #expect(try isAskedAgain(2...Self.limit + 1, at: 3))
      // There are too many after all. Asking all the time would not help.
      #expect(try !isAskedAgain(1...1, at: 4))
      #expect(try !isAskedAgain(1...1, at: 61))
      #expect(try isAskedAgain(1...1, at: 62))
    }
  }

  /// No answer names a gateway that the kernel passes over: all failed neighbours are looked at with the first gateway.
  @Test(.enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"))
  func failedNeighboursAreWatchedWithTheFirstGateway() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try await lab.waitForCarriers()
    let link = UInt32(try lab.index(of: "v0"))
    for hasFailed in [false, true] {
      if hasFailed { try #require(lab.ip("-6 neigh replace fe80::2 dev v0 nud failed extern_learn").status == 0) }
      try lab.run {
        let (queries, events) = (try KernelQueries(), try KernelEvents())
        let watch = GatewayWatch(TimeSource.system)
        #expect(watch.nextLook == nil)
        #expect(watch.note([try reply(1, over: link)], queries, events, now: 0))
        #expect((watch.nextLook != nil) == hasFailed)
        guard var next = watch.nextLook else { return }
        // As long as nothing changes, it is looked for ever less often, but at least twice a second.
        for milliseconds in [50, 100, 200, 400, 500, 500] as [Int64] {
          #expect(!watch.look(queries, events, now: next - 1))
          #expect(watch.nextLook == next)
          #expect(!watch.look(queries, events, now: next))
          #expect(watch.nextLook == next + milliseconds * 1_000_000)
          next += milliseconds * 1_000_000
        }
      }
    }
  }
}
#endif
