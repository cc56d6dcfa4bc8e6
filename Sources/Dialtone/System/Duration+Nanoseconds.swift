// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// Whole nanoseconds, towards zero, limited to what an `Int64` holds (292 years).
  ///
  /// Every duration of a caller's goes through here: `components` trap where the seconds do not fit an `Int64`.
  package var nanosecondsClamped: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// Whole seconds, limited as ``nanosecondsClamped`` is.
  package var secondsClamped: Int64 { nanosecondsClamped / 1_000_000_000 }
}
