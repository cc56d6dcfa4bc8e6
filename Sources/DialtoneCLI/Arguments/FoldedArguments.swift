// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A command line in which one argument stands for each long run of targets.
///
/// ArgumentParser takes time that grows with the square of the number of arguments: 30,000 targets would take it a
/// minute. It treats a run of arguments that are neither options nor values of options as it treats one of them.
struct FoldedArguments {
  /// From how many arguments on it pays.
  private static let minimum = 256

  /// What ArgumentParser is to read.
  private(set) var arguments: [String] = []
  private var runs: [String: ArraySlice<String>] = [:]

  init(_ typed: [String]) {
    // A shell's completion refers to arguments by their positions.
    if typed.count < Self.minimum || typed.contains(where: { $0.hasPrefix("---") }) {
      arguments = typed
      return
    }
    var start = 0
    while start < typed.count {
      var end = start
      while end < typed.count, !typed[end].hasPrefix("-") { end += 1 }
      // The first may be the value of the option before, or a command; the second, the first target of that.
      let kept = min(start + 2, end)
      arguments += typed[start..<kept]
      if end - kept > 1 {
        // No argument has a NUL: exec(3) takes C strings.
        let token = "\(typed[kept])\0\(runs.count)"
        runs[token] = typed[kept..<end]
        arguments.append(token)
      } else {
        arguments += typed[kept..<end]
      }
      if end < typed.count { arguments.append(typed[end]) }
      start = end + 1
    }
  }

  /// The targets that `read` stands for.
  func unfolded(_ read: [String]) -> [String] { runs.isEmpty ? read : read.flatMap { runs[$0] ?? [$0] } }

  /// What is wrong with the arguments, as it was typed: of a run, the first.
  func unfolded(message: String) -> String {
    runs.reduce(message) { message, run in message.replacing(run.key, with: run.value.first ?? "") }
  }
}
