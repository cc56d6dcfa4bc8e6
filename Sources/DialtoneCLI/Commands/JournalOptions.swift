// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneJournal

/// Which part of which journal is told: the same for `outages` and `report`.
struct JournalOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Tell of what was before this, as with --since (default: now).", valueName: "time"),
    transform: JournalTime.parse)
  var until: JournalTime?

  @Option(
    name: .customLong("target"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Tell of this target alone, as it was recorded; may be given again.", valueName: "target"))
  var targets: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The folder of the journal (default: the user's, else the system's).", valueName: "folder"),
    completion: .directory)
  var directory: String?

  /// The time that is to be told of, in microseconds since 1970.
  func span(since: JournalTime) throws -> Range<Int64> {
    if directory?.isEmpty == true { throw ValidationError("--directory: the name is empty; give a folder") }
    let now = UTCTimestamp.now.durationSince1970.nanosecondsClamped / 1_000
    let (start, end) = (since.microseconds(before: now), until?.microseconds(before: now) ?? now)
    if start < end { return start..<end }
    throw ValidationError(
      until == nil
        ? "--since is still to come; give a time that is over"
        : "--since and --until leave no time at all; --since comes first")
  }

  /// What is to be told; `nil` if there is no journal, which was said.
  func view(of span: Range<Int64>) throws -> JournalView? {
    guard let directory = try folder() else { return nil }
    return JournalView(
      directory, since: span.lowerBound, until: span.upperBound, targets: targets.isEmpty ? nil : Set(targets))
  }

  private func folder() throws -> JournalDirectory? {
    let candidates =
      directory.map { [$0] } ?? JournalDirectory.candidates(Environment.value, isRoot: geteuid() == 0)
    for path in candidates {
      let folder = JournalDirectory(path)
      do throws(SystemError) {
        if try !folder.files().isEmpty { return folder }
      } catch {
        if error.errno == EACCES {
          throw InputError(description: "\(error); the system's journal is for root: sudo dialtone …")
        }
        if ![ENOENT, ENOTDIR].contains(error.errno) { throw InputError(description: "\(error)") }
      }
    }
    Output.note(start(candidates.map { TerminalText.visible($0) }.joined(separator: " or ")))
    return nil
  }

  private func start(_ places: String) -> String {
    let head =
      "There is no journal of outages in \(places): nobody has recorded yet. Start a recorder, and ask again later."
    if let directory {
      return "\(head)\n  dialtone record --directory \(TerminalText.visible(ShellWord.quoted(directory)))"
    }
    return """
      \(head)
        for the system:   sudo systemctl enable --now dialtone-record.service
        for yourself:     systemctl --user enable --now dialtone-record.service
        without systemd:  dialtone record
      """
  }
}

/// A point in time, as one types it: a span before now, such as `7d`, a local day, or a time as RFC 3339 has it in UTC.
enum JournalTime: Equatable, Sendable {
  case ago(Duration)
  case at(Int64)

  static func parse(_ text: String) throws -> JournalTime {
    if let wall = WallTime.microseconds(text) { return .at(wall) }
    if text.utf8.count == 10, let day = WallTime.microseconds(text + "T00:00:00Z") { return .at(localMidnight(day)) }
    do {
      return .ago(try DurationArgument.positive(text))
    } catch {
      throw ValidationError("give a span before now such as 7d, a day such as 2026-11-24, or 2026-11-24T12:00:00Z")
    }
  }

  func microseconds(before now: Int64) -> Int64 {
    switch self {
    case .ago(let span): now - span.nanosecondsClamped / 1_000
    case .at(let wall): wall
    }
  }

  /// When the day begins here that begins then in UTC.
  private static func localMidnight(_ wall: Int64) -> Int64 {
    var parts = unsafe tm()
    let day = WallTime.text(wall).split(separator: "T")[0].split(separator: "-").compactMap { Int32($0) }
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_isdst) = (day[0] - 1900, day[1] - 1, day[2], -1)
    // mktime(3) reads and completes the structure.
    return Int64(unsafe mktime(&parts)) * WallTime.second
  }
}

/// Says how far a journal is read, once that has taken a while.
final class ReadingProgress: Sendable {
  private let progress = Progress(isEnabled: StandardStream.error.isTerminal && !Environment.isDumb)
  private let start = ContinuousClock.now
  private let shown = Lock(-1)

  func show(_ done: Int, _ total: Int) {
    let percent = total == 0 ? 100 : done * 100 / total
    if start.duration(to: .now) < .milliseconds(500) || shown.withLock({ $0 }) == percent { return }
    shown.withLock { $0 = percent }
    progress.show("reading the journal, \(percent) %")
  }

  func end() { progress.erase() }
}
