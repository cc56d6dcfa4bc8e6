// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneJournal

/// Which part of which journal is told: the same for `outages` and `report`.
struct JournalOptions: ParsableArguments {
  @Option(
    "Tell of outages before this time, written as for --since (default: now).", value: "time",
    transform: { try JournalTime.parse($0, isEnd: true) })
  var until: JournalTime?

  @Option(
    name: .customLong("target"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Tell of this target alone, as it was recorded; may be given again.", valueName: "target"))
  var targets: [String] = []

  @Option(
    "The folder of the journal (default: the user's, else the system's).", value: "folder", completion: .directory)
  var directory: String?

  /// The time that is to be told of, in microseconds since 1970.
  func span(since: JournalTime?, usually length: Duration) throws -> Range<Int64> {
    if directory?.isEmpty == true { throw ValidationError("--directory: the name is empty; give a folder") }
    let now = UTCTimestamp.now.durationSince1970.nanosecondsClamped / 1_000
    let start = (since ?? .ago(length)).microseconds(before: now)
    let end = until?.microseconds(before: now) ?? now
    if start < end { return start..<end }
    if until == nil { throw ValidationError("--since is still to come; give a time that is over") }
    if since != nil { throw ValidationError("--since and --until leave no time at all; --since comes first") }
    throw ValidationError(
      "--until is before --since, which is \(DurationText.words(length)) ago by default; give --since, too")
  }

  /// When that was: "since 2026-11-24 12:00:00", or "from … to …".
  func words(for view: JournalView) -> String {
    let since = WallTime.localText(view.since)
    return until == nil ? "since \(since)" : "from \(since) to \(WallTime.localText(view.until))"
  }

  /// That nobody recorded the targets asked for, or some of them, or anything; `nil` if somebody did.
  func unseenWords(of view: JournalView) -> String? {
    let names = targets.isEmpty && view.seen.isEmpty ? ["anything"] : targets.filter { !view.seen.contains($0) }
    if names.isEmpty { return nil }
    return "nobody recorded \(names.map { TerminalText.visible($0) }.joined(separator: ", ")) \(words(for: view))"
  }

  /// Says so where the output has no place for it.
  func noteUnseen(of view: JournalView) {
    if let words = unseenWords(of: view) { Output.note(words) }
  }

  /// Says which files were left out.
  func noteSkipped(of view: JournalView) {
    let names = view.skippedFiles
    if names.isEmpty { return }
    let first = names.prefix(3).map { TerminalText.visible("\(view.directory.path)/\($0)") }.joined(separator: ", ")
    let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
    Output.note("dialtone: left out, since unreadable or no regular file: \(first)\(rest)")
  }

  /// What is to be told; `nil` if there is no journal, which was said.
  func view(of span: Range<Int64>) throws -> JournalView? {
    guard let directory = try folder() else { return nil }
    return JournalView(
      directory, since: span.lowerBound, until: span.upperBound, targets: targets.isEmpty ? nil : Set(targets))
  }

  private func folder() throws -> JournalDirectory? {
    let candidates = directory.map { [$0] } ?? JournalDirectory.candidates(Environment.value, isRoot: geteuid() == 0)
    for path in candidates {
      let folder = JournalDirectory(path)
      do throws(SystemError) {
        if try !folder.files().isEmpty { return folder }
      } catch {
        if error.errno == EACCES {
          throw InputError(description: "\(error); the system's journal is for root: sudo dialtone …")
        }
        if error.errno == ENOTDIR, directory != nil {
          let place = TerminalText.visible(path)
          throw InputError(description: "--directory: \(place) is not a folder; give that of a journal")
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

/// A point in time, as one types it: a span before now, such as `7d`, a local day, seconds since 1970 after an @, as
/// date(1) and journalctl(1) take them, or a time. That is local, as our tables have it, unless Z or an offset ends it,
/// as in RFC 3339.
enum JournalTime: Equatable, Sendable {
  case ago(Duration)
  case at(Int64)

  static func parse(_ text: String) throws -> JournalTime { try parse(text, isEnd: false) }

  /// Of an hour that the clock shows twice the first counts, and for an end the second.
  static func parse(_ text: String, isEnd: Bool) throws -> JournalTime {
    if let wall = wall(text, isEnd) { return .at(wall) }
    if text.first == "@", let seconds = UInt32(text.dropFirst()) { return .at(Int64(seconds) * 1_000_000) }
    if text.count == 8, let days = Int(text), (19_700_101...99_991_231).contains(days) {
      let day = "\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))"
      throw ValidationError("a day is written \(day), and a span of \(text) seconds \(text)s")
    }
    do {
      return .ago(try DurationArgument.positive(text))
    } catch {
      throw ValidationError(
        "give a span before now such as 7d, a day such as 2026-11-24, \"2026-11-24 12:00\", "
          + "2026-11-24T12:00:00+01:00, or seconds since 1970 such as @1795000000")
    }
  }

  /// Reads `2026-11-24`, also with ` 12:00` or `T12:00:00.5`, which `Z` or `+01:00` may end.
  private static func wall(_ text: String, _ isEnd: Bool) -> Int64? {
    let (day, rest) = (text.prefix(10), text.dropFirst(10))
    if rest.isEmpty { return WallTime.microseconds("\(day)T00:00:00Z").map { local($0, isEnd) } }
    // RFC 3339, 5.6, allows small letters.
    guard let mark = rest.first, " Tt".contains(mark) else { return nil }
    let end = rest.firstIndex { "Zz+-".contains($0) } ?? rest.endIndex
    let zone = rest[end...]
    var clock = rest[..<end].dropFirst()
    if !zone.isEmpty, clock.last == " " { clock.removeLast() }
    guard let wall = WallTime.microseconds("\(day)T\(clock)\(clock.utf8.count == 5 ? ":00" : "")Z") else { return nil }
    if zone.isEmpty { return local(wall, isEnd) }
    if zone == "Z" || zone == "z" { return wall }
    return WallTime.microseconds("1970-01-01T\(zone.dropFirst()):00Z").map { zone.first == "-" ? wall + $0 : wall - $0 }
  }

  func microseconds(before now: Int64) -> Int64 {
    switch self {
    case .ago(let span): now - span.nanosecondsClamped / 1_000
    case .at(let wall): wall
    }
  }

  /// When the clock here shows what it shows then in UTC.
  private static func local(_ wall: Int64, _ isEnd: Bool) -> Int64 {
    var time = time_t(wall.floorDivided(by: WallTime.second))
    // A tm has a pointer to the zone's name, which is not used. gmtime_r(3) reads `time` and fills `parts`, and
    // mktime(3) reads and completes them.
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&time, &parts)
    unsafe parts.tm_isdst = -1
    let found = (Int64(unsafe mktime(&parts)) - Int64(time)) * WallTime.second + wall
    // Clocks are put back by an hour as a rule, by half of one on Lord Howe Island, and by two at Troll.
    let steps = stride(from: -7_200, through: 7_200, by: 1_800).map { found + $0 * WallTime.second }
    let times = steps.filter { WallTime.local($0) == WallTime.local(found) }
    return (isEnd ? times.last : times.first) ?? found
  }
}

/// Says how far a journal is read, once that has taken a while.
final class ReadingProgress: Sendable {
  private let progress = Progress(isEnabled: Progress.isPossible)
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
