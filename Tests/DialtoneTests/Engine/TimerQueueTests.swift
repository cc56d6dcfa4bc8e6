// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct TimerQueueTests {
  @Test func givesWhatIsDueInOrderAndNoMore() {
    var queue = TimerQueue<Int>()
    for deadline in [50, 10, 40, 20, 30] { queue.add(deadline, at: Int64(deadline)) }
    #expect(queue.next == 10)
    #expect(queue.popDue(9) == nil)
    #expect(queue.popDue(35) == 10)
    #expect(queue.popDue(35) == 20)
    #expect(queue.popDue(35) == 30)
    #expect(queue.popDue(35) == nil)
    #expect(queue.next == 40)
    #expect(queue.count == 2)
  }

  @Test func isEmptyWhenAllHasBeenTakenOut() {
    var queue = TimerQueue<Int>()
    #expect(queue.next == nil)
    #expect(queue.popDue(.max) == nil)
    queue.add(1, at: .max)
    queue.add(2, at: .min)
    #expect(queue.popDue(0) == 2)
    #expect(queue.popDue(.max) == 1)
    #expect(queue.next == nil)
    #expect(queue.count == 0)
  }

  @Test func equalDeadlinesAreAllGiven() {
    var queue = TimerQueue<Int>()
    for event in 0..<100 { queue.add(event, at: 7) }
    var events: Set<Int> = []
    while let event = queue.popDue(7) { events.insert(event) }
    #expect(events == Set(0..<100))
  }

  @Test func removesUnwantedDeadlines() {
    var queue = TimerQueue<Int>()
    for event in (0..<100).reversed() { queue.add(event, at: Int64(event)) }
    queue.removeAll { !$0.isMultiple(of: 3) }
    #expect(queue.count == 34)
    var events: [Int] = []
    while let event = queue.popDue(.max) { events.append(event) }
    #expect(events == Array(stride(from: 0, to: 100, by: 3)))
  }

  @Test func agreesWithASortedList() {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    var queue = TimerQueue<Int64>()
    var model: [Int64] = []
    for step in 0..<5_000 {
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0..<5:
        let deadline = Int64.random(in: -1_000...1_000, using: &numbers)
        queue.add(deadline, at: deadline)
        model.insert(deadline, at: model.firstIndex { $0 > deadline } ?? model.count)
      case 9 where step.isMultiple(of: 7):
        queue.removeAll { $0.isMultiple(of: 5) }
        model.removeAll { $0.isMultiple(of: 5) }
      default:
        let now = Int64.random(in: -1_100...1_100, using: &numbers)
        let expected = model.first.flatMap { $0 <= now ? $0 : nil }
        if expected != nil { model.removeFirst() }
        #expect(queue.popDue(now) == expected, "seed \(seed)")
      }
      #expect(queue.next == model.first, "seed \(seed)")
      #expect(queue.count == model.count, "seed \(seed)")
    }
  }
}
