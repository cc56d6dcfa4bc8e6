// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// Durations at or beyond a limit of `Int64`: in seconds, in nanoseconds, or when negated.
  static let endless: [Duration] = [
    .seconds(Int64.max), .seconds(Int64.max) * 2, .nanoseconds(Int64.max), Duration(attoseconds: .max),
  ]

  /// Durations like ``endless``, below zero.
  static let negative: [Duration] = [
    .nanoseconds(-1), .seconds(Int64.min), .seconds(Int64.min) * 2, .nanoseconds(Int64.min),
    Duration(attoseconds: .min),
  ]
}
