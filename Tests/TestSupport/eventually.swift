// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What did not happen in time.
package struct DidNotHappen: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

extension Duration {
  /// How long a test waits for something that is certain to come. With a million routes, other tests keep the kernel's
  /// locks for seconds.
  package static let patience = Duration.seconds(60)
}

/// Waits until the condition holds. Throws a description of it if it does not hold within the limit.
///
/// For conditions without a signal of their own. This is the one place in the tests that polls.
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
