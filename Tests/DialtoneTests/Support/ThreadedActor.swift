// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An actor on a queue of its own, so that a handler that blocks holds up none of the threads that tests run on.
actor ThreadedActor {
  private let executor = QueueExecutor()
  // The actor holds its executor, as the reference asks.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Runs `body` on the actor.
  func run<Result: Sendable>(_ body: @Sendable (isolated ThreadedActor) -> Result) -> Result { body(self) }
}

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "dialtone-tests.actor")

  func enqueue(_ job: consuming ExecutorJob) {
    // The job runs once, in the block: that is what an executor owes it.
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
