// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// Runs the body beside a mere pause, and tells how long it took, and how late the pause began and ended in all: so late is
/// this machine just now, busy with other tests, with everything.
func besidePause<Value: Sendable>(
  _ pause: Duration, _ body: () async throws -> Value
) async throws -> (value: Value, elapsed: Duration, lateness: Duration) {
  let start = ContinuousClock.now
  async let lateness = {
    let begin = ContinuousClock.now
    try await Task.sleep(until: begin + pause, clock: .continuous)
    return start.duration(to: begin) + (begin + pause).duration(to: .now)
  }()
  let value = try await body()
  let elapsed = start.duration(to: .now)
  return (value, elapsed, try await lateness)
}
#endif
