// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import FoundationEssentials
internal import Dialtone

/// An address of either version of the Internet protocol, as in Apple's `Network`.
public protocol IPAddress: CustomDebugStringConvertible, Sendable {
  /// The bytes of the address in network order.
  var rawValue: Data { get }
  /// The interface that the address is bound to, if any.
  var interface: NWInterface? { get }
  /// Whether it is an address of this machine by definition.
  var isLoopback: Bool { get }
  /// Whether it is a unicast address of link-local scope.
  var isLinkLocal: Bool { get }
  /// Whether it is a multicast address.
  var isMulticast: Bool { get }

  /// Creates an address from its bytes in network order; `nil` if their number is wrong.
  init?(_ rawValue: Data, _ interface: NWInterface?)

  /// Reads an address; `nil` if `string` is none.
  init?(_ string: String)
}

/// An IPv4 address (RFC 791), as in Apple's `Network`.
public struct IPv4Address: IPAddress, Hashable {
  private let value: UInt32
  /// The interface that the address is bound to, if any.
  public let interface: NWInterface?

  private init(_ value: UInt32) { self.init(IPAddressBits(ipv4: value)) }

  init(_ bits: IPAddressBits, over interface: NWInterface? = nil) {
    value = UInt32(truncatingIfNeeded: bits.low)
    self.interface = interface
  }

  /// 0.0.0.0.
  public static let any = IPv4Address(0)
  /// 255.255.255.255.
  public static let broadcast = IPv4Address(0xFFFF_FFFF)
  /// 127.0.0.1.
  public static let loopback = IPv4Address(0x7F00_0001)
  /// 224.0.0.1.
  public static let allHostsGroup = IPv4Address(0xE000_0001)
  /// 224.0.0.2.
  public static let allRoutersGroup = IPv4Address(0xE000_0002)
  /// 224.0.0.22.
  public static let allReportsGroup = IPv4Address(0xE000_0016)
  /// 224.0.0.251.
  public static let mdnsGroup = IPv4Address(0xE000_00FB)

  /// Creates an address from its four bytes in network order; `nil` if there are not four.
  public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
    guard rawValue.count == 4 else { return nil }
    value = rawValue.reduce(0) { $0 << 8 | UInt32($1) }
    self.interface = interface
  }

  /// Reads what inet_aton(3) reads: dotted decimal, and older forms such as `127.1`; `nil` if `string` is something
  /// else. A zone (`169.254.8.8%eth0`) is left out, since no interface is looked up.
  public init?(_ string: String) {
    guard let address = Dialtone.IPAddress.inAnyForm(string.prefix { $0 != "%" }), !address.bits.isIPv6 else {
      return nil
    }
    self.init(address.bits)
  }

  /// The bytes of the address in network order.
  public var rawValue: Data { Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }) }
  /// Whether it is 127.0.0.1, bound to no interface. No other address of 127/8 is, as on Apple's platforms.
  public var isLoopback: Bool { self == .loopback }
  /// Whether it is of 169.254/16 (RFC 3927).
  public var isLinkLocal: Bool { value >> 16 == 0xA9FE }
  /// Whether it is of 224/4.
  public var isMulticast: Bool { value >> 28 == 0xE }

  /// Dotted decimal.
  public var debugDescription: String { "\(Dialtone.IPAddress(ipv4: value))" + (interface.map { "%\($0.name)" } ?? "") }
}

/// An IPv6 address (RFC 8200), as in Apple's `Network`.
public struct IPv6Address: IPAddress, Hashable {
  /// How far a multicast address reaches (RFC 4291, 2.7).
  public enum Scope: UInt8, Hashable, Sendable {
    case nodeLocal = 1
    case linkLocal = 2
    case siteLocal = 5
    case organizationLocal = 8
    case global = 14
  }

  private let bits: IPAddressBits
  /// The interface that the address is bound to, if any.
  public let interface: NWInterface?

  private init(high: UInt64, low: UInt64) { self.init(IPAddressBits(ipv6High: high, low: low)) }

  init(_ bits: IPAddressBits, over interface: NWInterface? = nil) {
    self.bits = bits
    self.interface = interface
  }

  private var high: UInt64 { bits.high }
  private var low: UInt64 { bits.low }

  /// `::`.
  public static let any = IPv6Address(high: 0, low: 0)
  /// `::`: IPv6 has no broadcast, and Apple's has this value.
  public static let broadcast = any
  /// `::1`.
  public static let loopback = IPv6Address(high: 0, low: 1)
  /// `ff01::1`.
  public static let nodeLocalNodes = IPv6Address(high: 0xFF01 << 48, low: 1)
  /// `ff02::1`.
  public static let linkLocalNodes = IPv6Address(high: 0xFF02 << 48, low: 1)
  /// `ff02::2`.
  public static let linkLocalRouters = IPv6Address(high: 0xFF02 << 48, low: 2)

  /// Creates an address from its sixteen bytes in network order; `nil` if there are not sixteen.
  public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
    guard rawValue.count == 16 else { return nil }
    func number(_ bytes: Data) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(IPAddressBits(ipv6High: number(rawValue.prefix(8)), low: number(rawValue.suffix(8))), over: interface)
  }

  /// Reads RFC 4291 text; `nil` if `string` is something else. A zone (`fe80::1%eth0`) is left out, since no interface
  /// is looked up.
  public init?(_ string: String) {
    guard let address = Dialtone.IPAddress(string.prefix { $0 != "%" }), address.bits.isIPv6 else { return nil }
    self.init(address.bits)
  }

  /// The bytes of the address in network order.
  public var rawValue: Data {
    Data((0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - 8 * ($0 % 8))) })
  }

  /// Whether it is `::1`.
  public var isLoopback: Bool { high == 0 && low == 1 }
  /// Whether it is of fe80::/10.
  public var isLinkLocal: Bool { high >> 54 == 0x3FA }
  /// Whether it is of ff00::/8.
  public var isMulticast: Bool { high >> 56 == 0xFF }
  /// Whether it is `::`.
  public var isAny: Bool { high == 0 && low == 0 }
  /// Whether it has the form `::192.0.2.1`. (The spelling is Apple's.)
  public var isIPv4Compatabile: Bool { high == 0 && low >> 32 == 0 && low > 1 }
  /// Whether it has the form `::ffff:192.0.2.1`.
  public var isIPv4Mapped: Bool { bits.isIPv4Mapped }
  /// Whether it is of 2002::/16 (RFC 3056).
  public var is6to4: Bool { high >> 48 == 0x2002 }
  /// Whether it is of fc00::/7 (RFC 4193).
  public var isUniqueLocal: Bool { high >> 57 == 0x7E }

  /// The IPv4 address in a mapped or compatible address; `nil` in others.
  public var asIPv4: IPv4Address? {
    guard isIPv4Mapped || isIPv4Compatabile else { return nil }
    return IPv4Address(IPAddressBits(ipv4: UInt32(truncatingIfNeeded: low)), over: interface)
  }

  /// How far a multicast address reaches; `nil` for other addresses and scopes.
  public var multicastScope: Scope? { isMulticast ? Scope(rawValue: UInt8(high >> 48 & 0xF)) : nil }

  /// RFC 5952 text, with the interface as the zone.
  public var debugDescription: String {
    "\(Dialtone.IPAddress(bits))" + (interface.map { "%\($0.name)" } ?? "")
  }
}
#endif
