// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ShortageTests {
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func leavesNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      _ = Shortage.look()
      let before = try count()
      for _ in 0..<20 { _ = Shortage.look() }
      // The runtime may open some of its own meanwhile.
      let after = try count()
      #expect(after < before + 20, "\(before) before, \(after) after")
    }
  }
}
