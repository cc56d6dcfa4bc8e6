// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone

/// A source that answers as a test says and counts what it is asked. For tables that are tested without an engine.
final class CountedSource: NetworkSource {
  var answers: [IPAddress: Reachability] = [:]
  /// What was asked since this was last emptied.
  var asked: [IPAddress] = []
  var path = PathAnswer(NetworkPath(.satisfied))
  var pathCount = 0
  /// What each of the next calls of `drain` finds.
  var changes: [NetworkChange] = []
  /// Called whenever a path is asked for.
  var onPath: () -> Void = {}

  func drain(into change: inout NetworkChange) {
    if !changes.isEmpty { change = changes.removeFirst() }
  }

  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    for (position, query) in queries.enumerated() {
      if let address = query.address { asked.append(address) }
      receive(position, query.address.flatMap { answers[$0] } ?? Reachability(status: .reachable))
    }
  }

  func path(_ configuration: PathConfiguration) -> PathAnswer {
    pathCount += 1
    onPath()
    return path
  }
}
