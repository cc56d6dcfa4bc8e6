// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The switches of radios, as `struct rfkill_event` announces them (linux/rfkill.h). Pure.
///
/// The radio of a Wi-Fi interface has a switch of its own (net/wireless/core.c, wiphy_register). Besides, there are
/// switches of laptops' keys, for Wi-Fi and for modems, which do not say what they switch.
struct RadioTable: Sendable {
  /// `RFKILL_TYPE_WLAN` and `RFKILL_TYPE_WWAN`.
  private static let wlan: UInt8 = 1
  private static let wwan: UInt8 = 5
  /// `RFKILL_OP_DEL`.
  private static let removal: UInt8 = 1
  /// Index (4 bytes), type, operation, soft, hard.
  private static let eventSize = 8

  private struct Switch {
    let type: UInt8
    /// The number of its radio (wiphy), if known.
    let radio: UInt32?
    var isBlocked: Bool
  }

  private var switches: [UInt32: Switch] = [:]

  /// Takes in an event.
  ///
  /// - Parameters:
  ///   - event: The bytes of a `struct rfkill_event`, or a longer one.
  ///   - radio: Finds the radio of the switch with this number; asked once for each Wi-Fi switch.
  /// - Returns: Whether it was an event.
  mutating func apply(_ event: [UInt8], radio: (UInt32) -> UInt32?) -> Bool {
    // Bytes have no padding between them.
    let bytes = unsafe event.span.bytes
    guard event.count >= Self.eventSize, let number: UInt32 = bytes.integer(at: 0) else { return false }
    let (type, operation, isBlocked) = (event[4], event[5], event[6] != 0 || event[7] != 0)
    if operation == Self.removal {
      switches[number] = nil
    } else if switches[number]?.type == type {
      switches[number]?.isBlocked = isBlocked
    } else {
      switches[number] = Switch(type: type, radio: type == Self.wlan ? radio(number) : nil, isBlocked: isBlocked)
    }
    return true
  }

  /// Returns whether the link's radio is blocked.
  ///
  /// - Parameters:
  ///   - link: A link with no link below it.
  ///   - state: Returns what a switch is set to now, if that is known better than by the last event.
  /// - Returns: Whether its own switch blocks it. If that switch is unknown: whether there are switches of its kind,
  ///   and all of them block.
  func isBlocked(_ link: Link, state: (UInt32) -> Bool? = { _ in nil }) -> Bool {
    let type: UInt8
    switch link.ownKind {
    case .wifi: type = Self.wlan
    case .cellular: type = Self.wwan
    default: return false
    }
    var ours = switches.filter { $0.value.type == type }
    if let radio = link.radio {
      let own = ours.filter { $0.value.radio == radio }
      if !own.isEmpty { ours = own }
    }
    return !ours.isEmpty && ours.allSatisfy { state($0.key) ?? $0.value.isBlocked }
  }
}
