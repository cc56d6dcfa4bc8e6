// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// The addresses of this machine, by link.
package struct AddressTable: Sendable {
  package struct Entry: Equatable, Sendable {
    package let address: IPAddressBits
    package let prefixLength: UInt8
    /// The address at the other end of the link.
    package let peer: IPAddressBits?
    package let scope: RouteScope
    package var flags: AddressFlags

    /// Whether packets may come from it: duplicate address detection is over and found none, or is not waited for
    /// (RFC 4429). Deprecated addresses are the last choice, but one.
    package var isUsable: Bool {
      if flags.contains(.dadFailed) { return false }
      return !flags.contains(.tentative) || flags.contains(.optimistic)
    }

    package var ipAddress: IPAddress { IPAddress(address) }
  }

  /// The addresses of one link. One may have tens of thousands, so none is searched for.
  ///
  /// Invariant: `positions` has, for each address, where in `slots` its entries are; all other slots are empty, and
  /// they are never the larger part.
  private struct List {
    /// In the order in which the kernel told of them.
    private var slots: [Entry?] = []
    private var positions: [IPAddressBits: [Int]] = [:]
    private(set) var count = 0

    var entries: some Sequence<Entry> { slots.lazy.compactMap(\.self) }

    func contains(_ address: IPAddressBits, where condition: (Entry) -> Bool) -> Bool {
      positions[address]?.contains { slots[$0].map(condition) ?? false } ?? false
    }

    mutating func update(_ entry: Entry) {
      if let position = position(of: entry) {
        slots[position] = entry
      } else {
        positions[entry.address, default: []].append(slots.count)
        slots.append(entry)
        count += 1
      }
    }

    mutating func remove(_ entry: Entry) {
      guard let position = position(of: entry) else { return }
      slots[position] = nil
      positions[entry.address]?.removeAll { $0 == position }
      if positions[entry.address]?.isEmpty ?? false { positions[entry.address] = nil }
      count -= 1
      if slots.count > 2 * count { compact() }
    }

    private func position(of entry: Entry) -> Int? {
      positions[entry.address]?.first { slots[$0]?.hasIdentity(of: entry) ?? false }
    }

    private mutating func compact() {
      let entries = Array(entries)
      self = List()
      for entry in entries { update(entry) }
    }
  }

  private var lists: [UInt32: List] = [:]

  package init() {}

  package mutating func removeAll() { lists.removeAll() }

  package mutating func update(_ message: AddressMessage) {
    if let entry = Entry(message) { lists[message.interfaceIndex, default: List()].update(entry) }
  }

  package mutating func remove(_ message: AddressMessage) {
    guard let entry = Entry(message) else { return }
    lists[message.interfaceIndex]?.remove(entry)
    if lists[message.interfaceIndex]?.count == 0 { lists[message.interfaceIndex] = nil }
  }

  /// The addresses of a link, in the order in which the kernel told of them.
  package func addresses(of link: UInt32) -> [Entry] { lists[link].map { Array($0.entries) } ?? [] }

  /// A usable address of the link: one that others can answer, or else a link-local one; loopback addresses do not
  /// count.
  package func usableAddress(of link: UInt32, family: IPAddress.Family? = nil) -> IPAddress? {
    guard let list = lists[link] else { return nil }
    var linkLocal: IPAddress?
    for entry in list.entries {
      let address = entry.ipAddress
      guard entry.isUsable, !address.isLoopback, family == nil || address.family == family else { continue }
      if !address.isLinkLocal { return address }
      linkLocal = linkLocal ?? address
    }
    return linkLocal
  }

  /// Whether the address is one of this machine's; 127/8 is by definition. Link-local ones count on the link given, if
  /// one is.
  package func isOurs(_ address: IPAddress, on link: UInt32?) -> Bool {
    if address.family == .ipv4 && address.isLoopback { return true }
    return lists.contains { index, list in
      (link == nil || !address.isLinkLocal || index == link) && list.contains(address.bits, where: \.isUsable)
    }
  }
}

extension AddressTable.Entry {
  /// `nil` where the message names no address of this machine.
  fileprivate init?(_ message: AddressMessage) {
    guard let address = message.localAddress else { return nil }
    var flags = message.flags
    // Lifetimes running out change the source that is chosen, never whether there is one.
    flags.remove([.deprecated, .permanent, .noDAD])
    self.init(
      address: address, prefixLength: message.prefixLength, peer: message.peer, scope: message.scope, flags: flags)
  }

  /// The kernel tells addresses of one link apart by these: the same IPv4 address can be there with two prefixes, or
  /// with two peers.
  fileprivate func hasIdentity(of other: Self) -> Bool {
    address == other.address && prefixLength == other.prefixLength && peer == other.peer
  }
}
