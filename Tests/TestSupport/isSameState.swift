// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// Whether two states are the same to receivers. `==` compares their times, too, which a test does not know.
infix operator ≈ : ComparisonPrecedence

package func ≈ <State: DeterminableState>(a: State, b: State) -> Bool { a.isSameState(as: b) }

package func ≈ <State: DeterminableState>(a: State?, b: State?) -> Bool {
  guard let a, let b else { return a == nil && b == nil }
  return a.isSameState(as: b)
}

package func ≈ <State: DeterminableState>(a: [State], b: [State]) -> Bool {
  a.elementsEqual(b) { $0.isSameState(as: $1) }
}
