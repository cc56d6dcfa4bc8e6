// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

/// Runs a body that blocks on a thread of its own, because tests share a pool with one thread per processor.
func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let thread = LabThread()
    do {
      try thread.start()
      thread.finish { continuation.resume(with: Result { try body() }) }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
#endif
