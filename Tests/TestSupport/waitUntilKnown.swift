// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

extension StateMonitor {
  /// Waits for the first state that receivers are told of: a determined one, or one with a reason why it is not.
  /// `waitUntilDetermined(timeout:)` would wait on while there is a reason.
  @discardableResult
  package func waitUntilKnown(timeout: Duration? = nil) async throws -> State {
    try await updates.feed.wait(until: { _ in true }, timeout: timeout, goal: "nothing was known")
  }
}
