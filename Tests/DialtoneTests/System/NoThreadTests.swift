// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// What becomes of work while the system gives no thread, and afterwards.
@Suite(
  .disabled(if: isSanitized, "a sanitizer has threads of its own"), .timeLimit(.minutes(5)), .threadsApart)
struct NoThreadTests {
  /// The limit does not hold for root (setrlimit(2), RLIMIT_NPROC).
  private static func leaveRoot() throws {
    if getuid() == 0 { try #require(setuid(65_534) == 0) }
  }

  @Test func handlersAreCalledByTheCallerAndNoTimeIsKept() async {
    await #expect(processExitsWith: .success) {
      try NoThreadTests.leaveRoot()
      let network = scriptedNetwork()
      network.set(.wifi)
      let (told, fired) = (Log<Reachability>(), Counter())
      let monitor = try withoutThreads {
        let monitor = network.monitor()
        #expect(monitor.current.isUndetermined(.outOfThreads))
        let token = monitor.observe { told.append($0) }
        #expect(told.count == 1, "it is called before this returns")
        #expect(monitor.engine.schedule(after: .zero) { fired.add() } == nil)
        #expect(Reachability.now(environment: network.environment).isUndetermined(.outOfThreads))
        token.cancel()
        return monitor
      }
      network.set(.wired)
      try await eventually("threads that come later are used") { monitor.current.isVia("eth0") }
      await monitor.engine.settled()
      #expect(fired.value == 0 && told.all.map(\.reason) == [.outOfThreads])
    }
  }

  /// pthread_create(3): EAGAIN.
  @Test func aLookupForWhichThereIsNoThreadHasFailed() async {
    await #expect(processExitsWith: .success) {
      try NoThreadTests.leaveRoot()
      let results = Log<NameLookupResult>()
      let pool = NameLookupPool(threads: 1)
      func submit() {
        let question = NameQuestion(name: "name.example", family: nil)
        _ = pool.submit(question, by: { _, _ in .noAddress }) { results.append($0) }
      }
      try withoutThreads {
        for _ in 0..<2 { submit() }
        #expect(results.all == [.exhausted(errno: EAGAIN), .exhausted(errno: EAGAIN)])
      }
      submit()
      try await eventually("threads that come later are used") { results.last == .noAddress }
    }
  }
}
#endif
