// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import TestSupport
import Testing

/// The monitor that a whole program shares. In a process of its own: it is never released.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct SharedMonitorTests {
  @Test func thereIsOneOfTheInternetAndItIsTold() async {
    await #expect(processExitsWith: .success) {
      let shared = await withTaskGroup(of: ReachabilityMonitor.self) { group in
        for _ in 0..<16 { group.addTask { .shared } }
        return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
      }
      #expect(shared == [ObjectIdentifier(ReachabilityMonitor.shared)])
      #expect(ReachabilityMonitor.shared.target == .internet)
      // Whatever the machine's network is, or where it is not told: something is known.
      let state = try await ReachabilityMonitor.shared.waitUntilKnown(timeout: .seconds(60))
      #expect(state.isDetermined || state.reason == .denied)
    }
  }
}
#endif
