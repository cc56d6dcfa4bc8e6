// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Testing

/// For tests that block: those of probes that wait for a socket, and those of processes (`#expect(processExitsWith:)`),
/// whose reader in Swift Testing blocks.
///
/// All others share as many threads as there are processors. With two of them, two tests that block would stop all.
package struct ThreadsApart: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> ThreadsApart? { testCase == nil ? nil : self }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(OwnThreads()) { try await function() }
  }
}

/// Runs each job on a thread that no other job waits for: a serial queue is never left without one.
private final class OwnThreads: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue(label: "apart").async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension Trait where Self == ThreadsApart {
  /// Its tasks have threads that they share with no other tests.
  package static var threadsApart: Self { Self() }
}
