// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A message of generic netlink, whose families are numbered when the kernel starts (linux/genetlink.h).
package struct GenericNetlinkMessage: Hashable, Sendable {
  static let headerByteCount = 4

  /// The controller, which knows the numbers of the others.
  package enum Controller {
    static let newFamily: UInt8 = 1
    static let getFamily: UInt8 = 3
    package static let familyID: UInt16 = 1
    package static let familyName: UInt16 = 2
  }

  /// The family `nl80211` (linux/nl80211.h).
  package enum Wireless {
    package static let familyName = "nl80211"
    static let getInterface: UInt8 = 5
    static let newInterface: UInt8 = 7
    package static let radio: UInt16 = 1  // NL80211_ATTR_WIPHY
    package static let interfaceIndex: UInt16 = 3
  }

  package let family: NetlinkMessageType
  package let command: UInt8
  package let attributes: Range<Int>

  /// - Returns: `nil` if the message is a control message, or too short.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    // NLMSG_MIN_TYPE: the types below are control messages (linux/netlink.h).
    guard message.type.rawValue >= 16, let range = message.attributes(after: Self.headerByteCount),
      bytes.contains(message.body),
      let command: UInt8 = bytes.integer(at: message.body.lowerBound)
    else { return nil }
    family = message.type
    self.command = command
    attributes = range
  }

  /// The number of the family asked for with `CTRL_CMD_GETFAMILY`: the message type its requests carry.
  package func familyID(in bytes: RawSpan) -> NetlinkMessageType? {
    guard family == .genericController, command == Controller.newFamily,
      let value: UInt16 = integer(Controller.familyID, in: bytes)
    else { return nil }
    return NetlinkMessageType(rawValue: value)
  }

  /// The interface of an nl80211 answer. If nl80211 knows an interface, it is Wi-Fi.
  package func wirelessInterfaceIndex(in bytes: RawSpan) -> UInt32? {
    guard command == Wireless.newInterface else { return nil }
    return integer(Wireless.interfaceIndex, in: bytes)
  }

  /// The number of the radio (wiphy) that the interface uses.
  package func wirelessRadio(in bytes: RawSpan) -> UInt32? {
    guard command == Wireless.newInterface else { return nil }
    return integer(Wireless.radio, in: bytes)
  }

  /// The first attribute of a type, if it is an integer of exactly this size.
  private func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: UInt16, in bytes: RawSpan) -> T? {
    var cursor = NetlinkAttributeCursor(attributes)
    while let attribute = cursor.next(in: bytes) {
      if attribute.type == type { return bytes.integer(in: attribute.payload) }
    }
    return nil
  }
}
