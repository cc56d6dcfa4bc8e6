// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import CTestSupport

/// Forks, and returns the child's number. The child calls `body` on a thread of its own, and ends with what that
/// returns. `alarm` ends it after a minute.
///
/// Swift's runtime tells the kernel which thread initialises a global, or the metadata of a type. Of the thread that
/// forked it remembers the number in the parent. Once another thread waits for the same, neither goes on (Swift 6.3:
/// FUTEX_UNLOCK_PI fails with EPERM, again and again).
package func forkChild(_ body: @escaping @Sendable () -> CInt) -> CInt {
  let child = ctestsupport_fork()
  if child != 0 { return child }
  alarm(60)
  let context = unsafe Unmanaged.passRetained(Box(body))
  var thread = pthread_t()
  // The thread takes over the retained reference, once.
  let result = unsafe pthread_create(
    &thread, nil,
    { context in
      guard let context = unsafe context else { _exit(126) }
      _exit(unsafe Unmanaged<Box<@Sendable () -> CInt>>.fromOpaque(context).takeRetainedValue().value())
    }, unsafe context.toOpaque())
  if result != 0 { _exit(127) }
  while true { pause() }
}

/// What a child found, as its exit status; see ``forkChild(_:)``.
package func statusOfChild(_ body: @escaping @Sendable () -> CInt) -> CInt { ctestsupport_wait(forkChild(body)) }
#endif
