// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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
    do {
      try await Self.$hasTurn.withValue(true, operation: function)
      await Self.turns.giveBack()
    } catch {
      await Self.turns.giveBack()
      throw error
    }
  }
}

extension Trait where Self == FewAtATime {
  /// Few tests run at a time.
  package static var fewAtATime: Self { Self() }
}

/// A counting semaphore for tasks, in the order in which they came.
private actor Turns {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
