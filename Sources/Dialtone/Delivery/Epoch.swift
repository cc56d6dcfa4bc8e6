// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One subject, watched without a pause. What the engine decides for an earlier epoch is not stored.
struct Epoch: Equatable, Sendable {
  private var number: UInt32 = 0

  init() {}

  mutating func advance() { number &+= 1 }
}
