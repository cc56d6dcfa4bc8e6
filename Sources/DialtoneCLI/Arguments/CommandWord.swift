// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Tells a mistyped command from a host. `dialtone HOST` watches a host, so nothing else would notice `dialtone
/// statsu`.
enum CommandWord {
  static let known = ["watch", "status", "wait", "check", "interfaces", "help"]
  /// Commands of other versions; a host of such a name can be given after `watch`.
  static let reserved = ["explain"]

  /// Refuses targets that are likely commands, if no command was named.
  static func check(implicitTargets targets: [String]) throws {
    for (position, target) in targets.enumerated() {
      let remedy = "to watch a host of that name, write: dialtone watch \(target)"
      if known.contains(target) {
        throw ValidationError("TARGET: \"\(target)\" is a command, which stands first: dialtone \(target) …; \(remedy)")
      }
      if reserved.contains(target) {
        throw ValidationError("TARGET: \"\(target)\" is not a command of this version; \(remedy)")
      }
      if target.lowercased() == "version" {
        throw ValidationError("TARGET: \"\(target)\" is an option: dialtone --version; \(remedy)")
      }
      if let word = WatchedTarget.words.first(where: { isNear(target, $0) && !isWord(target, $0) }) {
        // With a space it is no host either.
        let end = target.contains(" ") ? "" : " Or, \(remedy)"
        throw ValidationError("TARGET: unknown word \"\(target)\"; did you mean \(word)?\(end)")
      }
      if position == 0, let near = known.first(where: { isNear(target, $0) }) {
        throw ValidationError("TARGET: unknown command \"\(target)\"; did you mean \(near)? Or, \(remedy)")
      }
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
    [word, word + "."].contains(target.lowercased())
  }

  /// Whether one is the other with one letter added, lost or changed, or with two neighbours swapped.
  static func isNear(_ a: String, _ b: String) -> Bool {
    abs(a.utf8.count - b.utf8.count) <= 1 && EditDistance.between(a, b) <= 1
  }
}
