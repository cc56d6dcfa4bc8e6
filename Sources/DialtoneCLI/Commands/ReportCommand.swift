// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneExporter
internal import DialtoneJournal

struct ReportCommand: CheckedCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Draw the recorded outages as a page for a browser.",
    usage: "dialtone report [<options>] --output <file>",
    discussion: """
      The page is one file that needs nothing from elsewhere, for screens of any size, and for paper: each target over \
      time, the way to the Internet, the days, where the causes were, and the longest outages with their explanation. \
      Its times are local. So are those of --since and --until, unless Z or an offset such as +01:00 ends them.

      Exit status: 0 if the page is written, 66 if there is no journal, or it cannot be read, 74 if the page cannot be \
      written.

      EXAMPLES
        dialtone report --output outages.html
        dialtone report --since 2026-11-01 --target internet --output november.html
      """)

  @Option(
    """
    Begin then: a span before now such as 30d, a day such as 2026-11-24, or a time such as "2026-11-24 12:00" \
    (default: 30d).
    """, value: "time", transform: JournalTime.parse)
  var since: JournalTime?

  @OptionGroup var options: JournalOptions

  @Option(
    name: [.customShort("o"), .customLong("output")], parsing: .unconditional,
    help: ArgumentHelp(
      "Write the page to this file; an old one is replaced only once the new one is whole; - is standard output.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String

  func prepare() throws -> Work {
    if output.isEmpty { throw ValidationError("--output: the name is empty; give a file such as outages.html") }
    let span = try options.span(since: since, usually: .seconds(30 * 86_400))
    return {
      guard var view = try options.view(of: span) else { return .noInput }
      let page = try page(&view, from: span.lowerBound)
      if output == "-" {
        try StandardStream.output.write(page)
      } else {
        do throws(SystemError) {
          // What umask(2) leaves of a new file's mode. Nothing else makes files here.
          let mask = umask(0o077)
          umask(mask)
          try ReplacedFile.write(page, to: output, newMode: 0o666 & ~mask)
        } catch {
          Output.note("dialtone: \(TerminalText.visible("\(error)"))")
          return .inputOutput
        }
      }
      return .holds
    }
  }

  private func page(_ view: inout JournalView, from start: Int64) throws -> String {
    let progress = ReadingProgress()
    defer { progress.end() }
    do throws(SystemError) {
      // What was before the journal is no part of the picture.
      view.since = min(max(start, try Self.start(of: view.directory) ?? start), view.until - 1)
      var data = ReportData(since: view.since, until: view.until)
      try view.read(progress: { progress.show($0, $1) }) { data.take($0) }
      var page = ReportPage(
        data, host: Self.host, directory: view.directory.path, version: DialtoneLibraryVersion.current.description,
        skippedLines: view.skippedLines
      ) { DurationText.words(.microseconds($0)) }
      view.since = start
      page.unseen = options.unseenWords(of: view)
      options.noteUnseen(of: view)
      options.noteSkipped(of: view)
      return page.source
    } catch {
      throw InputError(description: "\(error)")
    }
  }

  /// When the first event of a journal was by the wall clock, which somebody may have set back since.
  static func start(of directory: JournalDirectory) throws(SystemError) -> Int64? {
    let files = try directory.files()
    guard let day = files.map(\.day).min() else { return nil }
    var first: Int64?
    var reader = JournalReader(directory)
    for file in files where file.day == day {
      do throws(SystemError) {
        try reader.read(file) { first = min(first ?? .max, $0.at.wall) }
      } catch {
        // It is left out, which is said.
      }
    }
    return first ?? day * WallTime.day
  }

  private static var host: String {
    var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
    // gethostname(2) gets the array's size and writes no more. A name without room for its zero is an error.
    if unsafe gethostname(&name, name.count) != 0 { return "this machine" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
