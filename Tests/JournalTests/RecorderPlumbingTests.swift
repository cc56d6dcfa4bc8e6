// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Foundation
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis
@testable import DialtoneJournal

/// What holds a recorder together: its thread, its time, the diagnoses that it begins and ends.
@Suite(.timeLimit(.minutes(5)))
struct RecorderPlumbingTests {
  private typealias State = RecorderStateMachine.TargetState

  private static let address = IPAddress(ipv4: 0xC000_0207)

  // MARK: Diagnoses

  /// Answers nothing, until nobody wants to know any more.
  private final class Silence: EvidenceSource {
    let isAsked = Box(false)
    let isCancelled = Box(false)

    func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
      isAsked.value = true
      do {
        // It is cancelled long before.
        try await Task.sleep(for: .seconds(3_600))
      } catch {
        isCancelled.value = true
      }
      return []
    }
  }

  /// What is concluded early comes to what was found, here to nothing, and asks nobody any more.
  @Test func whatIsConcludedEndsAtOnce() async throws {
    let (silence, verdicts) = (Silence(), Box(0))
    let diagnosis = Diagnosis(
      of: .internet, configuration: DiagnosisConfiguration(timeout: .seconds(7_200)), environment: silence)
    let explaining = Explaining(diagnosis) { _ in verdicts.update { $0 += 1 } }
    try await eventually("it is asked") { silence.isAsked.value }
    #expect(explaining.conclude() == nil)
    try await eventually("it is asked no more") { silence.isCancelled.value }
    #expect(verdicts.value == 0)
  }

  // MARK: Neighbours

  private static let subject = DiagnosisSubject(.address(address))

  /// An open way to a neighbour of a link that there is not, which was there when the evidence was made.
  private static func way(isResolved: Bool) -> KernelEvidence {
    KernelEvidence(
      target: address, state: Reachability(.reachable, destination: address),
      link: KernelEvidence.LinkFacts(name: "eth9999", index: 2_000_000_000),
      neighbour: KernelEvidence.NeighbourFacts(address: address, link: "eth9999", state: [], isResolved: isResolved))
  }

  /// Nothing is sent: the kernel is asked once more for neighbours that are asked for on their link. It has none there,
  /// so that there is nothing to wait for, not even for a task that is cancelled.
  @Test(arguments: [(true, KernelFinding.Neighbour.unknown(address, isGateway: true)), (false, .notAsked)])
  func looksAtNeighboursOnceMore(isResolved: Bool, expected: KernelFinding.Neighbour) async throws {
    let way = Self.way(isResolved: isResolved)
    let inquiry = DiagnosisInquiry(
      subject: Self.subject, configuration: DiagnosisConfiguration(),
      findings: [.kernel(KernelFinding(.route(.leads(gateway: Self.address, interface: "eth9999")), way))], deadline: 0)
    try #require(inquiry.openWays == [way])
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await RecorderEvidence(ScriptedEvidence([]), .passive).findings(for: .neighbours, in: inquiry)
    }
    task.cancel()
    let found = await task.value
    guard found.count == 1, case .kernel(let finding)? = found.first else {
      Issue.record("\(found)")
      return
    }
    #expect(finding.result == .neighbour(expected) && finding.target == Self.address)
  }

  // MARK: The thread

  /// A recorder whose one target does what `watch` says, on the recorder's own thread.
  private func run(
    in directory: JournalDirectory, seconds: Box<Double> = Box(1), asksBeyondRouter: Bool = false,
    diagnoses: Box<[Bool]> = Box([]), watch: @escaping @Sendable (Recorder, (State) -> Void) -> Void
  ) throws -> Recorder {
    let network = ScriptedNetwork()
    let made = Box<Recorder?>(nil)
    var configuration = Recorder.Configuration(directory: directory)
    configuration.asksBeyondRouter = asksBeyondRouter
    configuration.environment = network.environment
    configuration.evidence = ScriptedEvidence([])
    configuration.clock = JournalClock { moment(seconds.value) }
    let target = RecordedTarget(name: "a") { report in
      if let recorder = made.value { watch(recorder) { report($0, nil) } }
      return 0
    } diagnosis: { configuration, evidence in
      diagnoses.update { $0.append(configuration.asksBeyondRouter) }
      return Diagnosis(of: .internet, configuration: configuration, environment: evidence)
    }
    let recorder = try Recorder(configuration, targets: [target])
    made.value = recorder
    defer { made.value = nil }
    try recorder.run()
    return recorder
  }

  /// It makes its folder, and counts the start before anything is watched.
  @Test func beginsInAFolderThatIsNotThere() throws {
    let folder = try JournalFolder()
    let directory = JournalDirectory("\(folder.path)/a/b")
    let counts = Box<[Int]>([])
    let recorder = try run(in: directory) { recorder, _ in
      counts.update { $0.append(recorder.writerCounts.written) }
      recorder.stop(reason: "end", within: .zero)
    }
    #expect(counts.value == [1] && recorder.writerCounts.written >= 2 && recorder.writerCounts.waiting == 0)
    #expect(try directory.files().count == 1)
  }

  /// Runs a recorder of no targets on a thread of its own, until `body` has ended it.
  private func run(
    _ configuration: Recorder.Configuration, _ body: (Recorder) async throws -> Void
  ) async throws {
    let recorder = try Recorder(configuration, targets: [])
    try #require(
      Thread.start(named: "recorder") {
        do throws(Recorder.Failure) { try recorder.run() } catch { Issue.record(error) }
      })
    do {
      try await body(recorder)
    } catch {
      recorder.stop(reason: "end", within: .zero)
      throw error
    }
  }

  /// A line is written every five minutes: what is due is not waited for.
  @Test func whatIsDueIsDoneAtOnce() async throws {
    let folder = try JournalFolder()
    let (network, seconds, lines) = (ScriptedNetwork(), Box(1.0), Box(0))
    var configuration = Recorder.Configuration(directory: folder.directory)
    configuration.environment = network.environment
    // More than five minutes go by from one look at it to the next.
    configuration.clock = JournalClock {
      defer { seconds.update { $0 += 400 } }
      return moment(seconds.value)
    }
    configuration.tell = { event in if event.name == "alive" { lines.update { $0 += 1 } } }
    try await run(configuration) { recorder in
      // The network itself wakes it once or twice.
      try await eventually("the lines are written") { lines.value >= 9 }
      recorder.stop(reason: "end", within: .seconds(60))
    }
  }

  /// An explanation ends with its outage, and makes room for that of the next one: down, up, and down again.
  @Test func anExplanationEndsWithItsOutage() throws {
    let folder = try JournalFolder()
    let (seconds, diagnoses) = (Box(1.0), Box<[Bool]>([]))
    _ = try run(
      in: folder.directory, seconds: seconds, asksBeyondRouter: true, diagnoses: diagnoses,
      watch: { recorder, report in
        for state in [State.isDown(), .isUp, .isDown()] {
          report(state)
          // The time of the next state.
          seconds.update { $0 += 100 }
        }
        recorder.stop(reason: "end", within: .zero)
      })
    // Explained beyond the router, learnt from the kernel, and explained again.
    #expect(diagnoses.value == [true, false, true])
  }

  /// Stopping it takes until the journal is closed, and no longer.
  @Test func stoppingEndsWithTheRecorder() async throws {
    let folder = try JournalFolder()
    let network = ScriptedNetwork()
    var configuration = Recorder.Configuration(directory: folder.directory)
    configuration.environment = network.environment
    try await run(configuration) { recorder in
      try await eventually("it has begun") { recorder.writerCounts.written > 0 }
      let start = ContinuousClock.now
      await withCheckedContinuation { continuation in
        let isStarted = Thread.start(named: "stop") {
          recorder.stop(reason: "end", within: .seconds(90))
          continuation.resume()
        }
        if !isStarted { continuation.resume() }
      }
      #expect(start.duration(to: .now) < .patience)
      #expect(try folder.events().events.last?.kind == .stop(reason: "end"))
    }
  }
}
