// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites
internal import Dispatch

/// Runs a diagnosis, and prints its steps as they come, or one object at its end.
struct ExplainRunner {
  let target: String
  let diagnosis: Diagnosis
  let json: Bool
  let isQuiet: Bool

  private struct Result {
    var status = ExitStatus.undetermined
    var error: SystemError?
  }

  /// Blocks until it is done.
  ///
  /// - Throws: `SystemError` if the output cannot be written.
  func run() throws -> ExitStatus {
    do throws(SiteError) {
      // Before the first task: if the system is short of threads or descriptors, Swift would wait for ever.
      try SiteResources.prove()
    } catch {
      throw SystemError("explain", errno: error.errno)
    }
    let isTerminal = StandardStream.output.isTerminal
    let progress = Progress(
      isEnabled: !isQuiet && StandardStream.error.isTerminal && !Environment.isDumb)
    Signals.onEnd { progress.erase() }
    let formatter = ExplainFormatter(
      style: Environment.style(isTerminal: isTerminal), columns: isTerminal ? StandardStream.output.columns : nil)
    let result = Lock(Result())
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      do throws(SystemError) {
        for await event in diagnosis {
          if let status = try show(event, formatter, progress) { result.withLock { $0.status = status } }
        }
      } catch {
        result.withLock { $0.error = error }
      }
      isDone.signal()
    }
    isDone.wait()
    progress.erase()
    let end = result.withLock { $0 }
    if let error = end.error { throw error }
    return end.status
  }

  /// Prints what an event tells. Returns the exit status, with the last event.
  private func show(
    _ event: Diagnosis.Event, _ formatter: ExplainFormatter, _ progress: Progress
  ) throws(SystemError) -> ExitStatus? {
    switch event {
    case .began(let kind):
      progress.show("\(Self.words(kind))…")
      return nil
    case .step(let step):
      if json || isQuiet { return nil }
      progress.erase()
      try Output.line(formatter.line(for: step))
      return nil
    case .verdict(let verdict):
      progress.erase()
      if !isQuiet {
        try Output.line(json ? ExplainFormatter.json(verdict, target: target) : "\n" + formatter.lines(for: verdict))
      }
      return verdict.cause != nil ? .fails : verdict.isFine ? .holds : .undetermined
    }
  }

  private static func words(_ kind: DiagnosisStep.Kind) -> String {
    switch kind {
    case .name: "asking the name servers"
    case .neighbour: "asking for the gateway"
    case .connect: "connecting"
    case .pathMTU: "trying large and small packets"
    case .tls, .http: "asking the site"
    case .proxy: "trying the proxy"
    default: "looking at the \(kind)"
    }
  }
}
