// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
package import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lets few tests run at a time.
///
/// Swift Testing starts all of them at once. A thousand tests that make networks, servers and processes then share two
/// cores: each takes minutes, and no limit in a test says anything about what it tests. A test's time limit begins with
/// its turn.
///
/// Swift has a thread for each core, which a test blocks if it waits for the kernel, and half a million routes take
/// minutes. So tests run on threads of their own: a test that blocks holds up no other.
package struct FewAtATime: TestTrait, SuiteTrait, TestScoping {
  /// Most tests wait for others most of the time: the kernel, a process, a clock.
  private static let turns = Turns(4 * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
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
    defer { Self.turns.giveBack() }
    try await Self.$hasTurn.withValue(true) {
      try await withTaskExecutorPreference(TestThreads.shared, operation: function)
    }
  }
}

extension Trait where Self == FewAtATime {
  /// Few tests run at a time.
  package static var fewAtATime: Self { Self() }
}

/// Threads that tests run on; more than tests have turns, since the cases of one test run side by side.
private final class TestThreads: TaskExecutor {
  static let shared = TestThreads(32)

  private let jobs = Mutex<[UnownedJob]>([])
  private let arrivals = DispatchSemaphore(value: 0)
  private let hasThreads = Atomic(false)

  init(_ count: Int) {
    for _ in 0..<count { start() }
    precondition(hasThreads.load(ordering: .relaxed), "The system gives no thread for the tests")
  }

  private func start() {
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let context = unsafe Unmanaged.passRetained(self)
    // The thread takes over the retained reference, once.
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        let context: UnsafeMutableRawPointer? = unsafe context
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<TestThreads>.fromOpaque(context).takeRetainedValue().run()
      }, unsafe context.toOpaque())
    if result == 0 { hasThreads.store(true, ordering: .relaxed) } else { unsafe context.release() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrivals.signal()
  }

  private func run() -> Never {
    while true {
      arrivals.wait()
      // Each signal is for one job.
      let job = jobs.withLock { $0.removeFirst() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A counting semaphore for tasks, in the order in which they came.
private final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
