// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

/// Does what blocks on a thread of its own, since tests share a pool of as many threads as there are processors.
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
