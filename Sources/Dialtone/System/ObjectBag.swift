// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Objects that depend on one thing, in no order. An object may be there several times. Thousands may go at once, so
/// each is found without a search, unless there are few.
///
/// Invariant: what `places` has is where that object stands; of one that it does not have, or that stands several
/// times, the rest is searched.
struct ObjectBag<Object: AnyObject> {
  private(set) var objects = Few<Object>()
  /// Empty while there are few: the first hash table of a type takes some 150,000 instructions.
  private var places: [ObjectIdentifier: Int] = [:]

  private static var fewLimit: Int { 32 }

  mutating func insert(_ object: Object) {
    if objects.count == Self.fewLimit {
      for (place, object) in objects.enumerated() { places[ObjectIdentifier(object)] = place }
    }
    if objects.count >= Self.fewLimit { places[ObjectIdentifier(object)] = objects.count }
    objects.append(object)
  }

  /// Removes an object once, if it is there.
  mutating func remove(_ object: Object) {
    let known = places.isEmpty ? nil : places.removeValue(forKey: ObjectIdentifier(object))
    guard let place = known ?? objects.lastIndex(where: { $0 === object }) else { return }
    objects.remove(at: place)
    if places.isEmpty || place == objects.count { return }
    let moved = ObjectIdentifier(objects[place])
    if places[moved] == objects.count { places[moved] = place }
  }
}
