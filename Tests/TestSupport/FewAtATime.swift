// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Lets few tests run at a time.
///
/// Swift Testing starts all of them at once. A thousand tests that make networks, servers and processes then share two
/// cores: each takes minutes, and no limit in a test says anything about what it tests. A test's time limit begins with
/// its turn.
package struct FewAtATime: TestTrait, SuiteTrait, TestScoping {
  /// Most tests wait for others most of the time: the kernel, a process, a clock. Not so with a sanitizer.
  private static let turns = Turns((isSanitized ? 2 : 4) * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
  @TaskLocal private static var hasTurn = false

  package var isRecursive: Bool { true }

  /// All cases of one test share its turn.
  package func scopeProvider(for test: Test, testCase: Test.Case?) -> FewAtATime? {
    test.isSuite || testCase != nil ? nil : self
  }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard !Self.hasTurn else { return try await function() }
    await Self.turns.take()
    defer { Self.turns.giveBack() }
    try await Self.$hasTurn.withValue(true, operation: function)
  }
}

extension Trait where Self == FewAtATime {
  /// Few tests run at a time.
  package static var fewAtATime: Self { Self() }
}

/// A counting semaphore for tasks, in the order in which they came.
private final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
