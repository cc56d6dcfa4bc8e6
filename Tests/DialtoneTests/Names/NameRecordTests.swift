// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

struct NameRecordTests {
  private static let addresses = NameLookupResult.addresses([ip("192.0.2.1")])
  private static let minute: Int64 = 60_000_000_000

  private static func record() -> NameRecord<AnyObject> {
    NameRecord(NameQuestion(name: "name.example", family: nil))
  }

  @Test func isPendingUntilAnswered() {
    let record = Self.record()
    #expect(record.outcome == .pending)
    #expect(record.refresh == nil)
    #expect(record.finish(Self.addresses, at: 0))
    #expect(record.outcome == .addresses([ip("192.0.2.1")]))
  }

  @Test func anAnswerIsGoodForFiveMinutes() {
    let record = Self.record()
    _ = record.finish(Self.addresses, at: 1_000)
    #expect(record.refresh == 1_000 + 5 * Self.minute)
  }

  @Test func looksSoonerForANameThatDoesNotExist() {
    let record = Self.record()
    func delays(_ count: Int) -> [Int64] {
      (0..<count).map { _ in
        _ = record.finish(.noAddress, at: 1_000)
        return ((record.refresh ?? 0) - 1_000) / 1_000_000_000
      }
    }
    #expect(delays(40) == [5, 10, 20, 40] + Array(repeating: 60, count: 36))
    // An answer, or a failure, ends the series.
    for other in [Self.addresses, .failed] {
      _ = record.finish(other, at: 0)
      #expect(delays(2) == [5, 10])
    }
  }

  /// Filters of advertising say so, for as long as they answer at all.
  @Test func anAnswerThatLeadsNowhereIsGoodForFiveMinutes() {
    let record = Self.record()
    _ = record.finish(.addresses([ip("0.0.0.0")]), at: 0)
    #expect(record.outcome == .noAddress)
    #expect(record.refresh == 5 * Self.minute)
  }

  @Test func theNameThatRevealsATranslatorIsNotWaitedFor() {
    let record = NameRecord<AnyObject>(NAT64Prefix.discoveryName)
    for _ in 0..<3 {
      _ = record.finish(.noAddress, at: 0)
      #expect(record.refresh == 5 * Self.minute)
    }
  }

  @Test(arguments: [
    (EMFILE, Reachability.Reason.outOfDescriptors), (ENFILE, .outOfDescriptors), (EAGAIN, .outOfThreads),
    (ENOMEM, .outOfMemory),
  ])
  func aShortageIsNoAbsence(errno: CInt, reason: Reachability.Reason) {
    let record = Self.record()
    #expect(record.finish(.exhausted(errno: errno), at: 0))
    #expect(record.outcome == .exhausted(reason))
    #expect(record.refresh == 2_000_000_000)
    // Earlier addresses stay in use.
    _ = record.finish(Self.addresses, at: 0)
    #expect(!record.finish(.exhausted(errno: errno), at: 0))
  }

  @Test func theSameAnswerIsNoChange() {
    let record = Self.record()
    _ = record.finish(Self.addresses, at: 0)
    #expect(!record.finish(Self.addresses, at: 1))
    #expect(record.finish(.addresses([ip("192.0.2.2")]), at: 2))
    #expect(record.finish(.noAddress, at: 3))
    #expect(!record.finish(.noAddress, at: 4))
  }

  @Test func anAnswerWithoutAddressesIsNone() {
    let record = Self.record()
    _ = record.finish(.addresses([]), at: 0)
    #expect(record.outcome == .noAddress)
  }

  @Test func triesAgainEverLaterAfterFailures() {
    let record = Self.record()
    var delays: [Int64] = []
    for _ in 0..<40 {
      _ = record.finish(.failed, at: 0)
      delays.append((record.refresh ?? 0) / 1_000_000_000)
    }
    #expect(delays.prefix(9) == [2, 4, 8, 16, 32, 64, 128, 256, 300])
    #expect(delays.dropFirst(9).allSatisfy { $0 == 300 })
    // An answer ends the series.
    _ = record.finish(Self.addresses, at: 0)
    _ = record.finish(.failed, at: 0)
    #expect(record.refresh == 2_000_000_000)
  }

  @Test func earlierAddressesOutliveAFailureAndEarlierAbsenceDoesNot() {
    let record = Self.record()
    _ = record.finish(Self.addresses, at: 0)
    #expect(!record.finish(.failed, at: 1))
    #expect(record.outcome == .addresses([ip("192.0.2.1")]))
    let absent = Self.record()
    _ = absent.finish(.noAddress, at: 0)
    #expect(absent.finish(.failed, at: 1))
    #expect(absent.outcome == .failed)
  }

  @Test func becomesOverdueOnlyWhilePending() {
    let record = Self.record()
    #expect(record.becomeOverdue())
    #expect(record.outcome == .overdue)
    #expect(!record.becomeOverdue())
    #expect(record.finish(Self.addresses, at: 0))
    #expect(!record.becomeOverdue())
    #expect(record.outcome == .addresses([ip("192.0.2.1")]))
  }

  @Test func takesATimeNearTheEnd() {
    let record = Self.record()
    _ = record.finish(Self.addresses, at: .max - 1)
    #expect(record.refresh == .max)
  }
}
