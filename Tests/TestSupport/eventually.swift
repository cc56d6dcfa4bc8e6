// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What was waited for in vain.
package struct DidNotHappen: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

extension Duration {
  /// How long a test waits for what is certain to come: other tests keep the kernel's locks for seconds, with a million
  /// routes.
  package static let patience = Duration.seconds(60)
}

/// Waits until the condition holds, and throws what did not come true where it does not within the limit.
///
/// For what gives no signal of its own; the one place in the tests that asks again and again.
package func eventually(
  within limit: Duration = .patience, _ what: String, fileID: String = #fileID, line: Int = #line,
  _ condition: () async throws -> Bool
) async throws {
  let start = ContinuousClock.now
  var pause = Duration.milliseconds(1)
  while try await !condition() {
    guard start.duration(to: .now) < limit else {
      throw DidNotHappen("did not come true within \(limit): \(what) (\(fileID):\(line))")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(20))
  }
}
