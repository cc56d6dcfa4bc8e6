// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An actor on a queue of its own. A handler of it that blocks holds up no thread that tests run on.
actor ThreadedActor {
  private let executor = QueueExecutor()
  // The actor holds its executor, as the documentation of `UnownedSerialExecutor` asks.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Runs `body` on the actor.
  func run<Result: Sendable>(_ body: @Sendable (isolated ThreadedActor) -> Result) -> Result { body(self) }
}

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "dialtone-tests.actor")

  func enqueue(_ job: consuming ExecutorJob) {
    // The job runs once, in the block, as an executor must ensure.
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
