// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Which radios are blocked, by a switch or by software. /dev/rfkill (linux/rfkill.h) first lists all switches and then
/// announces every change, in any network namespace.
///
/// The kernel switches off a radio's interface before it announces that the radio is blocked (net/rfkill/core.c,
/// rfkill_set_block). By then sysfs has the switch's new state. It is read there, so that one change does not look like
/// two.
final class RadioSwitches {
  private let owner: OwnedDescriptor
  private var table = RadioTable()

  /// Whether there are such switches, and they may be read. If so and they are not read, descriptors are short.
  static var mayBeRead: Bool {
    // The path becomes a C string for the call.
    unsafe access("/dev/rfkill", R_OK) == 0
  }

  /// Returns `nil` if there are no such switches, they may not be read, or there are no descriptors left.
  init?() {
    // The path becomes a C string for the call.
    owner = OwnedDescriptor(unsafe csystem_open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC))
    if owner.rawValue < 0 { return nil }
    _ = read()
  }

  var descriptor: CInt { owner.rawValue }

  /// Whether nobody else has closed the descriptor.
  var isOpen: Bool { owner.isOurs }

  func isBlocked(_ link: Link) -> Bool { table.isBlocked(link, state: Self.state(of:)) }

  /// Reads what is new. Returns whether there was anything.
  func read() -> Bool {
    var isNew = false
    while owner.isOurs {
      let event = unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
        // Each read(2) gives one event, of eight bytes or, since Linux 5.11, one byte more.
        count = unsafe max(0, CDialtoneSystem.read(descriptor, buffer.baseAddress, buffer.count))
      }
      guard table.apply(event, radio: Self.radio(of:)) else { return isNew }
      isNew = true
    }
    return isNew
  }

  /// Returns what the switch is set to, or `nil` if sysfs does not show it, such as in another network namespace than
  /// the radio's.
  private static func state(of number: UInt32) -> Bool? {
    guard let soft = SystemFile.text(at: "/sys/class/rfkill/rfkill\(number)/soft"),
      let hard = SystemFile.text(at: "/sys/class/rfkill/rfkill\(number)/hard")
    else { return nil }
    return soft.hasPrefix("1") || hard.hasPrefix("1")
  }

  /// Returns the number of the switch's radio, or `nil` if the switch has no radio of its own, or sysfs does not show
  /// it.
  private static func radio(of number: UInt32) -> UInt32? {
    SystemFile.text(at: "/sys/class/rfkill/rfkill\(number)/device/index").flatMap {
      UInt32($0.prefix { $0.isNumber })
    }
  }
}
#endif
