// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneExporter
internal import DialtoneJournal
internal import Dispatch

/// Answers Prometheus in the process of a recorder.
struct RecordExport {
  let address: ListenAddress
  let targets: [(name: String, target: WatchedTargets.Target)]

  /// Listens. Returns what ends that; `nil` if it cannot, which it has said.
  func begin(_ recorder: Recorder) throws -> (() -> Void)? {
    // Nobody has said for whom it may probe: for this machine alone.
    let policy = address.isLocal ? ProbePolicy.local : try ProbePolicy(allowing: [])
    let process = ProcessMetrics()
    let exporter = Exporter(
      configuration: .usual, policy: policy, watched: try WatchedTargets(targets), process: process
    ) { Self.families(recorder.writerCounts) }
    let server = ExporterServer(exporter)
    guard ExportRunner.listens(server, on: address) else { return nil }
    let timer = ExportRunner.repeating { process.sample() }
    return {
      timer.cancel()
      server.stop(within: .zero)
    }
  }

  private static func families(_ counts: JournalWriter.Counts) -> [MetricFamily] {
    [
      .counter(
        "dialtone_journal_events_written_total", "How many events were written to the journal", Double(counts.written)),
      .gauge(
        "dialtone_journal_events_waiting", "How many events wait until the journal can be written",
        Double(counts.waiting)),
      .counter(
        "dialtone_journal_events_lost_total", "How many events were lost, since too many waited", Double(counts.lost)),
      .counter(
        "dialtone_journal_write_failures_total", "How often the journal could not be written", Double(counts.failures)),
    ]
  }
}
