// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// Runs the tasks of a command on the main thread.
///
/// A program that uses Dialtone needs nothing like it: Swift runs its tasks on threads of Dispatch. But where the
/// system has no thread left, Dispatch waits for one without a word, and the command has to say what is short. Here it
/// needs none of those threads.
final class MainThread: TaskExecutor {
  private struct Wait {
    let descriptors: [CInt]
    let end: ContinuousClock.Instant?
    /// Gets whether a descriptor is ready.
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var jobs: [UnownedJob] = []
    var waits: [UInt64: Wait] = [:]
    /// 0 is the wake-up.
    var lastNumber: UInt64 = 0
    /// Whether it waits for events, so that a job has to wake it.
    var isAsleep = false
  }

  private let state = Lock(State())
  private let poll: OwnedDescriptor
  private let wakeUp: OwnedDescriptor

  private init() throws(SystemError) {
    let poll = epoll_create1(CInt(EPOLL_CLOEXEC))
    if poll < 0 { throw SystemError("epoll_create1") }
    self.poll = OwnedDescriptor(poll)
    let wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if wakeUp < 0 { throw SystemError("eventfd") }
    self.wakeUp = OwnedDescriptor(wakeUp)
    if !watch(wakeUp, UInt32(CSYSTEM_EPOLLIN), as: 0) { throw SystemError("epoll_ctl") }
  }

  /// Runs a task, and the tasks below it. Blocks until it ends.
  ///
  /// - Throws: `SystemError` if there are no descriptors to wait with, and what the task throws.
  static func run(_ body: @escaping @Sendable (MainThread) async throws -> ExitStatus) throws -> ExitStatus {
    let thread = try MainThread()
    let result = Lock<Result<ExitStatus, any Error>?>(nil)
    Task(executorPreference: thread) {
      do {
        let status = try await body(thread)
        result.withLock { $0 = .success(status) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    while true {
      thread.runJobs()
      if let result = result.withLock({ $0 }) { return try result.get() }
      thread.sleep()
    }
  }

  // MARK: Jobs

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = state.withLock { state in
      state.jobs.append(job)
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    // It can hardly fail (eventfd(2)).
    if mustWake { while eventfd_write(wakeUp.rawValue, 1) != 0 {} }
  }

  private func runJobs() {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  // MARK: Waiting

  /// Waits until one of the descriptors can be read or its other end is closed, until `end`, or until the task is
  /// cancelled. Returns whether a descriptor is ready. That of a file never is.
  @discardableResult
  func wait(
    for descriptors: [CInt] = [], areRead: Bool = true, until end: ContinuousClock.Instant? = nil
  ) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wait = Wait(descriptors: descriptors, end: end, continuation: continuation)
        state.withLock { $0.waits[number] = wait }
        // Errors and hang-ups are always reported. A regular file is refused (EPERM).
        for descriptor in descriptors { _ = watch(descriptor, areRead ? UInt32(CSYSTEM_EPOLLIN) : 0, as: number) }
        if Task.isCancelled { finish(number, isReady: false) }
      }
    } onCancel: {
      finish(number, isReady: false)
    }
  }

  /// Waits until then, or until the task is cancelled. Returns `false` if it is.
  func sleep(until end: ContinuousClock.Instant) async -> Bool {
    await wait(until: end)
    return !Task.isCancelled
  }

  private func watch(_ descriptor: CInt, _ events: UInt32, as number: UInt64) -> Bool {
    // An epoll_event is a number and a union, of which only the integer is used. The kernel copies what it is given.
    var event = unsafe epoll_event()
    unsafe event.events = events
    unsafe event.data.u64 = number
    return unsafe epoll_ctl(poll.rawValue, EPOLL_CTL_ADD, descriptor, &event) == 0
  }

  private func finish(_ number: UInt64, isReady: Bool) {
    guard let wait = state.withLock({ $0.waits.removeValue(forKey: number) }) else { return }
    // What was not added is not removed either.
    for descriptor in wait.descriptors { _ = epoll_ctl(poll.rawValue, EPOLL_CTL_DEL, descriptor, nil) }
    wait.continuation.resume(returning: isReady)
  }

  /// Blocks until there is a job, or what a task waits for has come.
  private func sleep() {
    let now = ContinuousClock.now
    let limit = state.withLock { state -> Duration? in
      if !state.jobs.isEmpty { return .zero }
      state.isAsleep = true
      return state.waits.values.compactMap(\.end).min().map { now.duration(to: $0) }
    }
    // The kernel fills at most as many events as it is told there is room for (epoll_wait(2)).
    let ready = unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 8) { events in
      let count = unsafe epoll_wait(poll.rawValue, events.baseAddress, CInt(events.count), Self.milliseconds(limit))
      return unsafe events.prefix(max(0, Int(count))).map { unsafe $0.data.u64 }
    }
    state.withLock { $0.isAsleep = false }
    for number in ready where number != 0 { finish(number, isReady: true) }
    var count: eventfd_t = 0
    // Filled during the call.
    if ready.contains(0) { _ = unsafe eventfd_read(wakeUp.rawValue, &count) }
    if limit == nil { return }
    let end = ContinuousClock.now
    let late = state.withLock { $0.waits.filter { $1.end.map { $0 <= end } ?? false }.keys }
    for number in late.sorted() { finish(number, isReady: false) }
  }

  /// Rounded up, so that a wait does not turn into a busy loop at its end; -1 is for ever.
  private static func milliseconds(_ limit: Duration?) -> CInt {
    guard let limit else { return -1 }
    if limit <= .zero { return 0 }
    return CInt(clamping: limit.nanosecondsClamped / 1_000_000 + 1)
  }
}
