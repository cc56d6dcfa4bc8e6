// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneDiagnosis
import DialtoneTesting
import TestSupport
import Testing

@testable import DialtoneJournal

/// A recorder whose targets report what a script says, and then end it.
@Suite(.timeLimit(.minutes(5)))
struct RecorderScriptTests {
  private typealias State = RecorderStateMachine.TargetState

  /// What has come of a script.
  private final class Course: Sendable {
    let folder: JournalFolder
    let statuses = Box<[String]>([])
    /// The configurations of the diagnoses that were made.
    let diagnoses = Box<[DiagnosisConfiguration]>([])
    /// The recorder's time, in seconds.
    let time = Box(1.0)
    private let counted = Box<JournalWriter.Counts?>(nil)
    private let recorder = Box<Recorder?>(nil)

    var counts: JournalWriter.Counts? { counted.value }

    init(in folder: JournalFolder) { self.folder = folder }

    /// Runs a recorder, until each target has reported its states and all of that is written.
    func run(
      _ targets: [(name: String, states: [State])], boot: String = "b", asksBeyondRouter: Bool = false,
      tell: @escaping @Sendable (JournalEvent) -> Void = { _ in }
    ) throws {
      let network = ScriptedNetwork()
      var configuration = Recorder.Configuration(directory: folder.directory)
      configuration.boot = boot
      configuration.asksBeyondRouter = asksBeyondRouter
      configuration.environment = network.environment
      configuration.evidence = ScriptedEvidence([])
      configuration.clock = JournalClock { [time] in moment(time.value) }
      configuration.tell = tell
      configuration.tellStatus = { [statuses] in statuses.value.append($0) }
      let recorded = targets.enumerated().map { number, target in
        RecordedTarget(name: target.name) { [recorder] report in
          for state in target.states { report(state, nil) }
          // It waits for nobody: this is its own thread.
          if number == targets.count - 1 { recorder.value?.stop(reason: "end", within: .zero) }
          return number
        } diagnosis: { [diagnoses] configuration, evidence in
          diagnoses.value.append(configuration)
          return Diagnosis(of: .internet, configuration: configuration, environment: evidence)
        }
      }
      let made = try Recorder(configuration, targets: recorded)
      recorder.value = made
      try made.run()
      counted.value = made.writerCounts
      recorder.value = nil
    }

    /// The events but those that come from elsewhere at any time.
    func names() throws -> [String] {
      try folder.events().events.map(\.name).filter { $0 != "path" && $0 != "cause" }
    }
  }

  @Test func theStatusIsToldWhereItChanges() throws {
    let course = Course(in: try JournalFolder())
    try course.run([
      ("a", [.isUp, .isUp]), ("b", [.isDown(), .isDown("no-route"), .isUp, .unknown(reason: nil), .isUp, .isUp]),
    ])
    // At first once all targets are known.
    #expect(
      course.statuses.value == ["1 of 2 reachable", "2 of 2 reachable", "1 of 2 reachable", "2 of 2 reachable"])
    #expect(try course.names() == ["start", "up", "begin", "end", "unknown", "up", "stop"])
    let (counts, written) = (try #require(course.counts), try course.folder.events().events.count)
    #expect(counts.written == written && counts.waiting == 0 && counts.failures == 0 && counts.lost == 0)
  }

  /// Both have come before anything is written, and the disk takes four seconds for the first.
  @Test func whatComesWhileTheDiskIsSlowHasTheTimeAtWhichItCame() throws {
    let course = Course(in: try JournalFolder())
    try course.run([("a", [.isDown()]), ("b", [.isDown()])]) { event in
      if event.name == "begin", course.time.value == 1 { course.time.value = 5 }
    }
    let begins = try course.folder.events().events.filter { $0.name == "begin" }
    #expect(begins.map(\.at.clock) == [moment(1).clock, moment(1).clock])
  }

  /// What is usual of a target is learnt once a minute at most.
  @Test func learnsOnceAMinute() throws {
    let course = Course(in: try JournalFolder())
    let pauses = Box([59.0, 1, 59, 2])
    let unknown = State.unknown(reason: nil)
    try course.run([("a", [.isUp, unknown, .isUp, unknown, .isUp, unknown, .isUp, unknown, .isUp])]) { event in
      if event.name != "unknown" { return }
      // The time of the next state.
      course.time.value += pauses.value.first ?? 0
      pauses.update { $0 = Array($0.dropFirst()) }
    }
    // At once, after 60 and after 61 seconds.
    #expect(course.diagnoses.value.count == 3)
    #expect(course.diagnoses.value.allSatisfy { !$0.asksBeyondRouter && $0.timeout == .seconds(10) })
    #expect(try course.names().count { $0 == "up" } == 5)
  }

  /// Ten seconds, and not beyond the router unless somebody says so.
  @Test(arguments: [false, true]) func anExplanationAsksWhatItMay(isBeyond: Bool) throws {
    let course = Course(in: try JournalFolder())
    try course.run([("a", [.isDown()])], asksBeyondRouter: isBeyond)
    #expect(course.diagnoses.value.map(\.asksBeyondRouter) == [isBeyond])
    #expect(course.diagnoses.value.map(\.timeout) == [.seconds(10)])
  }

  /// The next recorder goes on with what is open, if it runs in the same boot.
  @Test(arguments: [("b", true), ("c", false)]) func goesOnInTheSameBoot(boot: String, isContinued: Bool) throws {
    let folder = try JournalFolder()
    try Course(in: folder).run([("a", [.isDown()])])
    let next = Course(in: folder)
    next.time.value = 11
    try next.run([("a", [.isDown(), .isUp])], boot: boot)
    let begins = try folder.events().events.compactMap { event -> Bool? in
      if case .begin(_, let isContinued) = event.kind { isContinued } else { nil }
    }
    #expect(begins == [false, isContinued])
    let outages = OutageLog.outages(try folder.events().events)
    #expect(outages.map(\.unwatched) == (isContinued ? [10_000_000] : [0, 0]))
    #expect(try Set(folder.events().events.filter { $0.name == "stop" }.map(\.kind.isEnd)) == [true])
  }
}

extension RecorderScriptTests {
  /// A recorder of this boot has begun a file, and was killed before it knew anything: what was open before goes on.
  @Test(arguments: [("b", true), ("c", false)])
  func goesOnBehindARecorderThatKnewNothing(boot: String, isContinued: Bool) throws {
    let folder = try JournalFolder()
    func start(_ second: Double) -> [UInt8] {
      JournalEvent(.start(JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])), at: moment(second)).line
    }
    let outage = OpenOutage(target: "a", began: moment(-90), reason: "no-carrier", words: "w")
    let begin = JournalEvent(.begin(outage, isContinued: false), at: moment(-90)).line
    try folder.write(start(-100) + begin, to: "000001-2026-10-30.jsonl")
    for number in 2...3 { try folder.write(start(-60), to: "00000\(number)-2026-10-31.jsonl") }
    let course = Course(in: folder)
    try course.run([("a", [.isDown(), .isUp])], boot: boot)
    let outages = OutageLog.outages(try folder.events().events)
    // Nobody has watched since it began.
    #expect(outages.map(\.began) == (isContinued ? [moment(-90).wall] : [moment(-90).wall, moment(1).wall]))
    #expect(outages.last?.unwatched == (isContinued ? 91_000_000 : 0), "\(outages)")
  }
}

extension JournalEvent.Kind {
  /// Whether the script's own reason ends it.
  fileprivate var isEnd: Bool { self == .stop(reason: "end") }
}
