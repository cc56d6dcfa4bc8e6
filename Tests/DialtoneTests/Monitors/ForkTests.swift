// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import CTestSupport
import Dialtone
import DialtoneTesting
import Synchronization
import TestSupport
import Testing

/// A child of fork(2) has none of the engine's threads. It keeps no state from before, and starts what it uses anew.
@Suite(
  .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own, and survives no fork"),
  .timeLimit(.minutes(5)), .threadsApart)
struct ForkTests {
  /// A child in which a thread of the parent held the script's lock could never take it.
  private static func rest() async throws {
    try await eventually("the engine rests") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
  }

  /// Polls: a forked child has no runtime to wait with. `alarm` limits the time.
  private static func wait(until condition: () -> Bool) {
    while !condition() { usleep(1_000) }
  }

  @Test func aChildNeverReadsAnOldStateAndStartsAnew() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      let told = Log<Reachability>()
      let monitor = network.monitor()
      let token = monitor.observe { told.append($0) }
      let paths = Log<NetworkPath>()
      let path = PathMonitor(environment: network.environment)
      let pathToken = path.observe { paths.append($0) }
      try await told.wait("the first state") { $0.isReachable }
      try await eventually("the first path") { paths.last?.status == .satisfied }
      try await ForkTests.rest()
      let status = statusOfChild {
        network.set(.unreachable(.noCarrier))
        // Even the first read returns no state from before the fork.
        if monitor.current.isReachable || path.current.status == .satisfied { return 1 }
        ForkTests.wait { monitor.current.reason == .noCarrier }
        ForkTests.wait { path.current.status == .unsatisfied }
        // The new engine calls handlers that were registered before.
        ForkTests.wait { told.last?.reason == .noCarrier && paths.last?.status == .unsatisfied }
        network.set(.wired)
        ForkTests.wait { monitor.current.isReachable && told.last?.isReachable == true }
        let new = network.monitor(.address(ip("192.0.2.1")))
        ForkTests.wait { new.current.isReachable }
        monitor.pause()
        if monitor.current.status != .undetermined { return 2 }
        monitor.resume()
        ForkTests.wait { monitor.current.isReachable }
        return 0
      }
      #expect(status == 0, "the child ended with \(status)")
      // What the child did does not affect the parent.
      #expect(monitor.current.isReachable)
      network.set(.unreachable(.noAddress))
      try await told.wait("a change in the parent") { $0.reason == .noAddress }
      token.cancel()
      pathToken.cancel()
    }
  }

  @Test func inAChildAMonitorThatWasPausedStaysPausedAndNamesAreLookedUp() async {
    await #expect(processExitsWith: .success) {
      let lab = NameLab()
      lab.set(.wifi)
      lab.answer("known.example", .addresses([ip("192.0.2.7")]))
      let paused = ReachabilityMonitor(.internet, environment: lab.environment)
      let host = try lab.monitor("known.example")
      // The child does not have the resolver's threads.
      try await host.waitUntilReachable()
      let hanging = try (0..<8).map { number in
        lab.hang("hanging\(number).example")
        return try lab.monitor("hanging\(number).example")
      }
      try await eventually("all threads are taken") { ProcessCensus.threads(named: "dialtone-names") == 8 }
      paused.pause()
      try await ForkTests.rest()
      let status = statusOfChild {
        if !paused.isPaused || paused.current.status != .undetermined { return 1 }
        ForkTests.wait { host.current.isReachable }
        if !paused.isPaused || paused.current.status != .undetermined { return 2 }
        paused.resume()
        ForkTests.wait { paused.current.isReachable }
        return 0
      }
      #expect(status == 0, "the child ended with \(status)")
      withExtendedLifetime(hanging) {}
    }
  }

  @Test func aHandlerThatRunsAtTheForkIsCalledInTheChild() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      let told = Log<Reachability>()
      let latch = Latch()
      let monitor = network.monitor()
      let token = monitor.observe { state in
        told.append(state)
        if state.isReachable { latch.wait() }
      }
      try await eventually("the handler runs") { latch.count == 1 }
      try await ForkTests.rest()
      let status = statusOfChild {
        network.set(.unreachable(.noCarrier))
        ForkTests.wait { monitor.current.reason == .noCarrier && told.last?.reason == .noCarrier }
        return 0
      }
      #expect(status == 0, "the child ended with \(status)")
      latch.open()
      token.cancel()
    }
  }

  @Test func theChildOfAHandlerEndsWithItAndTheParentGoesOn() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      let child = Atomic<CInt>(0)
      let told = Log<Reachability>()
      let monitor = network.monitor()
      let token = monitor.observe { state in
        if child.load(ordering: .relaxed) == 0 {
          let number = ctestsupport_fork()
          if number == 0 { alarm(60) }
          child.store(number, ordering: .relaxed)
        }
        told.append(state)
      }
      try await told.wait("the first state") { $0.isReachable }
      let status = ctestsupport_wait(child.load(ordering: .relaxed))
      #expect(status == 0, "the child ended with \(status)")
      network.set(.unreachable(.noCarrier))
      try await told.wait("a change in the parent") { $0.reason == .noCarrier }
      token.cancel()
    }
  }

  /// Opened when a fork begins.
  private static let forkBegins = Latch()

  @Test func aForkWaitsForThreadsThatWork() async {
    await #expect(processExitsWith: .success) {
      #expect(pthread_atfork({ ForkTests.forkBegins.open() }, nil, nil) == 0)
      let steps = Atomic(0)
      let isStarted = Thread.start(named: "dialtone-test") {
        ForkTests.forkBegins.wait()
        for _ in 0..<1_000_000 { steps.add(1, ordering: .relaxed) }
      }
      #expect(isStarted)
      try await eventually("it works") { ForkTests.forkBegins.count == 1 }
      let status = statusOfChild { steps.load(ordering: .relaxed) == 1_000_000 ? 0 : 1 }
      #expect(status == 0, "the child ended with \(status)")
    }
  }

  @Test func aForkDoesNotWaitForEver() async {
    await #expect(processExitsWith: .success) {
      // It may need what the thread holds that forks.
      let latch = Latch()
      #expect(Thread.start(named: "dialtone-test") { latch.wait() })
      try await eventually("it works") { latch.count == 1 }
      #expect(statusOfChild { 0 } == 0)
      latch.open()
    }
  }
}
#endif
