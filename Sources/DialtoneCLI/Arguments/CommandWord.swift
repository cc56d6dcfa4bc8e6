// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Tells a mistyped command from a host: `dialtone HOST` watches a host, so nothing else would notice `dialtone statsu`.
enum CommandWord {
  static let known = ["watch", "status", "wait", "check", "interfaces", "help"]
  /// Commands of other versions; a host of such a name can be given after `watch`.
  static let reserved = ["explain"]

  /// Refuses targets that are likely commands, where no command was named.
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

  /// Whether `target` is the word, or with a dot at its end the host of that name.
  private static func isWord(_ target: String, _ word: String) -> Bool {
    [word, word + "."].contains(target.lowercased())
  }

  /// Whether one is the other with one letter added, lost, changed, or two neighbours swapped.
  static func isNear(_ a: String, _ b: String) -> Bool {
    let a = Array(a.lowercased().utf8)
    let b = Array(b.utf8)
    if a.count > b.count + 1 || b.count > a.count + 1 { return false }
    let front = zip(a, b).prefix { $0 == $1 }.count
    let most = min(a.count, b.count) - front
    let back = zip(a.reversed(), b.reversed()).prefix(most, while: { $0 == $1 })
    let (restA, restB) = (a.count - front - back, b.count - front - back)
    if restA <= 1, restB <= 1 { return true }
    return restA == 2 && restB == 2 && a[front] == b[front + 1] && a[front + 1] == b[front]
  }
}

extension Sequence {
  /// How many elements at the beginning, `most` at most, fulfil the condition.
  fileprivate func prefix(_ most: Int, while isMet: (Element) -> Bool) -> Int {
    var count = 0
    for element in self {
      guard count < most, isMet(element) else { break }
      count += 1
    }
    return count
  }
}
