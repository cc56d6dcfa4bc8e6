// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A collection of small elements, and mostly of one, for which no array is made. An event of the kernel mostly touches
/// one prefix, one target and one receiver. An array for each would add a tenth to the event's instructions.
///
/// Invariant: if there is no first element, there is none.
package struct Few<Element> {
  private var first: Element?
  private var rest: [Element] = []

  package init() {}

  package init(_ elements: some Sequence<Element>) { for element in elements { append(element) } }

  package mutating func append(_ element: Element) {
    if first == nil { first = element } else { rest.append(element) }
  }

  /// Removes the element at this position. The very last one takes its place.
  mutating func remove(at position: Int) {
    let last = rest.popLast()
    if position == 0 {
      first = last
    } else if let last, position <= rest.count {
      rest[position - 1] = last
    }
  }

  package mutating func removeAll() { self = Few() }
}

extension Few: Sendable where Element: Sendable {}

extension Few: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { first == nil ? 0 : 1 + rest.count }

  package subscript(position: Int) -> Element {
    if position > 0 { return rest[position - 1] }
    guard let first else { preconditionFailure("there is no element") }
    return first
  }
}

extension Few: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: Element...) { self.init(elements) }
}
