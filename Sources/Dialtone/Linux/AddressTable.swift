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

  private var entries: [UInt32: [Entry]] = [:]

  package init() {}

  package mutating func removeAll() { entries.removeAll() }

  package mutating func update(_ message: AddressMessage) {
    guard let address = message.localAddress else { return }
    var flags = message.flags
    // Lifetimes running out change the source that is chosen, never whether there is one.
    flags.remove([.deprecated, .permanent, .noDAD])
    let entry = Entry(
      address: address, prefixLength: message.prefixLength, peer: message.peer, scope: message.scope, flags: flags)
    var list = entries[message.interfaceIndex] ?? []
    if let position = list.firstIndex(where: { $0.hasIdentity(of: message) }) {
      list[position] = entry
    } else {
      list.append(entry)
    }
    entries[message.interfaceIndex] = list
  }

  package mutating func remove(_ message: AddressMessage) {
    guard var list = entries[message.interfaceIndex] else { return }
    list.removeAll { $0.hasIdentity(of: message) }
    entries[message.interfaceIndex] = list.isEmpty ? nil : list
  }

  /// The addresses of a link, in the order in which the kernel told of them.
  package func addresses(of link: UInt32) -> [Entry] { entries[link] ?? [] }

  /// A usable address of the link: one that others can answer, or else a link-local one; loopback addresses do not count.
  package func usableAddress(of link: UInt32, family: IPAddress.Family? = nil) -> IPAddress? {
    let usable = addresses(of: link).filter { entry in
      entry.isUsable && !entry.ipAddress.isLoopback && (family == nil || entry.ipAddress.family == family)
    }
    return (usable.first { !$0.ipAddress.isLinkLocal } ?? usable.first)?.ipAddress
  }

  /// Whether the address is one of this machine's; 127/8 is by definition. Link-local ones count on the link given, if one is.
  package func isOurs(_ address: IPAddress, on link: UInt32?) -> Bool {
    if address.family == .ipv4 && address.isLoopback { return true }
    return entries.contains { index, list in
      (link == nil || !address.isLinkLocal || index == link)
        && list.contains { $0.address == address.bits && $0.isUsable }
    }
  }
}

extension AddressTable.Entry {
  /// The kernel tells addresses of one link apart by these: the same IPv4 address can be there with two prefixes, or with two
  /// peers.
  fileprivate func hasIdentity(of message: AddressMessage) -> Bool {
    address == message.localAddress && prefixLength == message.prefixLength && peer == message.peer
  }
}
