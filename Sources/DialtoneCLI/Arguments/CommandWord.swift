// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// Tells a mistyped command from a host. `dialtone HOST` watches a host, so nothing else would notice `dialtone
/// statsu`.
enum CommandWord {
  static let known = DialtoneCommand.commands.compactMap { $0.configuration.commandName } + ["help"]

  /// The parser's own option for programs that make pages from its help.
  private static let dumpOption = "--experimental-dump-help"

  /// The arguments with their command, which is `watch` if none is named.
  ///
  /// The parser could be told of a default. It would then read that one's options for every command, too, which was a
  /// quarter of all instructions of `dialtone interfaces`.
  static func named(_ arguments: [String]) -> [String] {
    let first = arguments.first ?? ""
    // A shell that completes a line begins with three dashes.
    let isForAll = arguments.count == 1 && ["-h", "-help", "--help", "--version", dumpOption].contains(first)
    return known.contains(first) || isForAll || first.hasPrefix("---") ? arguments : ["watch"] + arguments
  }

  /// Refuses targets that are likely commands, if no command was named.
  static func check(implicitTargets targets: [String]) throws {
    for (position, target) in targets.enumerated() {
      let remedy = "to watch a host of that name, write: dialtone watch \(target)"
      if known.contains(target) {
        throw ValidationError("TARGET: \"\(target)\" is a command, which stands first: dialtone \(target) …; \(remedy)")
      }
      if ASCII.folded(target) == "version" {
        throw ValidationError("TARGET: \"\(target)\" is an option: dialtone --version; \(remedy)")
      }
      try check(targets: [target])
      if position == 0, let near = known.first(where: { isNear(target, $0) }) {
        throw ValidationError("TARGET: unknown command \"\(target)\"; did you mean \(near)? Or, \(remedy)")
      }
    }
  }

  /// Refuses targets that are likely words for networks, behind the name of a command.
  static func check(targets: [String]) throws {
    for target in targets {
      guard let word = WatchedTarget.words.first(where: { !isWord(target, $0) && isNear(target, $0) }) else { continue }
      // With a space it is no host either.
      let end = target.contains(" ") ? "" : " Or, for a host of that name, write: \(target)."
      throw ValidationError("TARGET: unknown word \"\(target)\"; did you mean \(word)?\(end)")
    }
  }

  /// Refuses help on an unknown command. The parser would show help on all of them instead.
  static func check(help arguments: [String]) throws {
    guard arguments.first == "help", let word = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }),
      !known.contains(word)
    else { return }
    let remedy = known.first { isNear(word, $0) }.map { "did you mean \($0)?" }
    let commands = known.joined(separator: ", ")
    throw UsageError(
      message: "help: \"\(word)\" is not a command; \(remedy ?? "give one of \(commands)")", command: nil)
  }

  /// Whether `target` is the word, or the host of that name, written with a dot at its end.
  private static func isWord(_ target: String, _ word: String) -> Bool {
    [word, word + "."].contains(ASCII.folded(target))
  }

  /// Whether one is the other with one letter added, lost or changed, or with two neighbours swapped.
  static func isNear(_ a: String, _ b: String) -> Bool { EditDistance.between(a, b) <= 1 }
}

/// How far one word is from another.
enum EditDistance {
  /// How many names are given at most.
  private static let limit = 3

  /// The names that may have been meant by `word`, the nearest first. At most a third of it differs, or it is the
  /// beginning of the name.
  static func nearest(to word: String, among names: [String]) -> [String] {
    let most = max(1, word.unicodeScalars.count / 3)
    var near: [(distance: Int, name: String)] = []
    for name in names {
      let distance = between(word, name)
      let isBeginning = word.count > 1 && name.lowercased().hasPrefix(word.lowercased())
      if distance <= most || isBeginning { near.append((distance, name)) }
    }
    return near.sorted { $0 < $1 }.prefix(limit).map(\.name)
  }

  /// How many letters have to be added, removed, changed, or swapped with a neighbour; capitals do not count. This is
  /// the distance of Damerau and Levenshtein, in which nothing is changed twice.
  static func between(_ a: String, _ b: String) -> Int {
    let a = Array(a.lowercased().unicodeScalars)
    let b = Array(b.lowercased().unicodeScalars)
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
