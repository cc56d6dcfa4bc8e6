// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink

/// Which radios are blocked, by a switch or by software: /dev/rfkill (linux/rfkill.h), which tells first of all there are and then
/// of every change, in any network namespace.
final class RadioSwitches {
  /// `struct rfkill_event`: index (4 bytes), type, operation, soft, hard.
  private static let eventSize = 8
  private static let wlan: UInt8 = 1
  private static let wwan: UInt8 = 5
  private static let removal: UInt8 = 1

  let descriptor: CInt
  private var radios: [UInt32: (type: UInt8, isBlocked: Bool)] = [:]

  /// `nil` where there are no such switches, or they may not be read.
  init?() {
    // The path becomes a C string for the call.
    descriptor = unsafe cnetlink_open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return nil }
    _ = read()
  }

  deinit { _ = close(descriptor) }

  /// Whether there is a radio of this kind, and every one is blocked.
  func isBlocked(_ kind: InterfaceKind) -> Bool {
    let type = kind == .wifi ? Self.wlan : Self.wwan
    let ours = radios.values.filter { $0.type == type }
    return !ours.isEmpty && ours.allSatisfy(\.isBlocked)
  }

  /// Reads what is new. Answers whether anything was.
  func read() -> Bool {
    var isNew = false
    while true {
      let event = unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
        // Each read(2) gives one event, of this size or, since Linux 5.11, one byte more.
        count = unsafe max(0, CNetlink.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if event.count < Self.eventSize { return isNew }
      isNew = true
      apply(event)
    }
  }

  private func apply(_ event: [UInt8]) {
    // In host order, but all that counts is that numbers differ.
    let number = event[0..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    if event[5] == Self.removal {
      radios[number] = nil
    } else {
      radios[number] = (event[4], event[6] != 0 || event[7] != 0)
    }
  }
}
#endif
