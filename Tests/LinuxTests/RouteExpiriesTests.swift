// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When routes that end are asked about again.
struct RouteExpiriesTests {
  private static let prefix = IPPrefix(IPAddressBits(ipv6High: 0x2001_0db8 << 32, low: 0), length: 32)
  private static let other = IPPrefix(IPAddressBits(ipv6High: 0x2001_0db9 << 32, low: 0), length: 32)

  @Test func aPrefixIsReturnedAtItsDeadlineAndNotBefore() {
    var expiries = RouteExpiries()
    expiries.askAgain(Self.prefix, at: 1_000)
    expiries.askAgain(Self.other, at: 2_000)
    #expect(expiries.next == 1_000)
    let ended1 = expiries.pass(now: 999)
    #expect(ended1 == [])
    let ended2 = expiries.pass(now: 1_000)
    #expect(ended2 == [Self.prefix])
    #expect(expiries.next == 2_000)
    let ended3 = expiries.pass(now: 2_000)
    #expect(ended3 == [Self.other])
    #expect(expiries.next == nil)
    let ended4 = expiries.pass(now: .max)
    #expect(ended4 == [])
  }

  @Test func aLaterDeadlineTakesThePlaceOfAnEarlierOne() {
    var expiries = RouteExpiries()
    expiries.askAgain(Self.prefix, at: 1_000)
    expiries.askAgain(Self.prefix, at: 3_000)
    #expect(expiries.next == 3_000)
    let ended5 = expiries.pass(now: 2_999)
    #expect(ended5 == [])
    let ended6 = expiries.pass(now: 3_000)
    #expect(ended6 == [Self.prefix])
  }
}
