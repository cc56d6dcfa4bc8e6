// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An event loop that goes on only when a test says so: at each step all runs that has been queued.
final class SteppedLoop: Sendable {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let gate = DispatchSemaphore(value: 0)
  private let isHeld = NIOLockedValueBox(true)

  init() { Self.hold(group.next(), gate, isHeld) }

  deinit {
    release()
    // Nobody is left who could wait, or mend what fails.
    group.shutdownGracefully { _ in }
  }

  private static func hold(_ loop: any EventLoop, _ gate: DispatchSemaphore, _ isHeld: NIOLockedValueBox<Bool>) {
    loop.execute {
      gate.wait()
      if isHeld.withLockedValue(\.self) { hold(loop, gate, isHeld) }
    }
  }

  func step() { gate.signal() }

  /// Lets it go on from now on.
  func release() {
    isHeld.withLockedValue { $0 = false }
    gate.signal()
  }
}
