// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport

/// Records what is delivered, in order. Any thread may use it.
final class Log<Element: Sendable>: Sendable {
  private let list = Lock<[Element]>([])

  var all: [Element] { list.withLock { $0 } }
  var count: Int { list.withLock { $0.count } }
  var last: Element? { list.withLock { $0.last } }

  func append(_ element: Element) { list.withLock { $0.append(element) } }
}

extension Log<Reachability> {
  /// Waits until the last state meets the condition.
  func wait(
    _ what: String, fileID: String = #fileID, line: Int = #line, until condition: (Reachability) -> Bool
  ) async throws {
    do {
      try await eventually(what, fileID: fileID, line: line) { last.map(condition) ?? false }
    } catch {
      throw DidNotHappen("\(error); delivered: \(all)")
    }
  }

  /// Whether no two states in a row are the same to receivers.
  var hasNoRepetition: Bool {
    let all = all
    return zip(all, all.dropFirst()).allSatisfy { !$0.isSameState(as: $1) }
  }
}
