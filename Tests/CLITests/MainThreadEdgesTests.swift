// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// What a wait is not ended by, and that it takes no time of the processor.
@Suite(.timeLimit(.minutes(5)))
struct MainThreadEdgesTests {
  /// Runs it on a thread of its own, which it blocks.
  private func answers(_ body: @escaping @Sendable (MainThread) async throws -> [Bool]) async throws -> [Bool] {
    let answers = Box<[Bool]>([])
    let status: DialtoneCLI.ExitStatus = try await withCheckedThrowingContinuation { continuation in
      Foundation.Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try MainThread.run { thread in
              answers.value = try await body(thread)
              return .holds
            }
          })
      }
    }
    #expect(status == .holds)
    return answers.value
  }

  /// The first wait of all goes on while jobs come from other threads.
  @Test func aWakeUpIsNoReadyDescriptor() async throws {
    let ready = try await answers { thread in
      let wait = Task(executorPreference: thread) { await thread.wait() }
      for _ in 0..<50 { await Task.detached {}.value }
      wait.cancel()
      return [await wait.value]
    }
    #expect(ready == [false])
  }

  /// The end of one wait is not that of another, which has none, or a later one.
  @Test func theEndOfOneIsNotThatOfAnother() async throws {
    let ready = try await answers { thread in
      let pipes = [Pipe(), Pipe()]
      defer { withExtendedLifetime(pipes) {} }
      let descriptors = pipes.map(\.fileHandleForReading.fileDescriptor)
      let far = ContinuousClock.now.advanced(by: .seconds(100_000))
      let tasks = zip(descriptors, [nil, far]).map { descriptor, end in
        Task(executorPreference: thread) { await thread.wait(for: [descriptor], until: end) }
      }
      for _ in 0..<5 { await thread.wait(until: .now.advanced(by: .microseconds(100))) }
      for pipe in pipes { pipe.fileHandleForWriting.write(Data([1])) }
      return [await tasks[0].value, await tasks[1].value]
    }
    #expect(ready == [true, true])
  }

  /// Of a task that is cancelled before it waits, no descriptor is ready.
  @Test func nothingIsReadyForWhatIsCancelledBefore() async throws {
    let ready = try await answers { thread in
      let task = Task(executorPreference: thread) {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return await thread.wait()
      }
      return [await task.value]
    }
    #expect(ready == [false])
  }

  /// The thread sleeps until the end, no matter what has woken it before (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID).
  @Test func sleepsWhileItWaits() async throws {
    let isAsleep = try await answers { thread in
      @Sendable func spent() -> Duration {
        var time = timespec()
        // Filled during the call.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
      }
      for _ in 0..<5 { await Task.detached {}.value }
      let before = spent()
      await thread.wait(until: .now.advanced(by: .milliseconds(60)))
      return [spent() - before < .milliseconds(20)]
    }
    #expect(isAsleep == [true])
  }
}
