// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark

/// A gate that one thread waits at, and another opens.
@safe final class Gate: Sendable {
  // Allocated in init, freed in deinit, never moved; its fields are used atomically, except the one that only the
  // waiting thread uses.
  private nonisolated(unsafe) let gate: UnsafeMutablePointer<bench_gate>

  init() {
    unsafe gate = .allocate(capacity: 1)
    unsafe gate.initialize(to: bench_gate())
  }

  deinit { unsafe gate.deallocate() }

  func open() { unsafe bench_open_gate(gate) }

  /// Fails after a minute.
  func wait() throws {
    if unsafe bench_wait_at_gate(gate) != 0 { throw Failure(description: "nothing was told in 60 s") }
  }
}
