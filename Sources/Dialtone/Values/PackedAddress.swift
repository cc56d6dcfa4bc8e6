// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// The bits of an address whose family is kept elsewhere, so that several of them stay small.
struct PackedAddress: BitwiseCopyable, Sendable {
  private var high: UInt64 = 0
  private var low: UInt64 = 0

  /// Whether there is an address, and of which family.
  enum Presence: UInt8, BitwiseCopyable, Sendable {
    case none, ipv4, ipv6
  }

  /// What the addresses of a value are.
  struct Families: BitwiseCopyable, Sendable {
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

  /// Takes the address's bits; returns what it is.
  mutating func pack(_ address: IPAddress?) -> Presence {
    high = address?.bits.high ?? 0
    low = address?.bits.low ?? 0
    guard let address else { return .none }
    return address.bits.isIPv6 ? .ipv6 : .ipv4
  }
}
