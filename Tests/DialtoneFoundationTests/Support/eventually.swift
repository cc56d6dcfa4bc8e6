// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What was waited for in vain.
struct DidNotHappen: Error, CustomStringConvertible {
  let description: String
}

/// Waits until the condition holds, and throws what did not come true where it does not within the limit.
///
/// For what gives no signal of its own; the one place in these tests that asks again and again.
func eventually(
  within limit: Duration = .seconds(60), _ what: String, fileID: String = #fileID, line: Int = #line,
  _ condition: () async throws -> Bool
) async throws {
  let start = ContinuousClock.now
  var pause = Duration.milliseconds(1)
  while try await !condition() {
    guard start.duration(to: .now) < limit else {
      throw DidNotHappen(description: "did not come true within \(limit): \(what) (\(fileID):\(line))")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(20))
  }
}
