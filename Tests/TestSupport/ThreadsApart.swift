// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Testing

/// For tests of processes (`#expect(processExitsWith:)`).
///
/// While such a process runs, Swift Testing's reader blocks a thread. There are as many threads as processors: with two
/// of them, two such tests would stop all others. Tasks of another priority have threads of their own.
package struct ThreadsApart: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> ThreadsApart? { testCase == nil ? nil : self }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      let (running, end) = AsyncStream.makeStream(of: Never.self)
      let task = Task(priority: .utility) {
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
  /// Its tasks have threads that they share with no other tests.
  package static var threadsApart: Self { Self() }
}
