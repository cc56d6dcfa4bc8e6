// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOConcurrencyHelpers

/// Runs the body beside a row of short pauses. Returns how long the body took, and how much too long the pauses were in
/// all: this is how late the machine is, busy with other tests.
func besidePauses<Value: Sendable>(
  _ body: () async throws -> Value
) async throws -> (value: Value, elapsed: Duration, lateness: Duration) {
  let pause = Duration.milliseconds(50)
  let start = ContinuousClock.now
  let lateness = NIOLockedValueBox(Duration.zero)
  // The end of the present pause.
  let due = NIOLockedValueBox(start)
  let pauses = Task {
    while !Task.isCancelled {
      let end = due.withLockedValue { $0 }
      try await Task.sleep(until: end, clock: .continuous)
      let now = ContinuousClock.now
      lateness.withLockedValue { $0 += end.duration(to: now) }
      due.withLockedValue { $0 = now + pause }
    }
  }
  defer { pauses.cancel() }
  let value = try await body()
  let elapsed = start.duration(to: .now)
  // A pause that has not ended yet is late, too.
  let missing = max(.zero, due.withLockedValue { $0 }.duration(to: .now))
  return (value, elapsed, lateness.withLockedValue { $0 } + missing)
}
#endif
