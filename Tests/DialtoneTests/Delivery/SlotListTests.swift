// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

/// The list in which handlers wait.
struct SlotListTests {
  private static func list(_ elements: some Sequence<Int>) -> SlotList<Int> {
    var list = SlotList<Int>()
    for element in elements { list.append(element) }
    return list
  }

  private static func drain(_ list: inout SlotList<Int>) -> [Int] {
    var all: [Int] = []
    while let element = list.popFirst() { all.append(element) }
    return all
  }

  @Test func givesElementsInTheirOrder() {
    var list = Self.list(1...5)
    #expect(!list.isEmpty)
    #expect(Self.drain(&list) == [1, 2, 3, 4, 5])
    #expect(list.isEmpty)
    #expect(list.popFirst() == nil)
  }

  @Test(arguments: [([0], [2, 3, 4]), ([1], [1, 3, 4]), ([3], [1, 2, 3]), ([3, 0, 2], [2]), ([0, 1, 2, 3], [])])
  func anElementLeavesFromWhereItStands(slots: [Int], rest: [Int]) {
    var list = Self.list(1...4)
    for slot in slots {
      #expect(list.remove(at: slot) == slot + 1)
      #expect(list[slot] == nil)
      #expect(list.remove(at: slot) == nil)
    }
    #expect(Self.drain(&list) == rest)
  }

  @Test func slotsThatAreNotThereAreFree() {
    var list = Self.list([1])
    for slot in [-1, 1, .max] {
      #expect(list[slot] == nil)
      #expect(list.remove(at: slot) == nil)
    }
    #expect(Self.drain(&list) == [1])
  }

  @Test func aFreeSlotIsUsedAgainAndTheOrderIsKept() {
    var list = Self.list(1...3)
    #expect(list.remove(at: 1) == 2)
    #expect(list.nextSlot == 1)
    list.append(4)
    #expect(list[1] == 4)
    #expect(list.nextSlot == 3)
    #expect(Self.drain(&list) == [1, 3, 4])
  }

  /// Compares it with an array that does the same, slowly.
  @Test(arguments: 1...20)
  func doesWhatAnArrayDoes(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    var list = SlotList<Int>()
    var model: [(slot: Int, element: Int)] = []
    for element in 0..<5_000 {
      // It grows and shrinks in turn, so that it is empty and large at times.
      let grows = element / 1_500 % 2 == 0 ? 3 : 1
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0..<grows:
        let slot = list.nextSlot
        #expect(!model.contains { $0.slot == slot })
        list.append(element)
        model.append((slot, element))
      case grows..<4:
        #expect(list.popFirst() == (model.isEmpty ? nil : model.removeFirst().element))
      default:
        guard let position = model.indices.randomElement(using: &numbers) else { continue }
        let (slot, element) = model.remove(at: position)
        #expect(list.remove(at: slot) == element)
      }
      #expect(list.isEmpty == model.isEmpty)
    }
    #expect(Self.drain(&list) == model.map(\.element))
  }

  @Test func manyThatComeAndGoNeedNoMoreSlotsThanAreTakenAtATime() {
    var list = Self.list([0])
    for element in 1...100_000 {
      let slot = list.nextSlot
      #expect(slot == 1)
      list.append(element)
      #expect(list.remove(at: slot) == element)
    }
    #expect(Self.drain(&list) == [0])
    // A large list that is emptied begins anew.
    list = Self.list(0..<10_000)
    #expect(Self.drain(&list).count == 10_000)
    #expect(list.nextSlot == 0)
    list.append(1)
    #expect(list[0] == 1)
  }
}
