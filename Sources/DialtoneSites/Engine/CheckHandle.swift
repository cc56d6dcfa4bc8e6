// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Starts and cancels a check on its event loop, from any thread, in whatever order the two come.
struct CheckHandle: Sendable {
  private enum State {
    case notStarted
    case running(CheckRun)
    case cancelled
  }

  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>

  init(_ loop: any EventLoop) {
    self.loop = loop
    state = NIOLoopBoundBox.makeBoxSendingValue(.notStarted, eventLoop: loop)
  }

  func start(_ make: @escaping @Sendable () -> CheckRun) {
    loop.execute {
      let run = make()
      if case .cancelled = state.value {
        run.cancel()
        return
      }
      state.value = .running(run)
      run.start()
    }
  }

  func cancel() {
    loop.execute {
      if case .running(let run) = state.value { run.cancel() }
      state.value = .cancelled
    }
  }
}
