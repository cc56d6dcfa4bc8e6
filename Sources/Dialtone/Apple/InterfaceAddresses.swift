// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || DIALTONE_APPLE_SOURCE
internal import CDialtoneSystem

#if DIALTONE_APPLE_SOURCE
internal import Dialtone
#endif

/// The interfaces of this machine with their flags and addresses, as getifaddrs(3) has them at one moment.
struct InterfaceAddresses {
  struct Entry {
    let name: String
    let index: UInt32
    fileprivate(set) var flags: CInt
    fileprivate(set) var addresses: [Address] = []

    var isUp: Bool { flags & CInt(IFF_UP) != 0 }
    var isRunning: Bool { flags & CInt(IFF_RUNNING) != 0 }
    var isLoopback: Bool { flags & CInt(IFF_LOOPBACK) != 0 }
    var isPointToPoint: Bool { flags & CInt(IFF_POINTOPOINT) != 0 }

    /// The addresses in an order of their own: IPv4 first, link-local ones last in each family.
    var inOrder: [Dialtone.IPAddress] {
      Set(addresses.map(\.address)).sorted { a, b in
        if a.family == b.family, a.isLinkLocal != b.isLinkLocal { return b.isLinkLocal }
        return a.bits < b.bits
      }
    }

    /// Returns whether a packet of this family that leaves the link can have an address of the interface.
    func supports(_ family: Dialtone.IPAddress.Family) -> Bool {
      addresses.contains { $0.address.family == family && (family == .ipv4 || !$0.address.isLinkLocal) }
    }

    func isOnLink(_ address: Dialtone.IPAddress) -> Bool {
      !isPointToPoint && addresses.contains { $0.contains(address) }
    }
  }

  struct Address {
    let address: Dialtone.IPAddress
    let mask: Dialtone.IPAddress?

    func contains(_ other: Dialtone.IPAddress) -> Bool {
      guard let mask, other.family == address.family else { return false }
      return (other.bits.high ^ address.bits.high) & mask.bits.high == 0
        && (other.bits.low ^ address.bits.low) & mask.bits.low == 0
    }
  }

  /// In the order of their indices.
  let entries: [Entry]

  /// Reads them. If the system has no memory left for it, there are none.
  init() {
    var byName: [String: Entry] = [:]
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else {
      entries = []
      return
    }
    // The list is ours until it is freed. Its names are C strings; its addresses are whole ones of their family.
    var next = unsafe list
    defer { unsafe freeifaddrs(list) }
    while let item = unsafe next?.pointee {
      unsafe next = item.ifa_next
      let name = unsafe String(cString: item.ifa_name)
      var entry =
        unsafe byName[name]
        ?? Entry(name: name, index: if_nametoindex(item.ifa_name), flags: CInt(bitPattern: item.ifa_flags))
      if let address = unsafe Self.address(item.ifa_addr) {
        entry.addresses.append(Address(address: address, mask: unsafe Self.address(item.ifa_netmask)))
      }
      byName[name] = entry
    }
    entries = byName.values.sorted { $0.index < $1.index }
  }

  subscript(_ name: String) -> Entry? { entries.first { $0.name == name } }

  /// Returns the interface that a configuration or a zone names, which may do so by an index.
  func named(_ text: String) -> Entry? { self[text] ?? entries.first { "\($0.index)" == text } }

  func interface(with address: Dialtone.IPAddress) -> Entry? {
    entries.first { entry in entry.addresses.contains { $0.address.bits == address.bits } }
  }

  /// Returns the address without a zone; `nil` if it is of another family.
  private static func address(_ pointer: UnsafePointer<sockaddr>?) -> Dialtone.IPAddress? {
    guard let pointer = unsafe pointer else { return nil }
    switch unsafe CInt(pointer.pointee.sa_family) {
    case AF_INET: return unsafe IPAddressBits.address(UnsafeRawPointer(pointer), MemoryLayout<sockaddr_in>.size)
    case AF_INET6: return unsafe IPAddressBits.address(UnsafeRawPointer(pointer), MemoryLayout<sockaddr_in6>.size)
    default: return nil
    }
  }
}

extension IPAddressBits {
  /// Returns the address at the pointer, which is one of that size. Some systems keep the scope of a link-local address
  /// in its second 16 bits, which are zero on the wire (RFC 4291, 2.5.6).
  fileprivate static func address(_ pointer: UnsafeRawPointer, _ size: Int) -> Dialtone.IPAddress? {
    do throws(ReachabilityError) {
      var bits = try unsafe Dialtone.IPAddress(socketAddress: pointer, length: size).bits
      if bits.isIPv6, bits.high >> 54 == 0x3FA {
        bits = IPAddressBits(ipv6High: bits.high & 0xFFFF_0000_FFFF_FFFF, low: bits.low)
      }
      return Dialtone.IPAddress(bits)
    } catch {
      // A netmask may have no family.
      return nil
    }
  }
}
#endif
