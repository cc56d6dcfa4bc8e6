// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneDiagnosis
internal import Dispatch

/// Runs a diagnosis, and prints its verdict. If it is interrupted, it prints the verdict so far.
struct ExplainRunner {
  let target: String
  let diagnosis: Diagnosis
  let json: Bool
  let isVerbose: Bool
  let isQuiet: Bool

  private struct Result {
    var status = ExitStatus.undetermined
    var error: SystemError?
    var findings: [Finding] = []
    /// What was begun, and has brought no finding yet.
    var underWay: [DiagnosisStep.Kind] = []
    /// Whether the verdict is printed, or being printed.
    var isTold = false
    /// Whether a signal has come before that, which ends the process once what is known is printed.
    var isInterrupted = false
  }

  /// How long a verdict that is there has to be printed, if a signal comes.
  private static let timeToPrint = DispatchTimeInterval.milliseconds(200)

  /// Blocks until it is done.
  ///
  /// - Throws: `SystemError` if the output cannot be written.
  func run() throws -> ExitStatus {
    try Shortage.proveTasks(of: "explain")
    try Shortage.proveManyDescriptors()
    let isTerminal = StandardStream.output.isTerminal
    let progress = Progress(isEnabled: !isQuiet && Progress.isPossible)
    let formatter = ExplainFormatter(
      style: Environment.style(isTerminal: isTerminal), columns: isTerminal ? StandardStream.output.columns : nil)
    let result = Lock(Result())
    let start = TimeSource.system.now()
    let isDone = DispatchSemaphore(value: 0)
    Signals.onEnd { _ in
      progress.erase()
      let isTold = result.withLock { result in
        result.isInterrupted = !result.isTold
        return result.isTold
      }
      if !isTold { return tellSoFar(result, formatter, elapsed: .nanoseconds(TimeSource.system.now() - start)) }
      // The reader need not take it.
      _ = isDone.wait(timeout: .now() + Self.timeToPrint)
    }
    Task.detached {
      do throws(SystemError) {
        for await event in diagnosis { try take(event, result, formatter, progress) }
      } catch {
        result.withLock { $0.error = error }
      }
      if !result.withLock(\.isInterrupted) { isDone.signal() }
    }
    isDone.wait()
    progress.erase()
    let end = result.withLock { $0 }
    if let error = end.error { throw error }
    return end.status
  }

  /// Notes what an event tells, or prints the verdict.
  private func take(
    _ event: Diagnosis.Event, _ result: borrowing Lock<Result>, _ formatter: ExplainFormatter, _ progress: Progress
  ) throws(SystemError) {
    switch event {
    case .began(let kind):
      progress.show("\(Self.words(kind))…")
      // Whether there is a tunnel takes no time to find out, and mostly there is none.
      if kind != .tunnel { result.withLock { $0.underWay.append(kind) } }
    case .finding(let finding):
      let kinds = finding.steps.map(\.kind)
      result.withLock { result in
        result.findings.append(finding)
        result.underWay.removeAll(where: kinds.contains)
      }
    case .verdict(let verdict):
      progress.erase()
      let isFirst = result.withLock { result in
        result.isTold = !result.isInterrupted
        result.status = verdict.cause != nil ? .fails : verdict.isFine ? .holds : .undetermined
        return result.isTold
      }
      if isFirst { try tell(verdict, formatter) }
    }
  }

  /// Prints the verdict of what was found before a signal ends the process.
  private func tellSoFar(_ result: borrowing Lock<Result>, _ formatter: ExplainFormatter, elapsed: Duration) {
    let findings = result.withLock { $0.findings + $0.underWay.map { .unasked($0, nil, .timeIsUp) } }
    if findings.isEmpty { return }
    let verdict = DiagnosisVerdict(
      of: diagnosis.subject.text, goal: diagnosis.subject.goal, findings: findings, elapsed: elapsed)
    do {
      try tell(verdict, formatter, isInterrupted: true)
    } catch {
      // Nobody reads any more, and the process ends.
    }
  }

  private func tell(
    _ verdict: DiagnosisVerdict, _ formatter: ExplainFormatter, isInterrupted: Bool = false
  ) throws(SystemError) {
    if isQuiet { return }
    if json { return try Output.line(ExplainFormatter.json(verdict, target: target, isInterrupted: isInterrupted)) }
    if isInterrupted {
      try Output.line("Interrupted after \(DurationText.words(verdict.elapsed)). What was known then:")
    }
    try Output.line(formatter.lines(for: verdict))
    if !isVerbose { return }
    try Output.line("")
    for step in verdict.steps { try Output.line(formatter.line(for: step)) }
  }

  private static func words(_ kind: DiagnosisStep.Kind) -> String {
    switch kind {
    case .name: "waiting for the name servers"
    case .neighbour: "waiting for the router"
    case .beyond: "waiting for somebody beyond the router"
    case .connect: "waiting for the target to take a connection"
    case .pathMTU: "trying large and small packets"
    case .tls, .http: "waiting for the site's answer"
    case .proxy: "looking whether a proxy leads there"
    case .tunnel: "looking whether a tunnel leads there"
    case .portal: "looking whether the network wants a login"
    default: "looking at the \(kind)"
    }
  }
}
