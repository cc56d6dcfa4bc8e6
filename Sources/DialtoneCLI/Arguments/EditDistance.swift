// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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
