// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneDiagnosis
import DialtoneJournal
import DialtoneTesting
import Foundation
import TestSupport
import Testing

/// A recorder on a scripted network and clock.
@Suite(.timeLimit(.minutes(5)))
struct RecorderTests {
  /// A recorder that runs on a thread of its own, and the network that it watches.
  private final class Lab: Sendable {
    let network = ScriptedNetwork()
    let folder: JournalFolder
    private let told: Box<[JournalEvent]>
    let remarks = Box<[String]>([])
    let sleep = Box<Int64>(0)
    private let recorder: Recorder

    init(
      in folder: JournalFolder, at first: ScriptedPath = .wired, boot: String = "boot", sizeLimit: Int = 64 << 20,
      evidence: (any EvidenceSource)? = nil
    ) throws {
      self.folder = folder
      network.set(first)
      var configuration = Recorder.Configuration(directory: folder.directory)
      configuration.boot = boot
      configuration.sizeLimit = sizeLimit
      configuration.environment = network.environment
      let time = network.environment.provider.time
      configuration.clock = JournalClock(time) { [sleep] in sleep.value }
      let cable = KernelFinding(
        .link(.fails("eth0", .noCarrier, isNamed: true)), target: try #require(IPAddress("192.0.2.7")))
      configuration.evidence = evidence ?? ScriptedEvidence([.kernel(cable)])
      let events = Box<[JournalEvent]>([])
      configuration.tell = { event in events.value.append(event) }
      configuration.remark = { [remarks] in remarks.value.append($0) }
      told = events
      let environment = network.environment
      let host = try ReachabilityTarget.host("site.example")
      let target = RecordedTarget(name: "internet") { report in
        ReachabilityMonitor(.internet, environment: environment).observe { state in
          report(RecorderStateMachine.TargetState(state), state.timestamp)
        }
      } diagnosis: { configuration, recorded in
        // A script's evidence is about a host.
        Diagnosis(of: evidence == nil ? .internet : host, configuration: configuration, environment: recorded)
      }
      let recorder = try Recorder(configuration, targets: [target])
      self.recorder = recorder
      let isStarted = Thread.start(named: "recorder") {
        do throws(Recorder.Failure) { try recorder.run() } catch { Issue.record(error) }
      }
      try #require(isStarted)
    }

    /// The present time by the wall clock of the script.
    var now: Int64 { network.environment.provider.time.realtime() / 1_000 }

    func wait(for name: String, count: Int) async throws {
      try await eventually("\(count) of \(name)") { told.value.count { $0.name == name } >= count }
    }

    func waitUntilExplained() async throws {
      try await eventually("the last outage is explained") {
        let names = told.value.map(\.name)
        guard let begin = names.lastIndex(of: "begin"), let cause = names.lastIndex(of: "cause") else { return false }
        return begin < cause
      }
    }

    func waitUntilWritten() async throws {
      try await eventually("all is written") { recorder.writerCounts.written >= told.value.count }
    }

    func advance(by duration: Duration) { network.clock.advance(by: duration) }

    func wake() { recorder.wake() }

    func stop() { recorder.stop(reason: "end", within: .seconds(30)) }
  }

  /// What cannot be written until the end is said.
  @Test func whatIsLostAtTheEndIsSaid() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    try await lab.wait(for: "up", count: 1)
    lab.stop()
    #expect(lab.remarks.value.isEmpty)
    let other = try Lab(in: folder)
    try await other.wait(for: "up", count: 1)
    try await other.wait(for: "path", count: 1)
    // What is told is written a moment later.
    try await other.waitUntilWritten()
    try FileManager.default.removeItem(atPath: folder.path)
    // mkdir(2): where a file is, no folder can be made.
    try Data().write(to: URL(filePath: folder.path))
    other.stop()
    #expect(other.remarks.value.last?.contains("1 of the events could not be written, and are lost") ?? false)
  }

  /// A folder that is removed meanwhile is made anew: for this recorder, and from there on.
  @Test func aFolderThatIsRemovedIsMadeAnew() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    try await lab.wait(for: "up", count: 1)
    try await lab.wait(for: "path", count: 1)
    try await lab.waitUntilWritten()
    try FileManager.default.removeItem(atPath: folder.path)
    lab.network.set(.unreachable(.noCarrier))
    try await lab.waitUntilExplained()
    try await lab.waitUntilWritten()
    #expect(try folder.directory.isBeingWritten())
    lab.stop()
    let remarks = lab.remarks.value
    #expect(remarks.count == 2 && remarks.first?.contains("No such file or directory") ?? false, "\(remarks)")
    #expect(remarks.last?.contains("written again") ?? false)
    let names = try folder.events().events.map(\.name)
    #expect(names.first == "file" && names.contains("begin") && names.last == "stop", "\(names)")
  }

  /// If the end is all that happens since, it is written, too.
  @Test func aFolderIsMadeAnewAtTheEnd() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    try await lab.wait(for: "up", count: 1)
    try await lab.wait(for: "path", count: 1)
    try await lab.waitUntilWritten()
    try FileManager.default.removeItem(atPath: folder.path)
    lab.stop()
    #expect(try folder.events().events.map(\.name) == ["file", "stop"])
    #expect(lab.remarks.value.last?.contains("written again") ?? false, "\(lab.remarks.value)")
  }

  /// A month, in which the network goes a hundred times: begin and end of each outage are exact to the microsecond.
  @Test func aMonthOfOutagesIsExact() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    var numbers = SeededNumbers(seed: 26)
    try await lab.wait(for: "up", count: 1)
    var truth: [(began: Int64, ended: Int64)] = []
    for number in 1...100 {
      lab.advance(by: .microseconds(Int64.random(in: 60_000_000...26_000_000_000, using: &numbers)))
      let began = lab.now
      lab.network.set(.unreachable(.noCarrier))
      try await lab.wait(for: "begin", count: number)
      try await lab.waitUntilExplained()
      lab.advance(by: .microseconds(Int64.random(in: 1...3_000_000_000, using: &numbers)))
      truth.append((began, lab.now))
      lab.network.set(.wired)
      try await lab.wait(for: "end", count: number)
    }
    lab.stop()
    let read = try folder.events()
    #expect(read.skipped == 0)
    let outages = OutageLog.outages(read.events)
    #expect(outages.map(\.began) == truth.map(\.began))
    #expect(outages.map(\.ended) == truth.map(\.ended))
    #expect(outages.map(\.lasted) == truth.map { $0.ended - $0.began })
    #expect(outages.allSatisfy { $0.layer == .link && $0.explanation?.cause == "no-carrier" })
    // The evidence says so while the network is up, too: that was not learnt as usual.
    #expect(outages.allSatisfy { $0.explanation?.steps.isEmpty == false })
    // A file for each day that has an event.
    let days = Set(read.events.map { $0.at.wall / WallTime.day })
    #expect(try folder.directory.files().map(\.day) == days.sorted())
    // Each can be read by itself.
    for file in try folder.directory.files() {
      var reader = JournalReader(folder.directory)
      var first: JournalEvent?
      try reader.read(file) { first = first ?? $0 }
      #expect(["start", "file"].contains(first?.name))
    }
  }

  /// Evidence that changes.
  private final class Evidence: EvidenceSource {
    let findings = Box<[Finding]>([])
    let asked = Box(0)

    func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
      let answer = await ScriptedEvidence(findings.value).findings(for: question, in: inquiry)
      if question == .way { asked.update { $0 += 1 } }
      return answer
    }
  }

  /// An outage has the steps that are not as usual. The name was not looked up while all was well: that it is fine now
  /// is no difference.
  @Test func whatIsAllRightIsNoPartOfAnOutage() async throws {
    let address = try #require(IPAddress("192.0.2.7"))
    let evidence = Evidence()
    evidence.findings.value = [.kernel(KernelFinding(.link(.works("eth0")), target: address))]
    let folder = try JournalFolder()
    let lab = try Lab(in: folder, evidence: evidence)
    try await lab.wait(for: "up", count: 1)
    // The kernel is asked once more at the end, since nobody has answered.
    try await eventually("it was learnt") { evidence.asked.value > 1 }
    lab.advance(by: .seconds(100))
    evidence.findings.value = [
      .name(NameFinding(name: "site.example", source: .hosts, addresses: [address])),
      .kernel(KernelFinding(.link(.fails("eth0", .noCarrier, isNamed: true)), target: address)),
    ]
    lab.network.set(.unreachable(.noCarrier))
    try await lab.waitUntilExplained()
    lab.stop()
    let outage = try #require(OutageLog.outages(try folder.events().events).first)
    #expect(outage.explanation?.steps.map { [$0.step, $0.outcome] } == [["link", "fault"]])
  }

  @Test func sleepAndStepsAreNoticed() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    try await lab.wait(for: "up", count: 1)
    // Eight hours of sleep.
    lab.sleep.value = 28_800_000_000
    lab.advance(by: .seconds(28_800))
    lab.wake()
    try await lab.wait(for: "sleep", count: 1)
    lab.stop()
    let events = try folder.events().events
    #expect(OutageLog.outages(events).isEmpty)
    var sums = OutageSums(since: .min, until: .max)
    for finding in OutageLog.findings(events) { sums.take(finding) }
    #expect((sums.targets["internet"]?.up ?? 0) < 1_000_000, "sleep was not watched")
  }

  /// Started anew in the same boot, with the target still down, and then in another boot.
  @Test func restartsMakeNoOutage() async throws {
    let folder = try JournalFolder()
    var lab = try Lab(in: folder, at: .unreachable(.noCarrier))
    try await lab.wait(for: "begin", count: 1)
    lab.advance(by: .seconds(100))
    lab.stop()
    lab = try Lab(in: folder, at: .unreachable(.noCarrier))
    try await lab.wait(for: "begin", count: 1)
    lab.network.set(.wired)
    try await lab.wait(for: "end", count: 1)
    lab.stop()
    let outages = OutageLog.outages(try folder.events().events)
    #expect(outages.count == 1 && outages.first?.ending == .over("reachable via wired (eth0)"))
  }

  @Test func twoRecordersOfOneJournalAreAnError() async throws {
    let folder = try JournalFolder()
    let lab = try Lab(in: folder)
    try await lab.wait(for: "up", count: 1)
    let other = try Recorder(Recorder.Configuration(directory: folder.directory), targets: [])
    #expect(throws: Recorder.Failure.self) { try other.run() }
    #expect(try folder.directory.isBeingWritten())
    lab.stop()
    try await eventually("the lock is free") { try !folder.directory.isBeingWritten() }
  }
}
