// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// What a task on the main thread waits for, and what wakes it. Nothing here waits for a time to come: what would be
/// late never comes at all.
@Suite(.timeLimit(.minutes(5)))
struct MainThreadTests {
  private struct Failure: Error {}

  /// Runs it on a thread of its own, which it blocks.
  private func run(
    _ body: @escaping @Sendable (MainThread) async throws -> DialtoneCLI.ExitStatus
  ) async throws -> DialtoneCLI.ExitStatus {
    try await withCheckedThrowingContinuation { continuation in
      Foundation.Thread.detachNewThread { continuation.resume(with: Result { try MainThread.run(body) }) }
    }
  }

  /// The same, for what the waits return.
  private func answers(_ body: @escaping @Sendable (MainThread) async throws -> [Bool]) async throws -> [Bool] {
    let answers = Box<[Bool]>([])
    let status = try await run { thread in
      answers.value = try await body(thread)
      return .holds
    }
    #expect(status == .holds)
    return answers.value
  }

  @Test func returnsWhatTheTaskReturns() async throws {
    #expect(try await run { _ in .fails } == .fails)
    #expect(try await run { _ in .undetermined } == .undetermined)
    await #expect(throws: Failure.self) { try await run { _ in throw Failure() } }
  }

  /// A task elsewhere ends: its result comes from another thread.
  @Test func isWokenByOtherThreads() async throws {
    let status = try await run { _ in
      var sum = 0
      for number in 1...20 { sum += await Task.detached { number }.value }
      return sum == 210 ? .holds : .fails
    }
    #expect(status == .holds)
  }

  /// More than there is room for events at a time.
  @Test func runsTasksBesideEachOther() async throws {
    let ready = try await answers { thread in
      let pipes = (0..<20).map { _ in Pipe() }
      defer { withExtendedLifetime(pipes) {} }
      return await withTaskGroup(of: Bool.self) { group in
        for pipe in pipes {
          let descriptor = pipe.fileHandleForReading.fileDescriptor
          group.addTask { await thread.wait(for: [descriptor]) }
        }
        for pipe in pipes { pipe.fileHandleForWriting.write(Data([1])) }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(ready == Array(repeating: true, count: 20))
  }

  /// poll(2): a pipe that holds something can be read, and one without a writer has hung up, whatever is asked.
  @Test func waitsForDescriptors() async throws {
    let ready = try await answers { thread in
      let (empty, full, closed) = (Pipe(), Pipe(), Pipe())
      defer { withExtendedLifetime((empty, full, closed)) {} }
      full.fileHandleForWriting.write(Data([1]))
      try closed.fileHandleForWriting.close()
      let descriptors = [empty, full, closed].map(\.fileHandleForReading.fileDescriptor)
      let past = ContinuousClock.now
      return [
        await thread.wait(for: [descriptors[1]]), await thread.wait(for: [descriptors[0], descriptors[1]]),
        await thread.wait(for: [descriptors[2]]), await thread.wait(for: [descriptors[2]], areRead: false),
        // Whether it can be read does not matter, if that is not asked.
        await thread.wait(for: [descriptors[1]], areRead: false, until: past),
        await thread.wait(for: [descriptors[0]], until: past),
        // What was waited for can be waited for again, and long before the end.
        await thread.wait(for: [descriptors[1]], until: past.advanced(by: .seconds(100_000))),
      ]
    }
    #expect(ready == [true, true, true, true, false, false, true])
  }

  /// epoll_ctl(2): a regular file is refused. It is never ready, so its end comes.
  @Test func aFileIsNeverReady() async throws {
    let file = try #require(FileHandle(forReadingAtPath: "/etc/passwd"))
    let descriptor = file.fileDescriptor
    #expect(try await answers { [await $0.wait(for: [descriptor], until: .now)] } == [false])
    withExtendedLifetime(file) {}
  }

  @Test func sleepsUntilATimeOrItsCancellation() async throws {
    let ended = try await answers { thread in
      let never = ContinuousClock.now.advanced(by: .seconds(100_000))
      let pipe = Pipe()
      defer { withExtendedLifetime(pipe) {} }
      let descriptor = pipe.fileHandleForReading.fileDescriptor
      let tasks = [
        Task(executorPreference: thread) { await thread.sleep(until: never) },
        Task(executorPreference: thread) { await thread.wait(for: [descriptor]) },
        Task(executorPreference: thread) { await thread.wait() },
        // It is cancelled before it waits.
        Task(executorPreference: thread) {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          return await thread.sleep(until: never)
        },
      ]
      // The others wait meanwhile.
      var ended = [await thread.sleep(until: .now), await thread.sleep(until: .now.advanced(by: .milliseconds(1)))]
      for task in tasks { task.cancel() }
      for task in tasks { ended.append(await task.value) }
      return ended
    }
    #expect(ended == [true, true, false, false, false, false])
  }
}
