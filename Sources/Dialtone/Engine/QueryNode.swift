// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A query with its last answer and the targets that depend on it. Used under the engine's lock.
final class QueryNode {
  let query: RouteQuery
  /// The address asked about; zeros if the query is about none.
  let address: IPAddressBits
  /// The last answer; `nil` until the query has been asked.
  var answer: Reachability?
  /// Whether it is to be asked in this turn.
  var isStale = false
  /// Whether path monitors depend on it: an event that touches it touches them.
  var isOfPaths = false
  var users = ObjectBag<TargetRecord>()

  init(_ query: RouteQuery) {
    self.query = query
    address = query.address?.bits ?? IPAddressBits(ipv4: 0)
  }

  /// Takes in an answer. Returns whether it differs from the last one.
  func take(_ new: Reachability) -> Bool {
    if let answer, answer.isIdentical(to: new) { return false }
    answer = new
    return true
  }

  var isUsed: Bool { isOfPaths || !users.objects.isEmpty }
}
