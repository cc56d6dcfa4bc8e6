// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import DialtoneSites

/// The bound on checks at a time.
struct ConnectionPermitsTests {
  @Test(arguments: [(-1, 1), (0, 1), (1, 1), (3, 3)])
  func givesAsManyAsTheLimit(limit: Int, count: Int) {
    let permits = ConnectionPermits(limit)
    #expect((0..<5).filter { _ in permits.take() }.count == count)
    permits.release()
    #expect(permits.take() && !permits.take())
  }

  /// Who has asked first is served first; who gave up is passed over, and takes nothing.
  @Test(arguments: 1...4) func servesInTheOrderOfAsking(limit: Int) async {
    let permits = ConnectionPermits(limit)
    for _ in 0..<limit { #expect(permits.take()) }
    let served = Box<[Int]>([])
    // Each runs until it waits before the next one is made.
    let tasks = (0..<60).map { number in
      Task.immediate {
        do {
          try await permits.acquire()
        } catch {
          return false
        }
        served.update { $0.append(number) }
        // Nobody who comes later gets it before those who wait.
        permits.release()
        return true
      }
    }
    #expect(served.value.isEmpty && !permits.take())
    for number in stride(from: 0, to: 60, by: 3) { tasks[number].cancel() }
    for number in stride(from: 0, to: 60, by: 3) { #expect(await tasks[number].value == false) }
    // One at a time, so that their order is known.
    permits.release()
    for task in tasks { _ = await task.value }
    #expect(served.value == (0..<60).filter { $0 % 3 != 0 })
    for _ in 1..<limit { permits.release() }
    #expect((0..<10).filter { _ in permits.take() }.count == limit)
  }

  @Test func whoWasCancelledBeforeGetsNothing() async {
    let permits = ConnectionPermits(1)
    #expect(permits.take())
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await permits.acquire()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    permits.release()
    #expect(permits.take())
  }
}
