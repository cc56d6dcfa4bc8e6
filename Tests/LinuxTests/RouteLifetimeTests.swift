// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// When a route with a lifetime is asked about again, by the kernel's answer.
struct RouteLifetimeTests {
  /// An answer of the kernel. `rta_expires` is the third member of `struct rta_cacheinfo` (linux/rtnetlink.h).
  private func route(expires: Int32, table: UInt32 = 254, metric: UInt32 = 1_024) throws -> RouteMessage {
    let bytes = BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(family: .ipv6, destinationLength: 32, table: 254)
      builder.append(RouteMessage.Attribute.table, table)
      builder.append(RouteMessage.Attribute.priority, metric)
      builder.append(
        RouteMessage.Attribute.destination, address: IPAddressBits(ipv6High: 0x2001_0db8 << 32, low: 0))
      let words: [Int32] = [0, 0, expires, 0, 0, 0, 0, 0]
      builder.append(
        RouteMessage.Attribute.cacheInfo,
        bytes: words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } })
    }
    return try BuiltMessages.decode(bytes) { RouteMessage($0, in: $1) }
  }

  /// USER_HZ is 100 on Linux (asm-generic/param.h): a unit is 10 ms. The kernel rounds down, and its own clock may be a
  /// tick behind: it is certain to have ended two units later, and is asked no later than a tick after that.
  @Test(arguments: [(1, 10), (100, 1_000), (180_000, 1_800_000)] as [(Int32, Int64)])
  func itIsAskedAboutOnceItHasCertainlyEnded(units: Int32, milliseconds: Int64) throws {
    var expiries = RouteExpiries()
    let start: Int64 = 5_000_000_000
    expiries.note(try route(expires: units), now: start)
    let next = try #require(expiries.next)
    let end = start + milliseconds * 1_000_000
    #expect((end + 20_000_000...end + 30_000_000).contains(next))
    #expect(expiries.pass(now: next - 1) == [])
    let ended = expiries.pass(now: next)
    #expect(ended == [.init(IPAddressBits(ipv6High: 0x2001_0db8 << 32, low: 0), length: 32)])
  }

  /// The kernel collects what has ended within 30 s, rounded to a second (ip6_rt_gc_interval, fib6_run_gc). Until then
  /// another advertisement prolongs the route, and nothing is announced.
  @Test func itIsAskedAboutUntilTheKernelHasCollectedIt() throws {
    var expiries = RouteExpiries()
    expiries.note(try route(expires: 100), now: 0)
    let end = try #require(expiries.next)
    var last = end
    while let next = expiries.next {
      #expect(next - last <= 2_000_000_000)
      #expect(expiries.pass(now: next).count == 1)
      last = next
    }
    #expect((31_000_000_000...35_000_000_000).contains(last - end))
  }

  @Test(arguments: [0, -1, .min] as [Int32]) func withoutALifetimeItIsNotKept(units: Int32) throws {
    var expiries = RouteExpiries()
    expiries.note(try route(expires: units), now: 0)
    #expect(expiries.next == nil)
  }

  /// A router advertises it again: its end moves. Routes of other tables and metrics are others.
  @Test func aRouteThatIsAdvertisedAgainHasAnotherEnd() throws {
    var expiries = RouteExpiries()
    expiries.note(try route(expires: 100), now: 0)
    let first = try #require(expiries.next)
    expiries.note(try route(expires: 200), now: 0)
    let second = try #require(expiries.next)
    #expect(second - first == 1_000_000_000)
    expiries.note(try route(expires: 100, table: 7), now: 0)
    expiries.note(try route(expires: 150, metric: 7), now: 0)
    #expect(expiries.next == first)
    #expect(expiries.pass(now: first).count == 1 && expiries.next == first + 500_000_000)
    #expect(expiries.pass(now: second).count == 2)
    // Prolonged after its end, it has another one.
    expiries.note(try route(expires: 100, table: 7), now: second)
    #expect(expiries.pass(now: .max).count == 3 && expiries.next == nil)
  }
}
