// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A query with the answer it last had and the targets that hang on it. Belongs to the engine's lock.
final class DestinationNode {
  let query: PathQuery
  /// What was last answered; `nil` until it has been asked.
  var answer: Reachability?
  /// Whether it is to be asked in this turn.
  var isStale = false
  /// The targets that hang on it; few in practice.
  private(set) var users: [TargetRecord] = []

  init(_ query: PathQuery) { self.query = query }

  func add(_ user: TargetRecord) { users.append(user) }

  func remove(_ user: TargetRecord) {
    if let position = users.firstIndex(where: { $0 === user }) { users.swapRemove(at: position) }
  }
}

extension DestinationNode: Hashable {
  /// Whether they ask the same.
  static func == (a: DestinationNode, b: DestinationNode) -> Bool { a.query == b.query }

  func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension Array {
  /// Takes out an element, with the last taking its place.
  mutating func swapRemove(at position: Int) {
    swapAt(position, count - 1)
    removeLast()
  }
}
