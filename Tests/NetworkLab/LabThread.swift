// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A thread that performs jobs, in order. A network namespace is a property of a thread, so everything inside one
/// happens on its thread.
final class LabThread: Sendable {
  private struct Job {
    /// Signalled after `body` has been released.
    var done: LabSemaphore?
    /// `nil` ends the thread.
    var body: (@Sendable () -> Void)?
  }

  private struct State {
    var jobs: [Job] = []
    var thread: pthread_t?
  }

  private let state = LabLock(State())
  private let waiting = LabSemaphore()

  func start() throws(LabError) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    // The thread takes over the retained reference, once.
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<LabThread>.fromOpaque(context).takeRetainedValue().work()
        return nil
      }, unsafe context.toOpaque())
    guard result == 0 else {
      unsafe context.release()  // No thread took it over.
      throw LabError("starting a thread", code: result)
    }
    let started = thread
    state.withLock { $0.thread = started }
  }

  /// Waits until the thread has run `body` and released it. On the thread itself, runs it at once.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    if isCurrent { return try body() }
    let done = LabSemaphore()
    let result = LabLock<Result<Value, any Error>?>(nil)
    enqueue(
      Job(done: done) {
        let value = Result { try body() }
        result.withLock { $0 = value }
      })
    done.wait()
    guard let value = result.withLock({ $0.take() }) else { throw LabError("the lab's thread did nothing") }
    return try value.get()
  }

  /// Ends the thread after all its jobs, and waits for its end.
  func stop() {
    guard let thread = state.withLock({ $0.thread.take() }) else { return }
    enqueue(Job())
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)  // The last reference to the lab was released in a job.
    } else {
      pthread_join(thread, nil)
    }
  }

  /// Runs `body` as the last job, without waiting.
  func finish(_ body: @escaping @Sendable () -> Void) {
    enqueue(Job(body: body))
    guard let thread = state.withLock({ $0.thread.take() }) else { return }
    pthread_detach(thread)
    enqueue(Job())
  }

  private var isCurrent: Bool {
    state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private func enqueue(_ job: Job) {
    state.withLock { $0.jobs.append(job) }
    waiting.signal()
  }

  private func work() {
    while let done = next() { done?.signal() }
  }

  /// Performs one job. This is a function of its own, so that nothing of the job is left when its end is signalled.
  private func next() -> LabSemaphore?? {
    waiting.wait()
    let job = state.withLock { $0.jobs.removeFirst() }
    guard let body = job.body else { return nil }
    body()
    return .some(job.done)
  }
}
#endif
