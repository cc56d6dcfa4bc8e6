// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// What a recorder's thread waits with: for a wake-up, a time, or a clock that was set, as when the machine wakes
/// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
final class RecorderWait: Sendable {
  private let event: OwnedDescriptor
  private let timer: OwnedDescriptor

  init() throws(SystemError) {
    let event = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if event < 0 { throw SystemError("eventfd") }
    self.event = OwnedDescriptor(event)
    let timer = timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
    if timer < 0 { throw SystemError("timerfd_create") }
    self.timer = OwnedDescriptor(timer)
    arm()
  }

  /// For any thread. It can hardly fail (eventfd(2)), and then a wake-up is pending.
  func wake() { _ = eventfd_write(event.rawValue, 1) }

  /// Waits for at most `limit` microseconds.
  func wait(atMost limit: Int64) {
    var descriptors = [event.rawValue, timer.rawValue].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    // Rounded up, so that a wait does not turn into a busy loop at its end. The kernel fills these structures.
    let milliseconds = CInt(clamping: max(0, limit) / 1_000 + 1)
    _ = unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    var count: UInt64 = 0
    // Both give eight bytes, or fail because nothing has happened.
    _ = unsafe read(event.rawValue, &count, 8)
    if descriptors[1].revents != 0 {
      _ = unsafe read(timer.rawValue, &count, 8)
      arm()
    }
  }

  private func arm() {
    var value = itimerspec()
    value.it_value.tv_sec = Int.max
    // The kernel copies the value during the call.
    _ = unsafe timerfd_settime(timer.rawValue, CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET), &value, nil)
  }
}
