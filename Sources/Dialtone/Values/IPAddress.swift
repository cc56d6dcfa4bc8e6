// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// An IPv4 or IPv6 address, with its zone if it has one.
///
/// It is plain bits. A zone is kept as it was written (`fe80::1%eth0`, RFC 4007): its interface need not exist yet.
public struct IPAddress: Hashable, Sendable, BitwiseCopyable {
  /// The version of the Internet protocol that an address belongs to.
  public enum Family: Hashable, Sendable, BitwiseCopyable {
    /// IPv4 (RFC 791).
    case ipv4
    /// IPv6 (RFC 8200).
    case ipv6
  }

  package let bits: IPAddressBits
  let inlineZone: InlineName

  package init(_ bits: IPAddressBits, zone: InlineName = InlineName()) {
    self.bits = bits
    self.inlineZone = zone
  }

  /// Reads an address: dotted decimal with four parts, or RFC 4291 text with an optional `%zone`.
  ///
  /// Returns `nil` if `text` is no address, or if the zone is empty, longer than 15 bytes, or on an address that cannot
  /// have one.
  public init?(_ text: some StringProtocol) {
    guard let percent = text.firstIndex(of: "%") else {
      guard let bits = Self.parse(String(text)) else { return nil }
      self.init(bits)
      return
    }
    guard let bits = Self.parse(String(text[..<percent])),
      let zone = InlineName(text[text.index(after: percent)...]), !zone.isEmpty,
      !zone.text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }
      )
    else { return nil }
    self.init(bits, zone: zone)
    if !bits.isIPv6 || !isLinkLocal { return nil }
  }

  /// An IPv4 address from its 32 bits in host order: `0x7F000001` is 127.0.0.1.
  ///
  /// The `s_addr` of an `in_addr` is in network order: `UInt32(bigEndian: s_addr)`.
  public init(ipv4 value: UInt32) { self.init(IPAddressBits(ipv4: value)) }

  /// Reads an address in an older form, too, as inet_aton(3) does: `127.1` is 127.0.0.1.
  package static func inAnyForm(_ text: some StringProtocol) -> IPAddress? {
    var address = in_addr()
    // The call reads the text, which ends with a zero, and writes the structure. What follows a space is not read.
    guard text.utf8.allSatisfy({ $0 > 0x20 }), unsafe inet_aton(String(text), &address) != 0 else {
      return IPAddress(text)
    }
    return IPAddress(ipv4: UInt32(bigEndian: address.s_addr))
  }

  /// Reads an address with inet_pton(3), which takes no short forms (`127.1`) and no octal numbers.
  private static func parse(_ text: String) -> IPAddressBits? {
    if text.utf8.contains(0) { return nil }
    var v4 = in_addr()
    if unsafe inet_pton(AF_INET, text, &v4) == 1 {
      return IPAddressBits(ipv4: UInt32(bigEndian: v4.s_addr))
    }
    var v6 = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    return IPAddressBits(v6)
  }

  /// The version of the Internet protocol that the address belongs to.
  public var family: Family { bits.isIPv6 ? .ipv6 : .ipv4 }

  /// The zone as it was written (an interface's name or index); `nil` if there is none.
  public var zone: String? { inlineZone.isEmpty ? nil : inlineZone.text }

  /// Whether the address is of link-local scope or a smaller one, so that it means nothing without its link.
  ///
  /// It is unicast (169.254/16, fe80::/10) or multicast (224.0.0/24, ffx2::/16, ffx1::/16; x are flags: RFC 4291, 2.7).
  public var isLinkLocal: Bool {
    guard bits.isIPv6 else { return isIPv4LinkLocal || bits.low >> 8 == 0xE00000 }
    // Like __ipv6_addr_needs_scope_id, include/net/ipv6.h.
    let scope = bits.high >> 48 & 0xF
    return bits.high >> 54 == 0x3FA || isMulticast && (scope == 1 || scope == 2)
  }

  /// Whether the address is of 169.254/16 (RFC 3927).
  package var isIPv4LinkLocal: Bool { !bits.isIPv6 && bits.low >> 16 == 0xA9FE }

  /// Whether the address is the unspecified one: 0.0.0.0 or `::`.
  public var isUnspecified: Bool { bits.high == 0 && bits.low == 0 }

  /// Whether another network can answer a packet with this source: IPv6 of global or unique-local scope (RFC 4007,
  /// RFC 4193); any IPv4 address except loopback and unspecified.
  var isUsableSource: Bool {
    guard bits.isIPv6 else { return bits.low != 0 && bits.low >> 24 != 127 }
    return !(bits.high == 0 && bits.low <= 1) && bits.high >> 54 != 0x3FA && bits.high >> 56 != 0xFF
  }

  /// Whether the address is one of this machine's by definition: 127/8 or ::1.
  package var isLoopback: Bool { bits.isIPv6 ? bits.high == 0 && bits.low == 1 : bits.low >> 24 == 127 }

  /// The IPv4 address in an IPv4-mapped one; otherwise the address itself.
  package var unmapped: IPAddress { bits.isIPv4Mapped ? IPAddress(bits.unmapped) : self }

  /// Whether it is a multicast address: 224/4 or ff00::/8.
  package var isMulticast: Bool { bits.isIPv6 ? bits.high >> 56 == 0xFF : bits.low >> 28 == 0xE }

  /// Whether it is of many hosts wherever it is: a multicast address, or 255.255.255.255.
  package var isOfMany: Bool { isMulticast || bits == IPAddressBits(ipv4: .max) }
}

extension IPAddress: CustomStringConvertible {
  /// The address as text: dotted decimal, or RFC 5952 with `%zone`.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let size = socklen_t(text.count)
    if bits.isIPv6 {
      var address = [bits.high.bigEndian, bits.low.bigEndian]
      // The buffers are as large as inet_ntop(3) asks for, and it writes a terminating zero.
      _ = unsafe inet_ntop(AF_INET6, &address, &text, size)
    } else {
      var address = in_addr(s_addr: UInt32(truncatingIfNeeded: bits.low).bigEndian)
      _ = unsafe inet_ntop(AF_INET, &address, &text, size)
    }
    let end = text.firstIndex(of: 0) ?? text.endIndex
    let address = String(decoding: text[..<end].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return zone.map { "\(address)%\($0)" } ?? address
  }
}

/// The bits of an address. Its family is kept elsewhere, so that several of them stay small.
struct PackedAddress: Hashable, BitwiseCopyable, Sendable {
  private var high: UInt64 = 0
  private var low: UInt64 = 0

  /// Whether there is an address, and of which family.
  enum Presence: UInt8, BitwiseCopyable, Sendable {
    case none, ipv4, ipv6
  }

  /// The presence and family of each address of a value.
  struct Families: Hashable, BitwiseCopyable, Sendable {
    var source = Presence.none
    var gateway = Presence.none
    var destination = Presence.none
  }

  func address(_ presence: Presence, zone: InlineName = InlineName()) -> IPAddress? {
    switch presence {
    case .none: nil
    case .ipv4: IPAddress(IPAddressBits(ipv4: UInt32(truncatingIfNeeded: low)), zone: zone)
    case .ipv6: IPAddress(IPAddressBits(ipv6High: high, low: low), zone: zone)
    }
  }

  /// Takes the address's bits. Returns its presence and family.
  mutating func pack(_ address: IPAddress?) -> Presence {
    high = address?.bits.high ?? 0
    low = address?.bits.low ?? 0
    guard let address else { return .none }
    return address.bits.isIPv6 ? .ipv6 : .ipv4
  }
}
