// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
import Dispatch
import Foundation
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
    try await withTaskExecutorPreference(OwnThreads.shared) { try await function() }
  }
}

/// Runs each job on a thread of its own.
///
/// All are started by one thread, which is there before any test: a thread begins in the network namespace of the one
/// that starts it, and jobs come from threads of labs, too.
private final class OwnThreads: TaskExecutor {
  static let shared = OwnThreads()
  private let jobs = Lock<[UnownedJob]>([])
  private let count = DispatchSemaphore(value: 0)

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        count.wait()
        let job = jobs.withLock { $0.removeFirst() }
        Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    count.signal()
  }
}

extension Trait where Self == ThreadsApart {
  /// Its tasks have threads that they share with no other tests.
  package static var threadsApart: Self {
    // Begins while tests are looked for.
    _ = OwnThreads.shared
    return Self()
  }
}
