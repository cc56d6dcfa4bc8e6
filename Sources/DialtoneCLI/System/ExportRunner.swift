// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneExporter
internal import DialtoneSites
internal import Dispatch

/// Runs an exporter until a signal ends the process. Requests under way are answered first.
struct ExportRunner {
  let addresses: [ListenAddress]
  let configuration: ExporterConfiguration
  let policy: ProbePolicy
  let targets: [(name: String, target: WatchedTargets.Target)]
  let textfile: String?

  /// How often the file is written, and what the process uses is read.
  private static let period = 15
  /// How long requests under way may take at the end.
  private static let patience = Duration.seconds(5)

  /// Blocks.
  ///
  /// - Throws: `SystemError` if the system is short of something.
  func run() throws -> ExitStatus {
    // Each connection and each probe needs descriptors: as many as the system grants.
    command_raise_descriptor_limit()
    let ending = Ending()
    // Before other threads start: they inherit the mask.
    Signals.onEnd { _ in ending.stop(within: Self.patience) }
    do throws(SiteError) {
      try SiteResources.prove()
    } catch {
      throw SystemError("export", errno: error.errno)
    }
    let process = ProcessMetrics()
    let exporter = Exporter(
      configuration: configuration, policy: policy, watched: try WatchedTargets(targets), process: process)
    if !addresses.isEmpty, !listen(exporter, ending) { return .inputOutput }
    let report = FileReport(path: textfile)
    let timer = Self.repeating {
      process.sample()
      report.write(exporter.textfile)
    }
    defer { timer.cancel() }
    // Signals alone end it.
    while true { pause() }
  }

  /// Does this from time to time, until it is cancelled.
  static func repeating(_ work: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: work)
    timer.schedule(deadline: .now() + 1, repeating: .seconds(period))
    timer.activate()
    return timer
  }

  /// Returns whether it listens on all addresses.
  private func listen(_ exporter: Exporter, _ ending: Ending) -> Bool {
    let server = ExporterServer(exporter)
    ending.server.withLock { $0 = server }
    return addresses.allSatisfy { Self.listens(server, on: $0) }
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
      address.map { $0.family == .ipv6 ? "[\($0)]:\(port)" : "\($0):\(port)" } ?? ":\(port)"
    case .path(let path): "unix:\(TerminalText.visible(path))"
    case .inherited(let number): "the socket \(number) of the service manager"
    }
  }

  /// What ends with the process.
  private final class Ending: Sendable {
    let server = Lock<ExporterServer?>(nil)

    func stop(within limit: Duration) { server.withLock { $0 }?.stop(within: limit) }
  }

  /// Writes the file, and says on standard error if that fails: once, until it succeeds again.
  private final class FileReport: Sendable {
    private let path: String?
    private let isFailing = Lock(false)

    init(path: String?) { self.path = path }

    func write(_ text: String) {
      guard let path else { return }
      do throws(SystemError) {
        try ReplacedFile.write(text, to: path)
        isFailing.withLock { $0 = false }
      } catch {
        let isNew = isFailing.withLock { isFailing in
          defer { isFailing = true }
          return !isFailing
        }
        if isNew { Output.remark("dialtone: --textfile: \(TerminalText.visible(error.description))") }
      }
    }
  }
}
