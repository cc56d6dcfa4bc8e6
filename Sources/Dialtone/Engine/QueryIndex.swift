// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The nodes that ask about an address, in the order of addresses. So a route's event finds those inside its prefix.
///
/// Invariant: the chunks are sorted and none is empty; every chunk's nodes come before the next one's. A chunk is split
/// before it grows long, so adding and removing cost about the square root of what a flat array would.
struct QueryIndex {
  private static let chunkLimit = 512

  private var chunks: [[QueryNode]] = []
  private(set) var count = 0

  mutating func add(_ node: QueryNode, at address: IPAddressBits) {
    count += 1
    guard !chunks.isEmpty else {
      chunks = [[node]]
      return
    }
    let chunk = max(0, firstChunk(after: address) - 1)
    let position = chunks[chunk].firstPosition { $0.address > address }
    chunks[chunk].insert(node, at: position)
    if chunks[chunk].count > Self.chunkLimit {
      let half = chunks[chunk].count / 2
      chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
      chunks[chunk].removeSubrange(half...)
    }
  }

  mutating func remove(_ node: QueryNode, at address: IPAddressBits) {
    guard let (chunk, position) = place(at: address, where: { $0 === node }) else { return }
    chunks[chunk].remove(at: position)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    count -= 1
  }

  func node(of query: RouteQuery, at address: IPAddressBits) -> QueryNode? {
    place(at: address) { $0.query == query }.map { chunks[$0.chunk][$0.position] }
  }

  private func place(at address: IPAddressBits, where condition: (QueryNode) -> Bool) -> (chunk: Int, position: Int)? {
    // Equal addresses may reach back into earlier chunks.
    var chunk = firstChunk(after: address) - 1
    while chunk >= 0 {
      var position = chunks[chunk].firstPosition { $0.address > address } - 1
      while position >= 0, chunks[chunk][position].address == address {
        if condition(chunks[chunk][position]) { return (chunk, position) }
        position -= 1
      }
      if position >= 0 { return nil }
      chunk -= 1
    }
    return nil
  }

  /// Calls `body` with each node whose address is in the prefix, in the order of addresses.
  func forEach(in prefix: IPPrefix, _ body: (QueryNode) -> Void) {
    var first = 0
    // Mostly there is one chunk.
    if chunks.count > 1 {
      let lowest = prefix.address.prefix(prefix.length)
      first = max(0, chunks.firstPosition { $0[0].address >= lowest } - 1)
    }
    for chunk in first..<chunks.count {
      for node in chunks[chunk] {
        if node.address.matches(prefix: prefix.address, length: prefix.length) {
          body(node)
        } else if node.address > prefix.address {
          return
        }
      }
    }
  }

  /// All nodes, in the order of addresses.
  var all: some Sequence<QueryNode> { chunks.joined() }

  /// Every address once.
  var addresses: [IPAddress] {
    var addresses: [IPAddress] = []
    for node in all {
      if let address = node.query.address, addresses.last?.bits != address.bits { addresses.append(address) }
    }
    return addresses
  }

  private func firstChunk(after address: IPAddressBits) -> Int {
    chunks.firstPosition { $0[0].address > address }
  }
}
