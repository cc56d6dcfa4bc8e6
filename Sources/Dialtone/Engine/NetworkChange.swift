// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// What the events read in one go may have changed. Events are hints: they say what to ask again, never what is true.
package struct NetworkChange {
  /// Addresses of a common prefix.
  package struct Prefix: Hashable {
    package let address: IPAddressBits
    package let length: Int

    package init(_ address: IPAddressBits, length: Int) {
      self.address = address
      self.length = length
    }
  }

  /// Beyond so many prefixes it costs less to ask everything again.
  private static let limit = 256

  /// Every target may have another answer.
  package private(set) var touchesEverything = false
  /// The targets inside these prefixes may have another answer.
  package private(set) var prefixes: Set<Prefix> = []
  /// The targets that are not reachable may have another answer: a link changed that carries nothing.
  package private(set) var touchesUnreachable = false
  /// Names may have other addresses: the path or the configuration of name resolution changed.
  package private(set) var touchesNames = false

  package init() {}

  package var isEmpty: Bool { !touchesEverything && !touchesUnreachable && !touchesNames && prefixes.isEmpty }

  /// A link, address, rule, nexthop or setting changed, or events were lost.
  package mutating func everything() {
    touchesEverything = true
    touchesNames = true
    prefixes.removeAll()
  }

  /// An address was announced again, with nothing but its lifetime changed: routes may have come with it.
  package mutating func everythingButNames() {
    touchesEverything = true
    prefixes.removeAll()
  }

  /// A link changed that carried nothing and carries nothing.
  package mutating func idleLink() { touchesUnreachable = true }

  /// A route to this prefix changed.
  package mutating func route(_ prefix: Prefix) {
    // Through a default route (also the halves that VPN clients make of it) name servers are reached.
    if prefix.length <= 1 { touchesNames = true }
    if touchesEverything { return }
    prefixes.insert(prefix)
    if prefixes.count > Self.limit {
      touchesEverything = true
      prefixes.removeAll()
    }
  }

  /// The configuration of name resolution changed.
  package mutating func names() { touchesNames = true }
}
