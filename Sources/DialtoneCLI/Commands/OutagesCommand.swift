// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneJournal

struct OutagesCommand: CheckedCommand {
  static let configuration = CommandConfiguration(
    commandName: "outages",
    abstract: "Tell when targets were down, how long, and why.",
    usage: "dialtone outages [<options>]",
    discussion: """
      It reads the journal that dialtone record writes, and adds up how long each target was up and down. Time in \
      which nobody recorded, or the machine slept, counts neither way. "≥" marks an outage whose end nobody saw.

      The table has local times, and JSON has times in UTC. --since and --until take both: with Z, or an offset such \
      as +01:00, at the end; without, a time is local.

      --openmetrics prints samples with their times, for Prometheus:
        dialtone outages --openmetrics > outages.om
        promtool tsdb create-blocks-from openmetrics outages.om data/

      Exit status: 0 if there is a journal, 66 if there is none, or it cannot be read.

      EXAMPLES
        dialtone outages
        dialtone outages --since 30d --target internet
        dialtone outages --since 2026-11-01 --until 2026-12-01 --json
      """)

  @Option(
    """
    Tell of outages since then: a span before now such as 7d, a day such as 2026-11-24, or a time such as \
    "2026-11-24 12:00" or 2026-11-24T12:00Z (default: 7d).
    """, value: "time", transform: JournalTime.parse)
  var since: JournalTime?

  @OptionGroup var options: JournalOptions

  @Flag(help: "Print JSON, one object a line: outages in the order of their ends, then sums by target and by layer.")
  var json = false

  @Flag(help: "Print samples of OpenMetrics, with time stamps.")
  var openmetrics = false

  func prepare() throws -> Work {
    if json, openmetrics { throw ValidationError("--json and --openmetrics exclude each other; give one of them") }
    let span = try options.span(since: since, usually: .seconds(7 * 86_400))
    return {
      guard var view = try options.view(of: span) else { return .noInput }
      if openmetrics { try tellMetrics(&view) } else if json { try tellJSON(&view) } else { try tellTable(&view) }
      if json || openmetrics { options.noteUnseen(of: view) }
      options.noteSkipped(of: view)
      return .holds
    }
  }

  /// Reads the journal. The sink may fail, and then nothing more is told.
  private func read(
    _ view: inout JournalView, _ take: @escaping (OutageLog.Finding) throws(SystemError) -> Void
  ) throws {
    var failure: SystemError?
    let progress = ReadingProgress()
    defer { progress.end() }
    do throws(SystemError) {
      try view.read(progress: { progress.show($0, $1) }) { finding in
        if failure != nil { return }
        do throws(SystemError) { try take(finding) } catch { failure = error }
      }
    } catch {
      throw InputError(description: "\(error)")
    }
    if let failure { throw failure }
  }

  private static let keptLimit = 1_000

  private func tellTable(_ view: inout JournalView) throws {
    var formatter = OutageFormatter(screen: .output)
    var sums = OutageSums(since: view.since, until: view.until)
    // They are read in the order of their ends. Up to a thousand are told in that of their beginnings, in columns that
    // are wide enough; more are told while they are read.
    var kept: [Outage] = []
    var hasHead = false
    func tellKept() throws(SystemError) {
      for outage in kept { formatter.widen(for: outage) }
      if !hasHead, !kept.isEmpty { try Output.line(formatter.head) }
      hasHead = hasHead || !kept.isEmpty
      for outage in kept.sorted(by: { $0.began < $1.began }) { try Output.line(formatter.line(for: outage)) }
      kept = []
    }
    try read(&view) { finding throws(SystemError) in
      sums.take(finding)
      guard case .outage(let outage) = finding else { return }
      kept.append(outage)
      if kept.count == Self.keptLimit { try tellKept() }
    }
    try tellKept()
    let wasWatched = !sums.targets.isEmpty
    let none = wasWatched ? "no outages \(options.words(for: view))" : options.unseenWords(of: view) ?? ""
    try Output.line(hasHead ? "" : formatter.screen.paragraph(none))
    for line in formatter.lines(for: sums, skippedLines: view.skippedLines) { try Output.line(line) }
    if wasWatched, let unseen = options.unseenWords(of: view) { try Output.line(formatter.screen.paragraph(unseen)) }
  }

  private func tellJSON(_ view: inout JournalView) throws {
    var sums = OutageSums(since: view.since, until: view.until)
    try read(&view) { finding throws(SystemError) in
      sums.take(finding)
      if case .outage(let outage) = finding {
        try Output.line(String(decoding: OutageJSON.line(outage), as: UTF8.self))
      }
    }
    for line in OutageJSON.lines(sums, skippedLines: view.skippedLines) {
      try Output.line(String(decoding: line, as: UTF8.self))
    }
  }

  private func tellMetrics(_ view: inout JournalView) throws {
    var metrics = OpenMetrics(since: view.since, until: view.until)
    try read(&view) { metrics.take($0) }
    // Some thousand lines a write.
    var lines = ""
    try metrics.write { line in
      lines += line + "\n"
      if lines.utf8.count > 1 << 16 {
        try StandardStream.output.write(lines)
        lines = ""
      }
    }
    try StandardStream.output.write(lines)
  }
}
