// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct SortedArrayTests {
  private final class Object {}

  /// Like a bag: what goes in comes out as often, whatever the order.
  @Test func objectsAreFoundByIdentity() {
    var numbers = SeededNumbers(seed: 7)
    let objects = (0..<40).map { _ in Object() }
    var sorted: [Object] = []
    var bag: [ObjectIdentifier: Int] = [:]
    for _ in 0..<2_000 {
      let object = objects[Int.random(in: 0..<objects.count, using: &numbers)]
      let count = bag[ObjectIdentifier(object)] ?? 0
      if Bool.random(using: &numbers) {
        sorted.insertByIdentity(object)
        bag[ObjectIdentifier(object)] = count + 1
      } else {
        sorted.removeByIdentity(object)
        bag[ObjectIdentifier(object)] = max(0, count - 1)
      }
    }
    for object in objects {
      #expect(sorted.count { $0 === object } == bag[ObjectIdentifier(object)] ?? 0)
    }
    #expect(sorted.count == bag.values.reduce(0, +))
  }
}
