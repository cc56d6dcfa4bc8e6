// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneJournal

/// Runs a recorder until a signal ends it, and tells the service manager and the journal of systemd.
struct RecordRunner {
  var configuration: Recorder.Configuration
  let targets: [RecordedTarget]
  let export: RecordExport?

  /// How long a signal waits for the last line.
  private static let timeToEnd = Duration.seconds(3)

  func run() throws -> ExitStatus {
    // As an exporter does.
    if export != nil {
      command_raise_descriptor_limit()
      try Shortage.proveManyDescriptors()
    }
    try Shortage.proveTasks(of: "record")
    // A file beyond the limit of the process (setrlimit(2), RLIMIT_FSIZE) is an error like a full disk.
    var set = sigset_t()
    // None of these calls keeps a pointer.
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGXFSZ)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    do {
      let recorder = try Recorder(told(), targets: targets)
      Signals.onEnd { signal in recorder.stop(reason: Self.name(signal), within: Self.timeToEnd) }
      let endExport = try export?.begin(recorder)
      if export != nil, endExport == nil { return .inputOutput }
      defer { endExport?() }
      try recorder.run()
    } catch let error as Recorder.Failure {
      Output.note("dialtone: \(TerminalText.visible("\(error)"))")
      return .inputOutput
    }
    // The signal that has stopped it ends the process.
    while true { pause() }
  }

  private func told() -> Recorder.Configuration {
    var told = configuration
    let start = ContinuousClock.now
    let manager = Lock<ServiceManager?>(ServiceManager())
    let place = configuration.directory.path
    let isTerminal = StandardStream.error.isTerminal
    let notify: @Sendable (String) -> Void = { message in
      manager.withLock { $0?.send(message, at: start.duration(to: .now)) }
    }
    told.remark = { Output.remark("dialtone: \(TerminalText.visible($0))") }
    told.tell = { event in
      if let message = JournaldMessage.bytes(event) { JournaldMessage.send(message) }
      manager.withLock { $0?.retry(at: start.duration(to: .now)) }
      guard case .start(let recorder) = event.kind else { return }
      let names = TerminalText.visible(recorder.targets.joined(separator: ", "))
      notify("\(ServiceNotice.ready)\nSTATUS=recording \(names)")
      if isTerminal { Output.remark("recording \(names) in \(TerminalText.visible(place)); Control-C ends it") }
    }
    told.tellStatus = { notify("STATUS=\($0)") }
    return told
  }

  private static func name(_ signal: CInt) -> String {
    [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"][signal] ?? "signal \(signal)"
  }
}
