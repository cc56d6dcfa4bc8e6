// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// What a recorder writes: states, clocks and sleep.
struct RecorderDecisionTests {
  private static let second: Int64 = 1_000_000

  /// A tenth of a second asleep, and half a second of the wall clock, are the time between two readings.
  @Test(
    arguments: [
      (0, 0, []), (100_000, 0, []), (100_001, 0, ["sleep"]), (0, 500_000, []), (0, 500_001, ["clock"]),
      (0, -500_000, []), (0, -500_001, ["clock"]), (100_001, 500_001, ["sleep", "clock"]),
    ] as [(Int64, Int64, [String])])
  func noticesWhatIsNoReadingOfClocks(slept: Int64, step: Int64, names: [String]) {
    var bench = RecorderBench()
    #expect(bench.handle(.time, exactly(10 * Self.second, slept: slept, step: step)) == names)
    // It is noticed once.
    #expect(bench.handle(.time, exactly(11 * Self.second, slept: slept, step: step)) == [])
  }

  /// A state is delivered within a minute, or its own time is not believed.
  @Test(
    arguments: [
      (0, 0, 100_000_000), (2_000_000, 0, 98_000_000), (60_000_000, 0, 40_000_000), (60_000_001, 0, 100_000_000),
      (-1, 0, 100_000_000),
      // So short a sleep is none, and makes nothing younger.
      (60_050_000, 50_000, 100_000_000),
    ] as [(Int64, Int64, Int64)])
  func believesATimeOfTheLastMinute(age: Int64, slept: Int64, expected: Int64) {
    var bench = RecorderBench()
    let now = exactly(100 * Self.second, slept: slept)
    #expect(bench.handle(.state(0, .isUp, since: now.wall - age), now) == ["up", "learn 0"])
    #expect(bench.events.last?.at == exactly(expected, slept: slept))
  }

  @Test(arguments: [(500_000, 98_000_000, ["up", "learn 0"]), (500_001, 100_000_000, ["clock", "up", "learn 0"])])
  func believesNoTimeOfAClockThatWasSet(step: Int64, expected: Int64, names: [String]) {
    var bench = RecorderBench()
    let now = exactly(100 * Self.second, step: step)
    #expect(bench.handle(.state(0, .isUp, since: now.wall - 2 * Self.second), now) == names)
    #expect(bench.events.last?.at == exactly(expected, step: step))
  }

  /// An hour of sleep lies between, of which the state tells that it came before, or does not.
  @Test(
    arguments: [
      (nil, ["sleep", "up", "learn 0"], 4_000, 3_600), (3_661, ["sleep", "up", "learn 0"], 4_000, 3_600),
      (3_660, ["up", "learn 0", "sleep"], 340, 0), (3_600, ["up", "learn 0", "sleep"], 400, 0),
      (3_599, ["sleep", "up", "learn 0"], 4_000, 3_600),
    ] as [(Int64?, [String], Int64, Int64)])
  func sleepIsToldWhereItWas(age: Int64?, names: [String], at: Int64, slept: Int64) throws {
    var bench = RecorderBench()
    let now = exactly(4_000 * Self.second, slept: 3_600 * Self.second)
    let since = age.map { now.wall - $0 * Self.second }
    #expect(bench.handle(.state(0, .isUp, since: since), now) == names)
    let up = try #require(bench.events.first { $0.name == "up" })
    #expect(up.at == exactly(at * Self.second, slept: slept * Self.second))
    #expect(bench.events.first { $0.name == "sleep" }?.kind == .sleep(3_600 * Self.second))
  }

  /// It begins within ten seconds of waking, and is over within thirty.
  @Test(
    arguments: [
      (0, 5_000_000, true), (9_999_999, 5_000_000, true), (10_000_000, 5_000_000, false), (0, 29_999_999, true),
      (0, 30_000_000, false),
    ] as [(Int64, Int64, Bool)])
  func wakingUpIsShort(after: Int64, length: Int64, isWaking: Bool) {
    var bench = RecorderBench()
    let (hour, wake) = (3_600 * Self.second, 3_700 * Self.second)
    bench.set(0, .isUp, exactly(Self.second))
    #expect(bench.handle(.time, exactly(wake, slept: hour)) == ["sleep"])
    bench.set(0, .isDown(), exactly(wake + after, slept: hour))
    bench.set(0, .isUp, exactly(wake + after + length, slept: hour))
    #expect(bench.ends.map(\.isWaking) == [isWaking])
  }

  /// What a check says of the time before the machine woke begins with the waking.
  @Test func whatBeganAsleepBeginsWithTheWaking() {
    var bench = RecorderBench()
    let hour = 3_600 * Self.second
    bench.set(0, .isUp, exactly(Self.second))
    bench.handle(.time, exactly(3_700 * Self.second, slept: hour))
    let now = exactly(3_705 * Self.second, slept: hour)
    bench.handle(.state(0, .isDown(), since: now.wall - 20 * Self.second), now)
    bench.set(0, .isUp, exactly(3_710 * Self.second, slept: hour))
    #expect(bench.ends.map(\.isWaking) == [true])
    #expect(bench.ends.map(\.outage.began.clock) == [exactly(3_700 * Self.second).clock])
  }

  @Test(arguments: [(0, false), (100_000, false), (100_001, true)] as [(Int64, Bool)])
  func withoutSleepNothingIsAWaking(slept: Int64, isWaking: Bool) {
    var bench = RecorderBench()
    bench.set(0, .isUp, exactly(Self.second))
    bench.set(0, .isDown(), exactly(10 * Self.second))
    bench.set(0, .isUp, exactly(15 * Self.second, slept: slept))
    #expect(bench.ends.map(\.isWaking) == [isWaking])
  }

  /// 35 seconds awake, of which nobody watched 21: it was short.
  @Test func whatNobodyWatchedMakesNoOutageLonger() {
    let outage = OpenOutage(target: "a", began: exactly(10 * Self.second), reason: "no-carrier", words: "w")
    var bench = RecorderBench(
      previous: ["a": outage], previousEnd: exactly(20 * Self.second), at: exactly(40 * Self.second))
    bench.set(0, .isDown(), exactly(41 * Self.second))
    bench.handle(.time, exactly(1_041 * Self.second, slept: 1_000 * Self.second))
    bench.set(0, .isUp, exactly(1_045 * Self.second, slept: 1_000 * Self.second))
    #expect(bench.ends.map(\.outage.unwatched) == [21 * Self.second] && bench.ends.map(\.isWaking) == [true])
  }

  /// Every change of a state.
  @Test(
    arguments: [
      ("unseen", "up", ["up", "learn 0"]), ("unseen", "down", ["begin", "explain 0"]), ("unseen", "unknown", []),
      ("up", "up", []), ("up", "down", ["begin", "explain 0"]), ("up", "unknown", ["unknown"]),
      ("down", "up", ["end", "learn 0"]), ("down", "down", []), ("down", "unknown", ["end", "unknown"]),
      ("unknown", "up", ["up", "learn 0"]), ("unknown", "down", ["begin", "explain 0"]), ("unknown", "unknown", []),
    ] as [(String, String, [String])])
  func eachChangeIsWritten(before: String, after: String, names: [String]) {
    let states: [String: RecorderStateMachine.TargetState] = [
      "up": .isUp, "down": .isDown(), "unknown": .unknown(reason: "why"),
    ]
    var bench = RecorderBench()
    if let state = states[before] { bench.set(0, state, exactly(10 * Self.second)) }
    if let state = states[after] { #expect(bench.set(0, state, exactly(20 * Self.second)) == names) }
    #expect(bench.ends.map(\.how) == (before != "down" || after == "down" ? [] : [after == "up" ? "up" : Self.lost]))
    if names.last == "unknown" { #expect(bench.events.last?.kind == .unknown(target: "a", reason: "why")) }
    // It is in the state now: the same once more is nothing new.
    if let state = states[after] { #expect(bench.set(0, state, exactly(30 * Self.second)) == []) }
  }

  private static let lost = "it is no longer known"

  /// What is there when the recorder begins may have begun before.
  @Test(arguments: [(nil, true), (RecorderStateMachine.TargetState.isUp, false), (.unknown(reason: nil), false)])
  func theFirstOutageMayBeOlder(before: RecorderStateMachine.TargetState?, wasFirst: Bool) {
    var bench = RecorderBench()
    if let before { bench.set(0, before, exactly(1)) }
    bench.set(0, .isDown(), exactly(10 * Self.second))
    bench.set(0, .isUp, exactly(20 * Self.second))
    #expect(bench.ends.map(\.outage.wasFirst) == [wasFirst])
  }

  /// What an outage began with counts, unless that was nothing.
  @Test func theFirstReasonCounts() {
    var bench = RecorderBench()
    bench.set(0, .down(reason: nil, words: "one"), exactly(10 * Self.second))
    bench.set(0, .down(reason: "host-unreachable", words: "two", layer: .router), exactly(11 * Self.second))
    bench.set(0, .down(reason: "no-route", words: "three", layer: .site), exactly(12 * Self.second))
    bench.set(0, .isUp, exactly(20 * Self.second))
    #expect(bench.ends.map(\.outage.reason) == ["host-unreachable"] && bench.ends.map(\.outage.words) == ["two"])
    #expect(bench.ends.map(\.outage.layer) == [.router])
  }

  /// A site that is offline is so for the reason of the machine's path, if that is lost.
  @Test(
    arguments: [
      ("unsatisfied", "no-carrier", "offline", "no-carrier"), ("unsatisfied", nil, "offline", "offline"),
      ("requires-connection", "no-session", "offline", "offline"),
      ("unsatisfied", "no-carrier", "timed-out", "timed-out"),
    ] as [(String, String?, String, String)])
  func offlineIsForTheReasonOfThePath(status: String, why: String?, verdict: String, reason: String) {
    var bench = RecorderBench()
    bench.set(0, .isUp, exactly(1))
    bench.handle(.path(NetworkSummary(status: status, reason: why)), exactly(9 * Self.second))
    bench.set(0, .isDown(verdict), exactly(10 * Self.second))
    bench.set(0, .isUp, exactly(20 * Self.second))
    #expect(bench.ends.map(\.outage.reason) == [reason])
  }

  /// A site that was silent is told with the loss of the path: it began with its silence. If that was only a second
  /// before, the path was lost already, and the kernel had not told.
  @Test(
    arguments: [
      (1_000_000, "no-carrier", .link), (1_000_001, "timed-out", .provider),
    ] as [(Int64, String, OutageLayer)])
  func aPathThatIsLostLaterIsNotWhatItBeganWith(later: Int64, reason: String, layer: OutageLayer) {
    var bench = RecorderBench()
    bench.handle(.path(NetworkSummary(status: "satisfied", interface: "eth0")), exactly(1))
    bench.set(0, .isUp, exactly(2))
    let (began, lost) = (exactly(60 * Self.second), exactly(60 * Self.second + later))
    bench.handle(.path(NetworkSummary(status: "unsatisfied", reason: "no-carrier")), lost)
    bench.handle(.state(0, .isDown("timed-out", layer: .provider), since: began.wall), lost)
    bench.handle(.state(0, .isDown("offline"), since: lost.wall), lost)
    bench.set(0, .isUp, exactly(90 * Self.second))
    #expect(bench.outages.map(\.began) == [began.wall])
    #expect(bench.outages.map(\.reason) == [reason] && bench.outages.map(\.layer) == [layer])
  }

  /// The recorder before left an outage open, and the target is up when it is first seen. If the path came meanwhile,
  /// it was down until then. Otherwise nobody knows, nor is a target that is up without a path in need of one.
  @Test(arguments: [
    (["unsatisfied", "satisfied"], true), (["satisfied"], false), (["unsatisfied"], false),
    (["satisfied", "unsatisfied"], false),
  ]) func whatWasLeftOpenEndsWithThePathsReturn(paths: [String], isKnown: Bool) {
    var log = RecorderBench(at: exactly(0))
    log.set(0, .isUp, exactly(1))
    log.set(0, .isDown(), exactly(10 * Self.second))
    let left = OpenOutage(target: "a", began: exactly(10 * Self.second), reason: "no-carrier", words: "down")
    var bench = RecorderBench(
      previous: ["a": left], previousEnd: exactly(10 * Self.second), at: exactly(20 * Self.second))
    for (number, path) in paths.enumerated() {
      bench.handle(.path(NetworkSummary(status: path)), exactly(20 * Self.second + Int64(number)))
    }
    bench.set(0, .isUp, exactly(21 * Self.second))
    let outages = OutageLog.outages(log.events + bench.events)
    #expect(outages.map(\.began) == [exactly(10 * Self.second).wall])
    #expect(outages.map(\.ended) == [exactly((isKnown ? 21 : 10) * Self.second).wall])
    #expect(outages.map(\.ending) == [isKnown ? .over("up") : .cut])
    // Nobody watched for eleven seconds, and nobody could look for its cause.
    #expect(bench.ends.map(\.outage.unwatched) == (isKnown ? [11 * Self.second] : []))
    #expect(bench.ends.map(\.outage.unexplained) == (isKnown ? [.over] : []))
    #expect(bench.set(0, .isDown(), exactly(60 * Self.second)).first == "begin", "it has been up")
  }

  @Test func aPathIsWrittenOnce() {
    var bench = RecorderBench(["a", "b"])
    let path = NetworkSummary(status: "satisfied", interface: "eth0", kind: "wired")
    #expect(bench.handle(.path(path), exactly(1)) == ["path"])
    #expect(bench.handle(.path(path), exactly(2)) == [])
    bench.set(1, .isUp, exactly(3))
    let other = NetworkSummary(status: "satisfied", interface: "eth1", kind: "wired")
    #expect(bench.handle(.path(other), exactly(4)) == ["path", "learn 1"])
    #expect(bench.events.last?.kind == .path(other))
  }

  @Test func sumsUpHowManyAreUp() {
    var bench = RecorderBench(["a", "b"])
    let steps: [(Int, RecorderStateMachine.TargetState, Int, Bool)] = [
      (0, .isUp, 1, false), (1, .isDown(), 1, true), (0, .isDown(), 0, true), (0, .unknown(reason: nil), 0, true),
      (1, .isUp, 1, true), (0, .isUp, 2, true),
    ]
    #expect(bench.machine.summary == (0, 2, false))
    for (number, step) in steps.enumerated() {
      bench.set(step.0, step.1, exactly(Int64(number + 1) * Self.second))
      #expect(bench.machine.summary == (step.2, 2, step.3), "\(number)")
    }
  }

  /// A file that begins has what the files before it have left.
  @Test func aHeaderHasAllStates() throws {
    var bench = RecorderBench(["a", "b", "c", "d"])
    let path = NetworkSummary(status: "satisfied", interface: "eth0")
    bench.set(0, .isUp, exactly(1 * Self.second))
    bench.set(1, .isDown(), exactly(2 * Self.second))
    bench.set(2, .unknown(reason: nil), exactly(3 * Self.second))
    bench.handle(.path(path), exactly(4 * Self.second))
    guard case .file(let recorder, let states, path) = bench.machine.header.kind else {
      Issue.record("\(bench.machine.header)")
      return
    }
    #expect(recorder.targets == ["a", "b", "c", "d"] && states.map(\.target) == recorder.targets)
    #expect(states[0] == .up(target: "a") && states[2] == .unknown(target: "c") && states[3] == .unknown(target: "d"))
    guard case .down(let outage) = states[1] else {
      Issue.record("\(states)")
      return
    }
    #expect(outage.began == exactly(2 * Self.second) && outage.wasFirst)
    // Not after what is written next.
    #expect(bench.machine.header.at == exactly(4 * Self.second))
  }

  @Test func theEndIsWritten() {
    var bench = RecorderBench()
    #expect(bench.handle(.stop(reason: "SIGTERM"), exactly(5)) == ["stop"])
    #expect(bench.events.last == JournalEvent(.stop(reason: "SIGTERM"), at: exactly(5)))
  }
}
