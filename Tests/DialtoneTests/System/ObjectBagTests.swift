// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct ObjectBagTests {
  private final class Object {}

  /// What goes in comes out as often, whatever the order; around the number from which on places are known, too.
  @Test(arguments: [1, 3, 31, 32, 33, 60])
  func whatIsThereIsThereAsOften(most: Int) {
    var numbers = SeededNumbers(seed: UInt64(most))
    let objects = (0..<most).map { _ in Object() }
    var bag = ObjectBag<Object>()
    var counts = [Int](repeating: 0, count: most)
    for _ in 0..<3_000 {
      let number = Int.random(in: 0..<most, using: &numbers)
      let grows = counts.reduce(0, +) < Int.random(in: 0...most, using: &numbers)
      if grows {
        bag.insert(objects[number])
        counts[number] += 1
      } else {
        bag.remove(objects[number])
        counts[number] = max(0, counts[number] - 1)
      }
      #expect(bag.objects.isEmpty == counts.allSatisfy { $0 == 0 })
    }
    for (object, count) in zip(objects, counts) { #expect(bag.objects.count { $0 === object } == count) }
    #expect(bag.objects.count == counts.reduce(0, +))
  }

  /// If each were searched for, this would take ten thousand million steps.
  @Test("a hundred thousand go at once, in the order in which they came", .timeLimit(.minutes(1)))
  func manyGoAtOnce() {
    let objects = (0..<100_000).map { _ in Object() }
    var bag = ObjectBag<Object>()
    for object in objects { bag.insert(object) }
    for object in objects { bag.remove(object) }
    #expect(bag.objects.isEmpty)
  }
}
