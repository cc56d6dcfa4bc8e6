// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Synchronization

/// The waiter for Linux: descriptors of the source, a wake-up and a timer (epoll(7), eventfd(2), timerfd_create(2)).
///
/// Every descriptor is registered edge-triggered: an event wakes one of the waiting threads, which must read until
/// there is nothing more.
///
/// Somebody else may close these descriptors, as daemons do when they begin. That is noticed as soon as one of them is
/// used. From then on all three are left alone, since their numbers may be other files' by now.
package final class EventPoll: EventWaiter {
  /// The source's descriptors have the bits below this one.
  private static let wakeBit = 62
  private static let timerBit = 63

  private let poll: CInt
  private let wakeup: CInt
  private let timer: CInt
  /// The identity of all three, which have no file of their own.
  let identity: FileIdentity?
  /// Whether the descriptors are closed, by this object or by somebody else.
  private let isClosed = Atomic(false)
  /// The source's descriptors that have become readable and were not read since, a bit each. At first all count as
  /// readable.
  private let ready = Atomic(UInt64.max)

  /// - Throws: errno as a ``SystemError``, if the process has no descriptors left.
  package init() throws(SystemError) {
    poll = epoll_create1(CInt(EPOLL_CLOEXEC))
    wakeup = poll < 0 ? -1 : eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    // Like Swift's ContinuousClock, this clock goes on while the system is suspended.
    timer = wakeup < 0 ? -1 : timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
    let error = SystemError("epoll_create1, eventfd or timerfd_create")
    identity = .marking(poll)
    identity?.mark(wakeup)
    identity?.mark(timer)
    // `deinit` closes what was opened.
    if timer < 0 { throw error }
    try add(wakeup, bit: Self.wakeBit)
    try add(timer, bit: Self.timerBit)
  }

  package var highestDescriptor: CInt { max(poll, wakeup, timer) }

  /// Returns this process's descriptors of epoll(7), up to `last`, including those that others made.
  package static func pollDescriptors(upTo last: CInt) -> Set<CInt> {
    let probe = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if probe < 0 { return [] }
    defer { _ = CDialtoneSystem.close(probe) }
    var event = unsafe epoll_event()
    // No poll watches the probe, so this changes nothing. ENOENT shows an epoll descriptor, EINVAL another one
    // (epoll_ctl(2)).
    return Set(
      (0...max(0, last)).filter { unsafe epoll_ctl($0, EPOLL_CTL_DEL, probe, &event) < 0 && csystem_errno() == ENOENT }
    )
  }

  deinit { close() }

  package func abandon() { close() }

  /// Closes the descriptors that are still this object's.
  private func close() {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    for descriptor in [timer, wakeup, poll] where FileIdentity(descriptor) == identity {
      _ = CDialtoneSystem.close(descriptor)
    }
  }

  /// Whether the descriptors are still this object's, as far as can be seen.
  private var isOpen: Bool { !isClosed.load(ordering: .relaxed) && FileIdentity(wakeup) == identity }

  /// Notes that somebody else has closed the descriptors. Returns `false`.
  private func lose() -> Bool {
    isClosed.store(true, ordering: .relaxed)
    return false
  }

  /// Makes `wait` return when the descriptor has become readable, with its bit among the ready ones.
  package func add(_ descriptor: CInt, bit: Int) throws(SystemError) {
    // If another poll has the number now, it is left alone.
    if !isOpen {
      _ = lose()
      throw SystemError("epoll_ctl", errno: EBADF)
    }
    var event = unsafe epoll_event()
    unsafe event.events = UInt32(CSYSTEM_EPOLLIN) | UInt32(bitPattern: Int32.min)  // EPOLLET is bit 31
    unsafe event.data.u32 = UInt32(bit)
    // The kernel copies the event during the call (epoll_ctl(2)).
    if unsafe epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 { return }
    let error = SystemError("epoll_ctl")
    // It is already registered.
    if error.errno != EEXIST { throw error }
  }

  /// The descriptors that have become readable since the last call, a bit each.
  func takeReady() -> UInt64 { ready.exchange(0, ordering: .acquiringAndReleasing) }

  /// Has descriptors count as readable, a bit each.
  func markReady(_ bits: UInt64) { ready.bitwiseOr(bits, ordering: .releasing) }

  package func wait() -> Bool {
    if isClosed.load(ordering: .relaxed) { return false }
    return unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 8) { events in
      // The kernel writes at most as many events as it is told there is room for, and returns how many (epoll_wait(2)).
      let count = unsafe epoll_wait(poll, events.baseAddress, CInt(events.count), -1)
      if count < 0, csystem_errno() != EINTR { return lose() }
      var bits: UInt64 = 0
      for position in 0..<max(0, Int(count)) {
        let bit = unsafe events[position].data.u32
        if bit < UInt32(Self.wakeBit) { bits |= 1 << UInt64(bit) }
      }
      if bits != 0 { markReady(bits) }
      return true
    }
  }

  @discardableResult
  package func wake() -> Bool {
    // If another file has the number now, nothing may be written to it.
    guard isOpen else { return lose() }
    // The counter cannot overflow in practice (2^64 − 2), and each write is an edge, read or not.
    return eventfd_write(wakeup, 1) == 0 || lose()
  }

  /// The deadline is in nanoseconds of CLOCK_BOOTTIME.
  package func setDeadline(_ deadline: Int64?) {
    if !isOpen {
      _ = lose()
      return
    }
    var value = itimerspec()
    if let deadline {
      // A zero would disarm the timer (timerfd_settime(2)).
      let deadline = max(1, deadline)
      value.it_value.tv_sec = Int(deadline / 1_000_000_000)
      value.it_value.tv_nsec = Int(deadline % 1_000_000_000)
    }
    // Fails if the number is no such descriptor any more (EBADF, EINVAL).
    if unsafe timerfd_settime(timer, CInt(TFD_TIMER_ABSTIME), &value, nil) != 0 { _ = lose() }
  }
}
#endif
