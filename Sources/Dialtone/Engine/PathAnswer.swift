// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A source's answer to what a path monitor asks.
package struct PathAnswer: Sendable {
  package var path: NetworkPath
  /// The name servers that the path's support of DNS depends on: changes of routes to them have to be announced.
  package var nameServers: [IPAddress]
  /// How many queries it took.
  package var queryCount: Int
  /// Whether something is not known yet that the path depends on; a change will say that it is.
  package private(set) var isPending = false

  package init(_ path: NetworkPath, nameServers: [IPAddress] = [], queryCount: Int = 0) {
    self.path = path
    self.nameServers = nameServers
    self.queryCount = queryCount
  }

  package static var pending: PathAnswer {
    var answer = PathAnswer(NetworkPath(.undetermined))
    answer.isPending = true
    return answer
  }
}
