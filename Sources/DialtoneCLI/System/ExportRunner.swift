// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneExporter
internal import Dispatch

/// Runs an exporter until a signal ends the process. Requests under way are answered first.
struct ExportRunner {
  let addresses: [ListenAddress]
  let configuration: ExporterConfiguration
  /// Reads the configuration anew, on SIGHUP.
  let reading: @Sendable () throws -> ExporterConfiguration
  let policy: ProbePolicy
  let targets: [(name: String, target: WatchedTargets.Target)]
  let textfile: String?

  /// How often files are read and written, and what the process uses is read.
  private static let period = 15
  /// How long requests under way may take at the end.
  private static let patience = Duration.seconds(5)

  /// Blocks.
  ///
  /// - Throws: `SystemError` if the system is short of something.
  func run() throws -> ExitStatus {
    // Each connection and each probe needs descriptors: as many as the system grants.
    command_raise_descriptor_limit()
    try Shortage.proveManyDescriptors()
    let ending = Lock<ExporterServer?>(nil)
    let reloading = Lock<(@Sendable () -> Void)?>(nil)
    // Before other threads start: they inherit the mask.
    Signals.onEnd(hangUp: { reloading.withLock { $0 }?() }) { _ in ending.withLock { $0 }?.stop(within: Self.patience) }
    try Shortage.proveTasks(of: "export")
    let process = ProcessMetrics()
    let exporter = Exporter(
      configuration: configuration, policy: policy, watched: try WatchedTargets(targets), process: process)
    if !addresses.isEmpty {
      let server = ExporterServer(exporter)
      ending.withLock { $0 = server }
      if !addresses.allSatisfy({ Self.listens(server, on: $0) }) { return .inputOutput }
    }
    let (writing, trust) = (Trouble(), Trouble())
    // One after the other: what one has read takes the place of what the other has.
    let queue = DispatchQueue(label: "dialtone-export")
    reloading.withLock { [reading] in
      $0 = { queue.async { Self.reload(exporter, reading) } }
    }
    let timer = Self.repeating(on: queue) { [textfile] in
      process.sample()
      if let textfile { writing.tell(Self.failure(writing: exporter.textfile, to: textfile)) }
      trust.tell(exporter.readTrust { try ConfigurationFile.text(at: $0) })
    }
    defer { timer.cancel() }
    // Signals alone end it.
    while true { pause() }
  }

  private static func reload(_ exporter: Exporter, _ reading: () throws -> ExporterConfiguration) {
    let failure = exporter.reload(reading).map { "\(TerminalText.visible($0)); what was read before stays in use" }
    Output.remark("dialtone: \(failure ?? "the configuration was read anew")")
  }

  /// Does this from time to time, until it is cancelled.
  static func repeating(
    on queue: DispatchQueue = .global(), _ work: @escaping @Sendable () -> Void
  ) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: work)
    timer.schedule(deadline: .now() + 1, repeating: .seconds(period))
    timer.activate()
    return timer
  }

  /// Has it listen, and says so. Returns whether it does.
  static func listens(_ server: ExporterServer, on address: ListenAddress) -> Bool {
    do throws(ExporterServer.Failure) {
      Output.note("dialtone: listening on \(try server.listen(on: address))")
      return true
    } catch {
      Output.note("dialtone: cannot listen on \(words(for: address)): \(error)")
      return false
    }
  }

  private static func words(for address: ListenAddress) -> String {
    switch address {
    case .network(let address, let port):
      address.map { "\(ReachabilityTarget.address($0, port: port))" } ?? ":\(port)"
    case .path(let path): "unix:\(TerminalText.visible(path))"
    case .inherited(let number): "the socket \(number) of the service manager"
    }
  }

  /// Writes a file. Returns why it cannot.
  private static func failure(writing text: String, to path: String) -> String? {
    do throws(SystemError) {
      try ReplacedFile.write(text, to: path)
      return nil
    } catch {
      return "--textfile: \(error)"
    }
  }

  /// Says on standard error that something fails: once, until it succeeds again.
  private final class Trouble: Sendable {
    private let isKnown = Lock(false)

    func tell(_ failure: String?) {
      let isNew = isKnown.withLock { isKnown in
        defer { isKnown = failure != nil }
        return !isKnown
      }
      if isNew, let failure { Output.remark("dialtone: \(TerminalText.visible(failure))") }
    }
  }
}
