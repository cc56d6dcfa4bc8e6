// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOCore

/// What checks need of the system. Without a thread or descriptor, swift-nio ends the process. Dispatch, on which Swift
/// runs tasks, ends it without a descriptor, and sleeps in the caller without a thread. So it is proved before that
/// there is enough, as far as it can be: other threads, and other processes of the user, may take some in between.
package enum SiteResources {
  /// A check is mostly waiting: few threads serve many.
  package static let loopCount = min(4, System.coreCount)

  /// Makes sure that there is enough for the event loops, the tasks and the engine.
  ///
  /// - Returns: The highest number of a descriptor that was open for it; the loops' are among those up to it.
  /// - Throws: ``SiteError`` that says what is short, and what to do about it.
  @discardableResult
  package static func prove() throws(SiteError) -> CInt {
    var highest: CInt = 0
    #if os(Linux)  // NIO has kqueue(2) elsewhere, and Dialtone nothing that holds one
    do throws(SystemError) {
      // Each opens what a loop of NIO's does: epoll(7), eventfd(2), timerfd_create(2). All are open at the same time,
      // and as many again.
      var polls: [EventPoll] = []
      for _ in 0..<2 * loopCount { polls.append(try EventPoll()) }
      highest = polls.map(\.highestDescriptor).max() ?? 0
    } catch {
      throw SiteError(.cannotConnect, SiteError.text(errno: error.errno), errno: error.errno)
    }
    // The loops' threads, those of tasks (as many as processors), one that ends the loops, and the engine's two.
    if !Thread.areAvailable(loopCount + System.coreCount + 3) {
      // pthread_create(3).
      throw SiteError(.cannotConnect, "no thread is left (ulimit -u, ulimit -v)", errno: EAGAIN)
    }
    #endif
    return highest
  }
}
