// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import SiteLab
import TestSupport
import Testing

/// A diagnosis as a program has it: events in their order, a verdict, and an end whenever it is wanted.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct DiagnosisTests {
  private func diagnosis(_ listener: DeafListener, timeout: Duration) throws -> Diagnosis {
    let target = ReachabilityTarget.address(try #require(IPAddress("127.0.0.1")), port: UInt16(listener.port))
    return Diagnosis(of: target, configuration: DiagnosisConfiguration(timeout: timeout))
  }

  @Test func stepsComeInOrderAndTheVerdictLast() async throws {
    let listener = try DeafListener()
    var steps: [DiagnosisStep] = []
    var verdict: DiagnosisVerdict?
    for await event in try diagnosis(listener, timeout: .milliseconds(200)) {
      #expect(verdict == nil)
      switch event {
      case .began: break
      case .step(let step): steps.append(step)
      case .verdict(let found): verdict = found
      }
    }
    let found = try #require(verdict)
    #expect(found.steps == steps && steps.first?.kind == .link)
    // Nobody has answered, and nobody had the time to.
    #expect(found.cause == nil && found.confidence == .unknown, "\(found)")
    #expect(found.elapsed < .patience)
  }

  @Test(.timeLimit(.minutes(3)))
  func endsWithItsTask() async throws {
    let listener = try DeafListener()
    let diagnosis = try diagnosis(listener, timeout: .seconds(600))
    let hasBegun = Box(false)
    let task = Task {
      var events: [Diagnosis.Event] = []
      for await event in diagnosis {
        events.append(event)
        if event == .began(.connect) { hasBegun.value = true }
      }
      return events
    }
    try await eventually("the connection begins") { hasBegun.value }
    task.cancel()
    let events = await task.value
    #expect(!events.contains { if case .verdict = $0 { true } else { false } }, "\(events)")
    await #expect(throws: CancellationError.self) {
      let verdict = Task { try await diagnosis.verdict() }
      verdict.cancel()
      _ = try await verdict.value
    }
    try await eventually("its threads end") { ProcessCensus.threads(named: "dialtone-why") == 0 }
  }

  @Test func asksOnlyTheKernelWithoutTime() async throws {
    let listener = try DeafListener()
    let verdict = try await diagnosis(listener, timeout: .zero).verdict()
    #expect(verdict.steps.contains { $0.kind == .route && $0.outcome == .ok }, "\(verdict.steps)")
    #expect(verdict.steps.filter { $0.kind == .connect }.allSatisfy { $0.outcome == .skipped })
    #expect(verdict.cause == nil && verdict.confidence == .unknown)
  }
}
#endif
