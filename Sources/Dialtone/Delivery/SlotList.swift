// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Elements in the order in which they were added. Any of them can be removed without moving another.
///
/// Each has a slot of its own, which is used again once it is free. Invariant: the taken slots are linked both ways
/// from `first` to `last`, the free ones one way from `free`. So every operation takes constant time.
struct SlotList<Element> {
  private struct Slot {
    /// `nil` if the slot is free.
    var element: Element?
    var previous: Int?
    var next: Int?
  }

  /// If more slots than this are all free, their memory is released.
  private static var keptCount: Int { 1_024 }

  private var slots: [Slot] = []
  private var first: Int?
  private var last: Int?
  private var free: Int?

  var isEmpty: Bool { first == nil }

  subscript(slot: Int) -> Element? { slots.indices.contains(slot) ? slots[slot].element : nil }

  /// The slot that the next element will have.
  var nextSlot: Int { free ?? slots.count }

  mutating func append(_ element: Element) {
    let slot = nextSlot
    let new = Slot(element: element, previous: last)
    if slot == slots.count {
      slots.append(new)
    } else {
      free = slots[slot].next
      slots[slot] = new
    }
    if let last { slots[last].next = slot } else { first = slot }
    last = slot
  }

  mutating func popFirst() -> Element? { first.flatMap { remove(at: $0) } }

  /// Removes and returns the element in the slot, or `nil` if the slot is free.
  mutating func remove(at slot: Int) -> Element? {
    guard let element = self[slot] else { return nil }
    let (previous, next) = (slots[slot].previous, slots[slot].next)
    if let previous { slots[previous].next = next } else { first = next }
    if let next { slots[next].previous = previous } else { last = previous }
    slots[slot] = Slot(next: free)
    free = slot
    if isEmpty, slots.count > Self.keptCount {
      slots = []
      free = nil
    }
    return element
  }
}
