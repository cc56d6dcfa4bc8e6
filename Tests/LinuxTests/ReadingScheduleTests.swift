// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When the tables are read anew and the network is polled, as events and times say. `OverrunTests` has the kernel lose
/// announcements.
struct ReadingScheduleTests {
  private static let spacing = ReadingSchedule.spacing
  private static let interval = ReadingSchedule.pollInterval

  @Test func aFirstLossHasTheTablesReadAtOnce() {
    var schedule = ReadingSchedule()
    #expect(schedule.deadline == .max && !schedule.isInDoubt)
    let isRead = schedule.announcementsWereLost(at: 1_000)
    #expect(isRead && schedule.rereadCount == 1)
    schedule.tablesAreRead(.whole, from: 1_000, until: 1_000)
    #expect(schedule.deadline == .max && !schedule.isInDoubt)
  }

  @Test func furtherLossesWaitForTheirTurnAndLeaveTheTablesInDoubt() {
    var schedule = ReadingSchedule()
    schedule.tablesAreRead(.whole, from: 0, until: 0)
    for now in [0, 1, Self.spacing - 1] {
      let isRead = schedule.announcementsWereLost(at: now)
      #expect(!isRead && schedule.isInDoubt && schedule.deadline == Self.spacing)
    }
    #expect(schedule.rereadCount == 0)
    // The deadline has come: many losses, one reading.
    schedule.pollBegins(isLost: false)
    schedule.tablesAreRead(.whole, from: Self.spacing, until: Self.spacing)
    #expect(schedule.rereadCount == 1 && !schedule.isInDoubt && schedule.deadline == .max)
    let isRead = schedule.announcementsWereLost(at: 2 * Self.spacing)
    #expect(isRead && schedule.rereadCount == 2)
  }

  @Test func aLossThatIsReportedLaterIsInDoubtAtOnce() {
    var schedule = ReadingSchedule()
    schedule.tablesAreRead(.whole, from: 0, until: 0)
    schedule.announcementsWillBeLost(at: 10)
    #expect(schedule.isInDoubt && schedule.deadline == Self.spacing)
    // It does not put off what is due.
    schedule.announcementsWillBeLost(at: 5 * Self.spacing)
    #expect(schedule.deadline == Self.spacing)
    schedule.tablesAreRead(.whole, from: Self.spacing, until: Self.spacing)
    // Long after the last reading, it is due now.
    schedule.announcementsWillBeLost(at: 9 * Self.spacing)
    #expect(schedule.deadline == 9 * Self.spacing)
  }

  @Test func aReadingThatWasOvertakenIsRepeated() {
    var schedule = ReadingSchedule()
    schedule.tablesAreRead(.interrupted, from: 7, until: 9)
    #expect(schedule.isInDoubt && schedule.deadline == 7 + Self.spacing)
  }

  @Test func nothingIsAnsweredBeforeTheTablesWereReadNorOnceThatIsRefused() {
    var schedule = ReadingSchedule()
    #expect(!schedule.isReady && schedule.denial == .denied)
    schedule.openingFailed(for: .outOfDescriptors)
    schedule.tablesAreRead(.impossible, from: 0, until: 0)
    #expect(!schedule.isReady && schedule.denial == .outOfDescriptors && schedule.deadline == .max)
    schedule.tablesAreRead(.whole, from: 1, until: 2)
    #expect(schedule.isReady && schedule.deadline == .max)
    // For lack of memory: what was known stays known.
    schedule.tablesAreRead(.failed, from: 3, until: 4)
    #expect(schedule.isReady && schedule.deadline == 4 + Self.interval)
    schedule.tablesAreRead(.refused, from: 5, until: 6)
    #expect(!schedule.isReady && schedule.denial == .denied)
  }

  @Test func whatIsNotAnnouncedIsPolledUntilItIsAwaitedAgain() {
    var schedule = ReadingSchedule()
    schedule.awaitingBegins(isComplete: true)
    #expect(!schedule.isPolled)
    schedule.announcementsEnded(at: 10)
    #expect(schedule.isPolled && schedule.deadline == 10 + Self.interval)
    schedule.pollBegins(isLost: false)
    schedule.awaitingBegins(isComplete: true)
    #expect(!schedule.isPolled && schedule.deadline == .max)
    schedule.awaitingBegins(isComplete: false)
    #expect(schedule.isPolled)
    schedule.awaitingBegins(isComplete: true)
    schedule.queriesWereLost(at: 20)
    #expect(schedule.isPolled)
  }

  @Test func theEarliestOfSeveralPollsCountsAndHappensOnce() {
    var schedule = ReadingSchedule()
    schedule.poll(from: 0)
    schedule.poll(after: 1_000, from: 0)
    schedule.poll(from: 1)
    #expect(schedule.deadline == 1_000 && !schedule.isInDoubt)
    schedule.pollBegins(isLost: false)
    #expect(schedule.deadline == .max && schedule.rereadCount == 0)
    schedule.pollBegins(isLost: true)
    #expect(schedule.rereadCount == 1)
  }

  @Test func aLostSocketIsReplacedAtOnceButNotOverAndOver() {
    var schedule = ReadingSchedule()
    schedule.queriesWereLost(at: 0)
    #expect(schedule.deadline == 0)
    schedule.pollBegins(isLost: false)
    schedule.queriesWereLost(at: 1)
    #expect(schedule.deadline == 1 + Self.interval)
    schedule.pollBegins(isLost: false)
    // Each loss counts, even one that came too soon.
    schedule.queriesWereLost(at: 1 + Self.interval)
    #expect(schedule.deadline == 1 + 2 * Self.interval)
    schedule.pollBegins(isLost: false)
    schedule.queriesWereLost(at: 2 + 2 * Self.interval)
    #expect(schedule.deadline == 2 + 2 * Self.interval)
  }
}
