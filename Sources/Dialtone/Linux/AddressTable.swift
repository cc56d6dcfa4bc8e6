// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The addresses of this machine, by link.
struct AddressTable: Sendable {
  struct Entry: Equatable, Sendable {
    let address: IPAddressBits
    let prefixLength: UInt8
    /// The address at the other end of the link.
    let peer: IPAddressBits?
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
  /// Invariant: `order` has the positions in `slots` of all entries, in the order of their addresses. All other slots
  /// are empty, and they are never the majority.
  private struct List {
    let link: UInt32
    /// In the order in which the kernel announced them. A removed one leaves an empty slot, so that the positions of
    /// the others stay.
    private var slots: [Entry?] = []
    private var order: [Int] = []

    init(of link: UInt32) { self.link = link }

    var isEmpty: Bool { order.isEmpty }

    var entries: some Sequence<Entry> { slots.lazy.compactMap(\.self) }

    func contains(_ address: IPAddressBits, where condition: (Entry) -> Bool) -> Bool {
      rank(of: address, where: condition).isFound
    }

    mutating func update(_ entry: Entry) {
      let (rank, isFound) = rank(of: entry.address) { $0.hasIdentity(of: entry) }
      if isFound {
        slots[order[rank]] = entry
      } else {
        order.insert(slots.count, at: rank)
        slots.append(entry)
      }
    }

    mutating func remove(_ entry: Entry) {
      let (rank, isFound) = rank(of: entry.address) { $0.hasIdentity(of: entry) }
      if !isFound { return }
      slots[order.remove(at: rank)] = nil
      if slots.count > 2 * order.count { compact() }
    }

    mutating func hold() {
      for position in slots.indices {
        guard let entry = slots[position], entry.address.isIPv6, !entry.flags.contains(.noDAD) else { continue }
        slots[position]?.flags.insert(.tentative)
      }
    }

    /// Returns where in `order` the first entry with this address is that meets the condition, or one would be put.
    private func rank(of address: IPAddressBits, where condition: (Entry) -> Bool) -> (Int, isFound: Bool) {
      var rank = order.firstPosition { slots[$0].map { $0.address >= address } ?? true }
      while rank < order.count, let entry = slots[order[rank]], entry.address == address {
        if condition(entry) { return (rank, true) }
        rank += 1
      }
      return (rank, false)
    }

    private mutating func compact() {
      let entries = Array(entries)
      self = List(of: link)
      for entry in entries { update(entry) }
    }
  }

  /// Those that have addresses, in the order of the links' indices.
  private var lists: [List] = []

  mutating func update(_ message: AddressMessage) {
    guard let entry = Entry(message) else { return }
    let (position, isTaken) = lists.place(of: message.interfaceIndex) { $0.link }
    if !isTaken { lists.insert(List(of: message.interfaceIndex), at: position) }
    lists[position].update(entry)
  }

  mutating func remove(_ message: AddressMessage) {
    let (position, isTaken) = lists.place(of: message.interfaceIndex) { $0.link }
    guard isTaken, let entry = Entry(message) else { return }
    lists[position].remove(entry)
    if lists[position].isEmpty { lists.remove(at: position) }
  }

  /// Takes in that a link was switched off. If the kernel keeps its IPv6 addresses (`keep_addr_on_down`), they are
  /// tentative from now on, which is not announced (addrconf_ifdown, net/ipv6/addrconf.c). The end of that is.
  mutating func linkIsOff(_ link: UInt32) {
    let (position, isTaken) = lists.place(of: link) { $0.link }
    if isTaken { lists[position].hold() }
  }

  private func list(of link: UInt32) -> List? {
    let (position, isTaken) = lists.place(of: link) { $0.link }
    return isTaken ? lists[position] : nil
  }

  /// The addresses of a link, in the order in which the kernel announced them.
  func addresses(of link: UInt32) -> [Entry] { list(of: link).map { Array($0.entries) } ?? [] }

  /// Returns a usable address of the link: if possible one that is not link-local. Loopback addresses do not count.
  func usableAddress(of link: UInt32, family: IPAddress.Family? = nil) -> IPAddress? {
    guard let list = list(of: link) else { return nil }
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
    return lists.contains { list in
      (link == nil || !address.isLinkLocal || list.link == link) && list.contains(address.bits, where: \.isUsable)
    }
  }
}

extension AddressTable.Entry {
  /// Returns `nil` if the message names no address of this machine.
  fileprivate init?(_ message: AddressMessage) {
    guard let address = message.localAddress else { return nil }
    var flags = message.flags
    // These follow from lifetimes. They change which source is chosen, never whether there is one.
    flags.subtract(.deprecated.union(.permanent))
    self.init(address: address, prefixLength: message.prefixLength, peer: message.peer, flags: flags)
  }

  /// Returns whether both are the same address of a link to the kernel: one link can have an IPv4 address with two
  /// prefixes, or with two peers. It has an IPv6 address once, whose peer may change.
  fileprivate func hasIdentity(of other: Self) -> Bool {
    address == other.address && (address.isIPv6 || prefixLength == other.prefixLength && peer == other.peer)
  }
}
