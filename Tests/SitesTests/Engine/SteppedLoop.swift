// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An event loop that runs only when a test says so: each step runs everything queued.
final class SteppedLoop: Sendable {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let gate = DispatchSemaphore(value: 0)
  private let isHeld = NIOLockedValueBox(true)

  init() { Self.hold(group.next(), gate, isHeld) }

  deinit {
    release()
    // There is no one left to wait, or to handle an error.
    group.shutdownGracefully { _ in }
  }

  private static func hold(_ loop: any EventLoop, _ gate: DispatchSemaphore, _ isHeld: NIOLockedValueBox<Bool>) {
    loop.execute {
      gate.wait()
      if isHeld.withLockedValue(\.self) { hold(loop, gate, isHeld) }
    }
  }

  func step() { gate.signal() }

  /// From now on, lets it run.
  func release() {
    isHeld.withLockedValue { $0 = false }
    gate.signal()
  }
}
