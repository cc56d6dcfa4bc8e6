// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// The addresses of this machine, by link.
struct AddressTable: Sendable {
  struct Entry: Equatable, Sendable {
    let address: IPAddressBits
    let prefixLength: UInt8
    /// The address at the other end of the link.
    let peer: IPAddressBits?
    let scope: RouteScope
    var flags: AddressFlags

    /// Whether packets may come from it: duplicate address detection found no duplicate, or need not be waited for
    /// (RFC 4429). Deprecated addresses are usable, as the last choice.
    var isUsable: Bool {
      if flags.contains(.dadFailed) { return false }
      return !flags.contains(.tentative) || flags.contains(.optimistic)
    }

    var ipAddress: IPAddress { IPAddress(address) }
  }

  /// The addresses of one link. There may be tens of thousands, so no operation searches them all.
  ///
  /// Invariant: `positions` has, for each address, the positions of its entries in `slots`. All other slots are empty,
  /// and they are never the majority.
  private struct List {
    /// In the order in which the kernel announced them. A removed one leaves an empty slot, so that the positions of
    /// the others stay.
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

  init() {}

  mutating func removeAll() { lists.removeAll() }

  mutating func update(_ message: AddressMessage) {
    if let entry = Entry(message) { lists[message.interfaceIndex, default: List()].update(entry) }
  }

  mutating func remove(_ message: AddressMessage) {
    guard let entry = Entry(message) else { return }
    lists[message.interfaceIndex]?.remove(entry)
    if lists[message.interfaceIndex]?.count == 0 { lists[message.interfaceIndex] = nil }
  }

  /// The addresses of a link, in the order in which the kernel announced them.
  func addresses(of link: UInt32) -> [Entry] { lists[link].map { Array($0.entries) } ?? [] }

  /// Returns a usable address of the link: if possible one that is not link-local. Loopback addresses do not count.
  func usableAddress(of link: UInt32, family: IPAddress.Family? = nil) -> IPAddress? {
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

  /// Returns whether the address is one of this machine's. 127/8 is by definition. If a link is given, a link-local
  /// address counts on that link alone.
  func isOurs(_ address: IPAddress, on link: UInt32?) -> Bool {
    if address.family == .ipv4 && address.isLoopback { return true }
    return lists.contains { index, list in
      (link == nil || !address.isLinkLocal || index == link) && list.contains(address.bits, where: \.isUsable)
    }
  }
}

extension AddressTable.Entry {
  /// Returns `nil` if the message names no address of this machine.
  fileprivate init?(_ message: AddressMessage) {
    guard let address = message.localAddress else { return nil }
    var flags = message.flags
    // These follow from lifetimes. They change which source is chosen, never whether there is one.
    flags.subtract(.deprecated.union(.permanent).union(.noDAD))
    self.init(
      address: address, prefixLength: message.prefixLength, peer: message.peer, scope: message.scope, flags: flags)
  }

  /// Returns whether both are the same address of a link to the kernel: one link can have an IPv4 address with two
  /// prefixes, or with two peers.
  fileprivate func hasIdentity(of other: Self) -> Bool {
    address == other.address && prefixLength == other.prefixLength && peer == other.peer
  }
}
