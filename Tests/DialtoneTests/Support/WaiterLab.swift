// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import Dispatch
import TestSupport

@testable import Dialtone

/// Engines on a scripted network, whose waiters do as a test says: they can hold their threads, and be lost without the
/// threads learning of it.
final class WaiterLab: Sendable {
  private struct Made: Sendable {
    weak var waiter: HeldWaiter?
  }

  let network = scriptedNetwork()
  let provider: EngineProvider
  /// The threads that have asked for a waiter.
  let attempts = Log<UInt>()
  let areOut = Box(false)
  private let made = Log<Made>()

  init(passes: Bool = false) {
    let base = network.environment.provider
    provider = EngineProvider(
      time: passes ? .system : base.time, lookup: base.lookup,
      makeWaiter: { [attempts, areOut, made] _ throws(SystemError) in
        attempts.append(Thread.current)
        if areOut.value { throw SystemError("a waiter", errno: EMFILE) }
        let waiter = HeldWaiter()
        made.append(Made(waiter: waiter))
        return waiter
      }, makeSource: base.makeSource)
  }

  /// How many waiters were made.
  var count: Int { made.count }
  /// The first, as long as its engine or one of its threads holds it.
  var first: HeldWaiter? { made.all.first?.waiter }
}

final class HeldWaiter: EventWaiter {
  struct State: Sendable {
    var wakes = 0
    var abandons = 0
    /// How many threads sleep here, and how many were woken that have not gone on.
    var sleeping = 0
    var pending = 0
    var isHeld = false
    var isLost = false
  }

  private let semaphore = DispatchSemaphore(value: 0)
  private let content = Lock(State())

  var state: State { content.withLock { $0 } }

  /// Whether both threads of an engine sleep, and nobody has woken them.
  var isAtRest: Bool { content.withLock { $0.sleeping == 2 && $0.pending == 0 } }

  func wait() -> Bool {
    content.withLock { $0.sleeping += 1 }
    semaphore.wait()
    content.withLock { ($0.sleeping, $0.pending) = ($0.sleeping - 1, $0.pending - 1) }
    return true
  }

  @discardableResult
  func wake() -> Bool {
    let state = content.withLock { state in
      state.wakes += 1
      if !state.isHeld, !state.isLost { state.pending += 1 }
      return state
    }
    if !state.isHeld, !state.isLost { semaphore.signal() }
    return !state.isLost
  }

  /// From now on, a thread that is woken sleeps on.
  func hold() { content.withLock { $0.isHeld = true } }

  /// From now on, nobody can be woken here.
  func lose() { content.withLock { $0.isLost = true } }

  /// Wakes both threads, and all that are woken from now on.
  func release() {
    content.withLock { ($0.isHeld, $0.pending) = (false, $0.pending + 2) }
    for _ in 0..<2 { semaphore.signal() }
  }

  func setDeadline(_ deadline: Int64?) {}
  func abandon() { content.withLock { $0.abandons += 1 } }
}
