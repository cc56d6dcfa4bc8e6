// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Dialtone
@testable import DialtoneJournal

/// Clocks and times, and what a recorder has if nobody says otherwise.
struct MomentTests {
  private let base = Moment(wall: 1_000, clock: 500, slept: 40)

  @Test(
    arguments: [
      (500, 40, 1_000, 0), (499, 40, 999, 1), (300, 40, 800, 200), (300, 10, 800, 170), (501, 40, 1_000, 0),
      // A sleep that is longer than the time, or that went backwards, is none.
      (490, 0, 990, 0), (490, 50, 990, 10), (900, 40, 1_000, 0),
    ] as [(Int64, Int64, Int64, Int64)])
  func anEarlierMomentLiesBefore(clock: Int64, slept: Int64, wall: Int64, awake: Int64) {
    // Its own wall clock may have been set since.
    let earlier = Moment(wall: 77, clock: clock, slept: slept)
    #expect(base.wall(of: earlier) == wall && base.awake(since: earlier) == awake)
  }

  @Test func isEarlierByAllClocksButSleep() {
    #expect(base.earlier(by: 0) == base)
    #expect(base.earlier(by: 30) == Moment(wall: 970, clock: 470, slept: 40))
  }

  @Test func aClockCountsMicroseconds() {
    let time = TimeSource(passes: false, realtime: { 7_000_999 }, now: { 5_000_999 })
    #expect(JournalClock(time).now() == Moment(wall: 7_000, clock: 5_000, slept: 0))
    #expect(JournalClock(time, slept: { 9 }).now() == Moment(wall: 7_000, clock: 5_000, slept: 9))
  }

  /// -7 is -1 times 5, less 2.
  @Test(
    arguments: [
      (0, 10, 0), (1, 10, 0), (9, 10, 0), (10, 10, 1), (19, 10, 1), (-1, 10, -1), (-9, 10, -1), (-10, 10, -1),
      (-11, 10, -2), (-7, 5, -2), (5, 1, 5), (-5, 1, -5),
    ] as [(Int64, Int64, Int64)])
  func dividesDownwards(number: Int64, divisor: Int64, quotient: Int64) {
    #expect(number.floorDivided(by: divisor) == quotient)
  }

  @Test(arguments: [(0, 2, "00"), (7, 2, "07"), (12, 2, "12"), (123, 2, "123"), (5, 0, "5"), (42, 6, "000042")])
  func numbersAreFilledUp(number: Int, width: Int, text: String) {
    #expect(UTCTimestamp.padded(number, width) == text)
  }

  /// RFC 3339, 5.6: fractions, of which a microsecond is the smallest here; and offsets.
  @Test(
    arguments: [
      ("1970-01-01T00:00:00.000000Z", 0), ("1970-01-01T00:00:01.500000Z", 1_500_000),
      ("1970-01-02T00:00:00.000001Z", 86_400_000_001), ("1969-12-31T23:59:59.250000Z", -750_000),
    ] as [(String, Int64)])
  func timesAreMicroseconds(text: String, wall: Int64) {
    #expect(WallTime.microseconds(text) == wall && WallTime.text(wall) == text)
    #expect(WallTime.dayText(wall) == text.prefix(10))
  }

  @Test(arguments: ["", "now", "1970-01-01", "1970-02-30T00:00:00Z", "1970-01-01T25:00:00Z"])
  func foreignTimesAreNone(text: String) { #expect(WallTime.microseconds(text) == nil) }

  /// As another library writes it, in summer and in winter, and before 1970.
  @Test(arguments: [0, 1_793_491_199, 1_772_323_260, 1_785_542_405, -1, -86_400, 951_782_399] as [Int64])
  func localTimesAreAsElsewhere(seconds: Int64) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    // A part of a second is left out.
    for wall in [seconds * 1_000_000, seconds * 1_000_000 + 999_999] {
      #expect(WallTime.localText(wall) == text && WallTime.localDay(wall) == text.prefix(10))
    }
  }

  // MARK: Recorder

  /// random(4): the boot's identifier is there for everybody.
  @Test func aRecorderHasTheBootAndNoLimitThatIsSmall() throws {
    let configuration = Recorder.Configuration(directory: JournalDirectory("/d"))
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    #expect(configuration.boot == boot.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(configuration.boot.count == 36)
    // 64 MiB, and nothing is sent beyond the router unless somebody says so.
    #expect(configuration.sizeLimit == 67_108_864 && !configuration.asksBeyondRouter)
    #expect(configuration.directory.path == "/d")
  }

  /// A wake-up that came before is not lost, and a time that is over is not waited for.
  @Test func waitsUntilItIsWoken() throws {
    let wait = try RecorderWait()
    wait.wake()
    wait.wake()
    wait.wait(atMost: .max)
    // What is over is over.
    wait.wait(atMost: 0)
    wait.wait(atMost: -5)
    wait.wait(atMost: .min)
    wait.wake()
    wait.wait(atMost: .max)
  }
}
