// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneCLI

struct LineQueueTests {
  private func all(_ queue: inout LineQueue) -> [String] {
    var lines: [String] = []
    while let line = queue.next() { lines.append(line) }
    return lines
  }

  @Test func keepsOrder() {
    var queue = LineQueue()
    #expect(queue.isEmpty)
    for number in 0..<10 { queue.append("\(number)", of: number % 2) }
    #expect(!queue.isEmpty)
    #expect(all(&queue) == (0..<10).map { "\($0)" })
    #expect(queue.isEmpty && queue.next() == nil)
  }

  @Test func staysBoundedAndKeepsTheNewestOfEach() {
    var queue = LineQueue()
    for number in 1...100_000 { queue.append("\(number)", of: number % 3) }
    let lines = all(&queue).compactMap { Int($0) }
    #expect(lines.count <= 1024)
    #expect(lines == lines.sorted())
    for target in 0..<3 { #expect(lines.last { $0 % 3 == target } == (1...100_000).last { $0 % 3 == target }) }
  }

  /// Lines are taken while others come: what was taken makes no room, and nothing that is left is lost.
  @Test func losesNothingWhileItIsRead() {
    var queue = LineQueue()
    var taken: [String] = []
    for number in 0..<50_000 {
      queue.append("\(number)", of: number % 7)
      if number % 2 == 0, number < 900 || number > 40_000, let line = queue.next() { taken.append(line) }
    }
    taken += all(&queue)
    let numbers = taken.compactMap { Int($0) }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.suffix(7) == Array(49_993..<50_000)[...])
  }
}
