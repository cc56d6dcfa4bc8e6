// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import Synchronization
import TestSupport

@testable import Dialtone

/// The waiters of scripted networks, which can run out, as a process's descriptors do, and be lost, as if somebody had
/// closed theirs. Neither takes a descriptor.
final class ScarceWaiters: Sendable {
  private struct State {
    var areOut = false
    var errno = EMFILE
    var made: [Made] = []
  }

  private struct Made: Sendable {
    weak var waiter: LosableWaiter?
  }

  /// Makes those that all other tests use.
  private let makeOther = scriptedNetwork().environment.provider.makeWaiter
  private let state = Lock(State())

  /// Makes a network whose engine sleeps on one of these.
  func network() -> ScriptedNetwork {
    ScriptedNetwork(makeWaiter: { [self] time throws(SystemError) in try make(time) })
  }

  /// Whether there are no more of them.
  var areOut: Bool {
    get { state.withLock { $0.areOut } }
    set { state.withLock { $0.areOut = newValue } }
  }

  /// What the system says if there are no more of them (errno(3)).
  var errno: CInt {
    get { state.withLock { $0.errno } }
    set { state.withLock { $0.errno = newValue } }
  }

  /// Runs `body` while there are no more of them.
  func withoutMore<Result>(_ body: () throws -> Result) rethrows -> Result {
    areOut = true
    defer { areOut = false }
    return try body()
  }

  /// How many exist. Each engine has one, and its threads hold it until they end.
  var count: Int { made.count { $0.waiter != nil } }

  /// From now on, nobody can wait on those that exist.
  func lose() { for made in made { made.waiter?.lose() } }

  private var made: [Made] { state.withLock { $0.made } }

  private func make(_ time: TimeSource) throws(SystemError) -> any EventWaiter {
    if areOut { throw SystemError("a waiter", errno: errno) }
    let waiter = LosableWaiter(try makeOther(time))
    let made = Made(waiter: waiter)
    state.withLock { $0.made.append(made) }
    return waiter
  }
}

private final class LosableWaiter: EventWaiter {
  private let base: any EventWaiter
  private let isLost = Atomic(false)

  init(_ base: any EventWaiter) { self.base = base }

  func lose() {
    isLost.store(true, ordering: .sequentiallyConsistent)
    // A thread that waits returns, and wakes the next one by `wake`.
    base.wake()
  }

  private var isThere: Bool { !isLost.load(ordering: .sequentiallyConsistent) }

  func wait() -> Bool { isThere && base.wait() && isThere }
  func wake() -> Bool { base.wake() && isThere }
  func setDeadline(_ deadline: Int64?) { base.setDeadline(deadline) }
  func abandon() { base.abandon() }
}
