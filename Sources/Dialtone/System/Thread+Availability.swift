// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink
internal import Dispatch

extension Thread {
  /// Whether the system has so many threads to give, all at the same time: they are started, and have ended when this
  /// returns.
  ///
  /// For what ends the process, or sleeps, where it gets none: swift-nio and Dispatch. Others may take them in between.
  package static func areAvailable(_ count: Int) -> Bool {
    let numbers = Lock<[pid_t]>([])
    let isThere = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    var started = 0
    while started < count {
      // The smallest stack that is enough anywhere for so little.
      let isStarted = start(named: "dialtone-proof", stackSize: 1 << 18) {
        numbers.withLock { $0.append(cnetlink_thread_number()) }
        isThere.signal()
        mayEnd.wait()
      }
      if !isStarted { break }
      started += 1
    }
    for _ in 0..<started { isThere.wait() }
    for _ in 0..<started { mayEnd.signal() }
    // Until then they count against the limit.
    for number in numbers.withLock({ $0 }) {
      while cnetlink_thread_exists(number) != 0 { sched_yield() }
    }
    return started == count
  }
}
#endif
