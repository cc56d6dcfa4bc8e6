// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Deadlines in order, each with what is due then, in a binary heap. If one is no longer wanted, its owner ignores it
/// when it is due.
struct TimerQueue<Event> {
  private struct Entry {
    let deadline: Int64
    let event: Event
  }

  private var heap: [Entry] = []
  private var forgottenCount = 0

  var count: Int { heap.count }

  /// All events, in no order.
  var events: [Event] { heap.map(\.event) }

  var next: Int64? { heap.first?.deadline }

  mutating func add(_ event: Event, at deadline: Int64) {
    heap.append(Entry(deadline: deadline, event: event))
    var child = heap.count - 1
    while child > 0, heap[(child - 1) / 2].deadline > heap[child].deadline {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the earliest event, if its deadline is not after `now`.
  mutating func popDue(_ now: Int64) -> Event? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      siftDown()
    }
    return first.event
  }

  /// Counts events that are no longer wanted, and removes them once they are the majority: each costs little.
  mutating func forget(_ newCount: Int = 1, where isUnwanted: (Event) -> Bool) {
    forgottenCount += newCount
    if forgottenCount <= 64 || forgottenCount * 2 <= count { return }
    forgottenCount = 0
    removeAll(where: isUnwanted)
  }

  mutating func removeAll(where isUnwanted: (Event) -> Bool) {
    heap.removeAll { isUnwanted($0.event) }
    // A sorted array is in heap order.
    heap.sort { $0.deadline < $1.deadline }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].deadline < heap[smallest].deadline { smallest = child }
      }
      if smallest == parent { return }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
