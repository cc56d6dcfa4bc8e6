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

  /// Returns where the first element with this key is, or would be. The array is in the order of the keys.
  func place<Key: Comparable>(of key: Key, by keyOf: (Element) -> Key) -> (position: Int, isTaken: Bool) {
    let position = firstPosition { keyOf($0) >= key }
    return (position, position < count && keyOf(self[position]) == key)
  }
}

extension Array where Element: AnyObject {
  /// Inserts an object into an array in the order of identities, where it may stand several times. Thousands may depend
  /// on one thing, and each has to be found at once when it goes.
  mutating func insertByIdentity(_ object: Element) {
    insert(object, at: place(of: ObjectIdentifier(object)) { ObjectIdentifier($0) }.position)
  }

  /// Removes an object once from such an array, if it stands there.
  mutating func removeByIdentity(_ object: Element) {
    let (position, isTaken) = place(of: ObjectIdentifier(object)) { ObjectIdentifier($0) }
    if isTaken { remove(at: position) }
  }
}
