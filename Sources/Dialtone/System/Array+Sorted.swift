// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Searches of sorted arrays. Such arrays are the engine's tables, since the first hash table of each type takes some
/// 150,000 instructions: its type is made at run time, and a program's first state waits for that.
extension Array {
  /// Returns the first position that meets the condition, or `count`. All elements after it must meet it, too.
  func firstPosition(where condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Returns where the element with this key is, or would be. The array is in the order of the keys, each once.
  func place<Key: Comparable>(of key: Key, by keyOf: (Element) -> Key) -> (position: Int, isTaken: Bool) {
    let position = firstPosition { keyOf($0) >= key }
    return (position, position < count && keyOf(self[position]) == key)
  }
}
