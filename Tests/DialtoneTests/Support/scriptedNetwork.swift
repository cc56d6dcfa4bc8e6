// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting

@testable import Dialtone

/// Creates a scripted network, as all tests of this target do.
///
/// Its engine sleeps on the waiter that users' tests have, a semaphore. On Linux, `DIALTONE_TESTING_WAITER=epoll` has
/// the tests run on epoll(7), too.
func scriptedNetwork(clock: ManualClock = ManualClock()) -> ScriptedNetwork {
  #if os(Linux)
  if EnvironmentVariable["DIALTONE_TESTING_WAITER"] == "epoll" {
    return ScriptedNetwork(clock: clock, makeWaiter: systemWaiter)
  }
  #endif
  return ScriptedNetwork(clock: clock)
}
