// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// Durations that some integer cannot hold: the seconds an `Int64`, the nanoseconds an `Int64`, the negative any.
  static let endless: [Duration] = [
    .seconds(Int64.max), .seconds(Int64.max) * 2, .nanoseconds(Int64.max), Duration(attoseconds: .max),
  ]

  /// As ``endless``, below zero.
  static let negative: [Duration] = [
    .nanoseconds(-1), .seconds(Int64.min), .seconds(Int64.min) * 2, .nanoseconds(Int64.min),
    Duration(attoseconds: .min),
  ]
}
