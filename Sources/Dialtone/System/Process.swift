// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dispatch

/// A thread of our own, for calls that may block. Those must not run in Swift's cooperative pool or on Dispatch's
/// queues.
package enum Thread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// The number of the calling thread, which no other thread has that exists (pthread_self(3)).
  static var current: UInt { csystem_thread() }

  /// Starts a detached thread, with signals blocked so that the program's handlers run on the program's own threads.
  /// fork(2) waits for it (``ForkGate``). Returns `false` if the system has no thread to give. `stackSize` is in bytes,
  /// a multiple of the page size; `nil` leaves it to the system.
  package static func start(
    named name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    var all = sigset_t()
    var old = sigset_t()
    // pthread_create(3): the new thread inherits the mask. None of these calls keeps a pointer.
    unsafe sigfillset(&all)
    // Except those that a fault of the thread itself raises: blocked, they would end the program without its crash
    // handler.
    for signal in [SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGABRT] { unsafe sigdelset(&all, signal) }
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }

    // Filled here and read by pthread_create(3), which keeps no pointer to it.
    var attributes = pthread_attr_t()
    guard unsafe pthread_attr_init(&attributes) == 0 else { return false }
    defer { _ = unsafe pthread_attr_destroy(&attributes) }
    if let stackSize, unsafe pthread_attr_setstacksize(&attributes, stackSize) != 0 { return false }

    // Retained here. The thread releases it, or the code below if there is no thread.
    let box = unsafe Unmanaged.passRetained(
      Body {
        #if os(Linux)  // elsewhere it is done otherwise
        unsafe csystem_name_thread(name)  // copied by the kernel; cut at 15 bytes
        #endif
        body()
      })
    let status = unsafe csystem_start_thread(
      &attributes,
      { argument in
        csystem_begin_work()
        // Takes the retain that start() made; the box is used by nobody else.
        if let argument = unsafe argument { unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        _ = csystem_end_work()
        return nil
      }, box.toOpaque())
    if status != 0 { unsafe box.release() }
    return status == 0
  }
}

#if os(Linux)
extension Thread {
  /// Returns whether the system has this many threads to give at the same time. They are started, and have ended when
  /// this returns.
  ///
  /// Ask before you use swift-nio or Dispatch, which end the process, or sleep, if they get no thread. Others may take
  /// the threads in between.
  package static func areAvailable(_ count: Int) -> Bool {
    let numbers = Lock<[pid_t]>([])
    let isThere = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    var started = 0
    while started < count {
      // With stacks of the usual size: they count against a limit of the address space (setrlimit(2), RLIMIT_AS).
      let isStarted = start(named: "dialtone-proof") {
        numbers.withLock { $0.append(csystem_thread_number()) }
        isThere.signal()
        mayEnd.wait()
      }
      if !isStarted { break }
      started += 1
    }
    for _ in 0..<started { isThere.wait() }
    for _ in 0..<started { mayEnd.signal() }
    // Until they are gone, they count against the limit.
    for number in numbers.withLock({ $0 }) {
      while csystem_thread_exists(number) != 0 { sched_yield() }
    }
    return started == count
  }
}
#endif

/// Tells a process from the one that it was forked from: a child does not inherit threads, and shares descriptors with
/// the parent.
package enum ForkCount {
  /// A number that differs between a child of fork(2) and its parent. Costs one plain load.
  package static var current: UInt32 { csystem_fork_count() }
}

/// Keeps the threads that ``Thread`` has started from being in the middle of something when the process is copied: in
/// the child, their locks would be held for good. fork(2) waits until all of them are at rest, for a second at most,
/// and they go on once it is done (pthread_atfork(3)).
package enum ForkGate {
  /// Runs `body`, for which fork(2) does not wait: it may take long, or is the program's code. For any thread.
  package static func atRest<Result>(_ body: () -> Result) -> Result {
    let isToGoOn = csystem_end_work()
    defer { if isToGoOn { csystem_begin_work() } }
    return body()
  }
}

/// The variables of the process's environment (environ(7)).
package enum EnvironmentVariable {
  /// The variable's text; `nil` if it is not set or empty.
  package static subscript(_ name: String) -> String? {
    // getenv(3) returns a text of the environment, which is copied at once.
    guard let text = unsafe getenv(name) else { return nil }
    let copy = unsafe String(cString: text)
    return copy.isEmpty ? nil : copy
  }
}
