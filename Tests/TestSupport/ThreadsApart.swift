// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Testing

/// For suites whose tests block a thread, or wait for processes.
///
/// Tests share as many threads as there are processors, and thousands of them stand in one queue. Tasks of another
/// priority have threads and a queue of their own.
package struct ThreadsApart: SuiteTrait, TestScoping {
  fileprivate let priority: TaskPriority

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      let (running, end) = AsyncStream.makeStream(of: Never.self)
      let task = Task(priority: priority) {
        defer { end.finish() }
        try await function()
      }
      // Not by `task.value`: a task that another one waits for gets its priority.
      await withTaskCancellationHandler {
        for await _ in running {}
      } onCancel: {
        task.cancel()
      }
      try await task.value
    }
  }
}

extension Trait where Self == ThreadsApart {
  /// For tests that block a thread: two of them would stop all other tests of a machine with two processors. Those that
  /// are processes (`#expect(processExitsWith:)`) do, since Swift Testing's reader blocks.
  package static var threadsApart: Self { Self(priority: .utility) }

  /// For tests that mostly wait for processes, one step after the other: a step need not queue behind all tests.
  package static var ahead: Self { Self(priority: .high) }
}
