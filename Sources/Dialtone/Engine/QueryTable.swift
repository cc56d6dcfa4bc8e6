// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The queries of all targets and paths, each once, with the last answer. Says which of them an event touches.
///
/// Invariant: a query is stale from the moment it is made, or an event touches it, until it is asked.
struct QueryTable {
  /// How many queries are asked at a time.
  private static let batchSize = 256
  /// More addresses than this are not worth naming to the source.
  private static let interestLimit = 16

  private var index = QueryIndex()
  private var withoutAddress: [QueryNode] = []
  // These arrays keep their memory from one turn to the next.
  private var stale: [QueryNode] = []
  private var batch: [RouteQuery] = []

  var isStale: Bool { !stale.isEmpty }

  /// The addresses asked about; `nil` if there are too many to be worth naming.
  var interest: [IPAddress]? { index.count <= Self.interestLimit ? index.addresses : nil }

  /// Whether ``interest`` may have changed since this was last set to `false`.
  var isInterestStale = true

  // MARK: Users

  mutating func attach(_ queries: [RouteQuery], to user: TargetRecord) -> [QueryNode] {
    var attached: [QueryNode] = []
    for query in queries {
      let node = node(of: query)
      node.users.insert(user)
      attached.append(node)
    }
    return attached
  }

  mutating func detach(_ released: [QueryNode], from user: TargetRecord) {
    for node in released {
      node.users.remove(user)
      removeIfUnused(node)
    }
  }

  /// Makes every event that touches the query touch paths, too.
  mutating func attachPaths(to query: RouteQuery) { node(of: query).isOfPaths = true }

  mutating func detachPaths(from query: RouteQuery) {
    let node = node(of: query)
    node.isOfPaths = false
    removeIfUnused(node)
  }

  /// Returns the query's node, or makes one. The caller gives it a user.
  private mutating func node(of query: RouteQuery) -> QueryNode {
    let known =
      if let address = query.address { index.node(of: query, at: address.bits) } else {
        withoutAddress.first { $0.query == query }
      }
    if let known { return known }
    let node = QueryNode(query)
    if let address = query.address { index.add(node, at: address.bits) } else { withoutAddress.append(node) }
    isInterestStale = true
    mark(node)
    return node
  }

  private mutating func removeIfUnused(_ node: QueryNode) {
    if node.isUsed { return }
    if let address = node.query.address {
      index.remove(node, at: address.bits)
    } else {
      withoutAddress.removeAll { $0 === node }
    }
    isInterestStale = true
  }

  // MARK: Events

  /// Marks the queries that the change may have touched. Returns whether paths depend on one of them.
  mutating func mark(_ change: NetworkChange) -> Bool {
    var arePathsTouched = false
    if change.touchesEverything || change.touchesUnreachable {
      // In the order of addresses, so that questions about one address are asked together.
      func touches(_ node: QueryNode) -> Bool { change.touchesEverything || node.answer?.status != .reachable }
      for node in index.all where touches(node) && mark(node) { arePathsTouched = true }
      for node in withoutAddress where touches(node) && mark(node) { arePathsTouched = true }
    }
    for prefix in change.prefixes {
      index.forEach(in: prefix) { node in if mark(node) { arePathsTouched = true } }
    }
    return arePathsTouched
  }

  /// Returns whether paths depend on it.
  @discardableResult
  private mutating func mark(_ node: QueryNode) -> Bool {
    if !node.isStale {
      node.isStale = true
      stale.append(node)
    }
    return node.isOfPaths
  }

  /// Asks the stale queries, in batches. Returns those whose answers differ from the ones before.
  @discardableResult
  mutating func ask(_ source: any NetworkSource) -> Few<QueryNode> {
    var changed = Few<QueryNode>()
    stale.removeAll { node in
      node.isStale = false
      return !node.isUsed
    }
    for start in stride(from: 0, to: stale.count, by: Self.batchSize) {
      batch.removeAll(keepingCapacity: true)
      for node in stale[start..<min(stale.count, start + Self.batchSize)] { batch.append(node.query) }
      source.answer(batch) { position, answer in
        if stale[start + position].take(answer) { changed.append(stale[start + position]) }
      }
    }
    stale.removeAll(keepingCapacity: true)
    return changed
  }
}
