// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// Runs `body` on `count` threads of their own at the same time, with the number of each, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Void) async throws {
  try await withThrowingTaskGroup { group in
    for number in 0..<count {
      group.addTask {
        try await withCheckedThrowingContinuation { continuation in
          let isStarted = Thread.start(named: "storm") {
            continuation.resume(with: Result { try body(number) })
          }
          if !isStarted { continuation.resume(throwing: NoThread()) }
        }
      }
    }
    try await group.waitForAll()
  }
}

private struct NoThread: Error {}
