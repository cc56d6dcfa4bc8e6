// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What was found by searching all links for the reason why there is no route.
///
/// The reason depends on the tables and on the interface asked for, not on the target: thousands of targets without a route share
/// one search. Invariant: whoever changes the tables, or what else a search looks at, calls `removeAll`.
package final class ReasonSearches {
  private var found: [UInt32?: Reachability] = [:]
  /// How many searches were made.
  package private(set) var count = 0

  package init() {}

  package func removeAll() { found.removeAll(keepingCapacity: true) }

  /// The reason, searched for where it is not known.
  func result(_ output: UInt32?, _ search: () -> Reachability) -> Reachability {
    if let known = found[output] { return known }
    count += 1
    let result = search()
    found[output] = result
    return result
  }
}
