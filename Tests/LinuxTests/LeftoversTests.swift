// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import TestSupport
import Testing

/// ``Leftovers`` finds a leak, and takes nothing else for one.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct LeftoversTests {
  @Test func whatIsLostInEveryRoundIsSeen() async {
    await #expect(processExitsWith: .success) {
      var kept: [[UInt8]] = []
      let left = try await Leftovers {
        kept.append([UInt8](repeating: 1, count: 100_000))
        for _ in 0..<4 { try #require(dup(0) >= 0) }
      }
      #expect(left.descriptors > 2, "\(left)")
      #expect(left.heap >= 100_000 || isSanitized, "\(left)")
      withExtendedLifetime(kept) {}
    }
  }

  @Test func whatIsTakenOnceIsNotALeak() async {
    await #expect(processExitsWith: .success) {
      var kept: [[UInt8]] = []
      var rounds = 0
      let left = try await Leftovers {
        rounds += 1
        if rounds != 4 { return }
        kept.append([UInt8](repeating: 1, count: 100_000))
        for _ in 0..<4 { try #require(dup(0) >= 0) }
      }
      #expect(left.descriptors <= 0, "\(left)")
      #expect(left.heap < 1_000 || isSanitized, "\(left)")
      withExtendedLifetime(kept) {}
    }
  }
}
#endif
