// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

// What the kernel also writes, and Dialtone never looks at: the words that messages in tests have.

extension NetlinkMessageType {
  package static let overrun = Self(rawValue: 4)
}

extension NetlinkFlags {
  /// One message of several; the last is of type `done`.
  package static let multi = Self(rawValue: 0x02)
  /// Asks for an acknowledgement of success, too.
  package static let acknowledge = Self(rawValue: 0x04)
}

extension NetlinkAttribute {
  /// `NLA_F_NESTED`: the payload is attributes. Old families nest without setting it.
  package static let nestedFlag: UInt16 = 0x8000
}

extension KernelAddressFamily {
  package static let bridge = Self(rawValue: 7)
}

extension LinkFlags {
  package static let broadcast = Self(rawValue: 1 << 1)
  /// Operational state up or unknown (RFC 2863).
  package static let running = Self(rawValue: 1 << 6)
  package static let noARP = Self(rawValue: 1 << 7)
  package static let multicast = Self(rawValue: 1 << 12)
  package static let dormant = Self(rawValue: 1 << 17)
}

extension OperationalState {
  /// A link below it is down.
  package static let lowerLayerDown = Self(rawValue: 3)
}

extension AddressFlags {
  /// IPv4: not the first of its subnet.
  package static let secondary = Self(rawValue: 0x01)
  package static let managesTemporaryAddress = Self(rawValue: 0x100)
}

extension RouteFlags {
  /// A cached clone of a route, which is what a plain query returns.
  package static let cloned = Self(rawValue: 0x200)
}

extension RuleFlags {
  package static let permanent = Self(rawValue: 0x01)
  package static let unresolved = Self(rawValue: 0x04)
}

extension RouteMessage {
  /// Reads a route without its nexthops.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    var nexthops: [RouteNexthop] = []
    self.init(message, in: bytes, nexthops: &nexthops)
  }
}
