// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// In which order a site's addresses are tried.
enum AddressOrder {
  /// The addresses with their families taking turns, the first one's first (RFC 8305, 4). Within a family the resolver's order stays, which
  /// is RFC 6724's.
  static func interleaved<Element>(_ elements: [Element], family: (Element) -> IPAddress.Family) -> [Element] {
    guard let first = elements.first.map(family) else { return [] }
    let own = elements.filter { family($0) == first }
    let other = elements.filter { family($0) != first }
    var order: [Element] = []
    order.reserveCapacity(elements.count)
    for position in 0..<max(own.count, other.count) {
      if position < own.count { order.append(own[position]) }
      if position < other.count { order.append(other[position]) }
    }
    return order
  }
}
