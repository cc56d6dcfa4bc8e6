// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import TestSupport
import Testing

/// The monitor that a whole program shares. It is never released, so the test has a process of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct SharedMonitorTests {
  @Test func thereIsOneOfTheInternetAndItIsTold() async {
    await #expect(processExitsWith: .success) {
      let shared = await withTaskGroup(of: ReachabilityMonitor.self) { group in
        for _ in 0..<16 { group.addTask { .shared } }
        return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
      }
      #expect(shared == [ObjectIdentifier(ReachabilityMonitor.shared)])
      #expect(ReachabilityMonitor.shared.target == .internet)
      // Something is known on any machine, even if the system refuses to tell.
      let state = try await ReachabilityMonitor.shared.waitUntilKnown(timeout: .seconds(60))
      #expect(state.isDetermined || state.reason == .denied)
    }
  }
}
#endif
