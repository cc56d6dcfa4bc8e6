// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A line on standard error that is overwritten in place, only on a terminal. For any thread.
final class Progress: Sendable {
  /// When it first appears, and how often it is written again.
  static let interval = Duration.seconds(1)

  /// Whether standard error is a terminal that can show it.
  static var isPossible: Bool { StandardStream.error.isTerminal && !Environment.isDumb }

  let isEnabled: Bool
  private let shown = Lock<String?>(nil)

  init(isEnabled: Bool) { self.isEnabled = isEnabled }

  var isVisible: Bool { shown.withLock { $0 != nil } }

  func show(_ text: String) {
    guard isEnabled else { return }
    shown.withLock { $0 = text }
    // Without wrapping (DECAWM), a line that is too long is cut by the terminal itself. What is typed, such as ^C, is
    // echoed at the beginning: behind a line as wide as the terminal, it would go to the next one, and stay.
    Self.write("\r\u{1B}[K\u{1B}[?7l\(text)\u{1B}[?7h\r")
  }

  func erase() {
    if shown.withLock({ $0.take() }) != nil { Self.write("\r\u{1B}[K") }
  }

  /// Ends the line, which stays, without what was echoed into it.
  func leave() {
    if let text = shown.withLock({ $0.take() }) { Self.write("\r\u{1B}[K\u{1B}[?7l\(text)\u{1B}[?7h\n") }
  }

  private static func write(_ text: String) { StandardStream.error.offer(text) }
}

/// The line that says what is being waited for.
enum ProgressText {
  /// Such as "waiting for example.com to be reachable: wired (eth0), no carrier, 12 s of 30 s".
  ///
  /// It is one line, on a terminal of any width. Names are cut first, then what was asked for is left out, then the
  /// names; then the reason is cut at its end. That it waits, and how long, stays.
  static func line(
    _ waiting: Waiting, names: ShortenedNames, reason: (Int) -> String?, elapsed: Duration, limit: Duration?,
    columns: Int = 80
  ) -> String {
    let time = time(elapsed)
    let timeOfLimit = time + (limit.map { " of \(DurationText.words($0))" } ?? "")
    let cause = words(waiting, names, reason)
    let end = (cause.map { ": \($0.named)" } ?? "") + ", \(timeOfLimit)"
    var lines = [columns, 24, 16, 10].map { "waiting for \(list(waiting, names, columns: $0)) \(waiting.goal)\(end)" }
    lines += [24, 10].map { "waiting for \(list(waiting, names, columns: $0))\(end)" }
    if let cause {
      lines.append("waiting: \(cause.words), \(time)")
      let room = columns - TerminalText.columns("waiting: , \(time)")
      if room > 8 { lines.append("waiting: \(TerminalText.taken(cause.words, columns: room - 1))…, \(time)") }
    }
    lines += ["waiting, \(time)", time]
    return lines.first { TerminalText.columns($0) <= columns } ?? ""
  }

  private static func list(_ waiting: Waiting, _ names: ShortenedNames, columns: Int) -> String {
    let shown = waiting.targets.prefix(2).map { names.name($0, to: columns) }
    let more = waiting.targets.count - shown.count
    return more > 0 ? shown.joined(separator: ", ") + " and \(more) more" : shown.joined(separator: " and ")
  }

  /// Why the first of them is waited for. `named` has its name, too, if another may have another reason.
  private static func words(
    _ waiting: Waiting, _ names: ShortenedNames, _ reason: (Int) -> String?
  ) -> (words: String, named: String)? {
    let known = waiting.targets.prefix(2).compactMap { target in reason(target).map { (target, $0) } }
    guard let (target, words) = known.first else { return nil }
    let isShared = waiting.targets.count == known.count && known.allSatisfy { $0.1 == words }
    return (words, isShared ? words : "\(names.name(target, to: 16)): \(words)")
  }

  /// Whole seconds: it is written once a second.
  private static func time(_ elapsed: Duration) -> String {
    DurationText.words(.seconds(max(1, elapsed.secondsClamped))).replacing(".0", with: "")
  }
}

/// Why a wait goes on, for standard error if no terminal shows it in place: each reason once, and a few in all.
struct WaitReasons {
  /// The limit for all targets together, however often they change.
  private static let limit = 10

  private var written: Set<String> = []

  /// The line to write; `nil` if that reason has been written.
  mutating func line(_ name: String, _ goal: String, _ reason: String) -> String? {
    guard written.count < Self.limit, written.insert(reason).inserted else { return nil }
    return "dialtone: waiting for \(TerminalText.visible(name)) \(goal): \(reason)"
  }
}
