// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

struct CheckPacerTests {
  private static let millisecond: Int64 = 1_000_000

  @Test func aFewDoNotWait() {
    var pacer = CheckPacer()
    let delays = (1...16).flatMap { count in (0..<10).map { _ in pacer.delay(now: 5, monitors: count, random: 0.5) } }
    #expect(delays.allSatisfy { $0 == 0 })
  }

  @Test func aCrowdIsServedEvenly() {
    var pacer = CheckPacer()
    let delays = (1...1_000).map { pacer.delay(now: 5, monitors: $0, random: 0.5) }
    #expect(delays.prefix(32).allSatisfy { $0 == 0 }, "16 of them before there was a crowd, 16 at once")
    #expect(Array(delays.dropFirst(32)) == (1...968).map { $0 * 2 * Self.millisecond })
  }

  @Test func aLaterCheckDoesNotWait() {
    var pacer = CheckPacer()
    for _ in 0..<100 { _ = pacer.delay(now: 0, monitors: 100, random: 0.5) }
    #expect(pacer.delay(now: 1_000 * Self.millisecond, monitors: 100, random: 0.5) == 0)
  }

  @Test func noCheckWaitsLongerThanATurnOfAll() {
    var pacer = CheckPacer()
    let delays = (0..<10_000).map { pacer.delay(now: 0, monitors: 116, random: Double($0 % 100) / 100) }
    #expect(delays.allSatisfy { $0 <= 200 * Self.millisecond })
    #expect(Set(delays).count >= 100, "nor are they in step")
  }

  @Test(arguments: [Int64.min / 2, Int64.max]) func clampsTimes(_ now: Int64) {
    var pacer = CheckPacer()
    for _ in 0..<20 { #expect(pacer.delay(now: now, monitors: .max, random: 0.5) >= 0) }
  }
}
