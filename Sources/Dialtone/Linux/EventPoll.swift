// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Netlink
internal import Synchronization

/// What the engine's threads sleep on: descriptors of the source, a wake-up, a timer. epoll(7), eventfd(2),
/// timerfd_create(2).
///
/// Every descriptor is registered edge-triggered: of the threads that wait, one is woken for one event, and whoever is
/// woken must read until there is nothing more.
///
/// Somebody else may close these descriptors, as daemons do when they begin. That is noticed as soon as one of them is
/// used, and all three are left alone from then on: their numbers may be other files' by now.
package final class EventPoll: EventWaiter {
  /// The ready set's bits of the source's descriptors begin here.
  private static let wakeBit = 62
  private static let timerBit = 63

  private let poll: CInt
  private let wakeup: CInt
  private let timer: CInt
  /// Of what has no file of its own, as all three: a number that has become another's is mostly told by it.
  private let identity: FileIdentity?
  /// Whether the descriptors are closed, by whomever.
  private let isClosed = Atomic(false)
  /// The source's descriptors that have become readable and were not read since, a bit each. At first it is not known.
  private let ready = Atomic(UInt64.max)

  /// - Throws: errno as a ``SystemError``, where the process has no descriptors left.
  package init() throws(SystemError) {
    poll = epoll_create1(CInt(EPOLL_CLOEXEC))
    guard poll >= 0 else { throw SystemError("epoll_create1") }
    wakeup = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    guard wakeup >= 0 else {
      let error = SystemError("eventfd")
      _ = CDialtoneSystem.close(poll)
      throw error
    }
    // Like Swift's ContinuousClock, this clock goes on while the system is suspended.
    timer = timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
    guard timer >= 0 else {
      let error = SystemError("timerfd_create")
      _ = CDialtoneSystem.close(wakeup)
      _ = CDialtoneSystem.close(poll)
      throw error
    }
    identity = FileIdentity(wakeup)
    // Where one of these fails, `deinit` closes all three.
    try add(wakeup, bit: Self.wakeBit)
    try add(timer, bit: Self.timerBit)
  }

  /// The highest number among its descriptors.
  package var highestDescriptor: CInt { max(poll, wakeup, timer) }

  /// Which of this process's descriptors, up to this one, are epoll(7)'s, whoever made them.
  package static func pollDescriptors(upTo last: CInt) -> Set<CInt> {
    let probe = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if probe < 0 { return [] }
    defer { _ = CDialtoneSystem.close(probe) }
    var event = unsafe epoll_event()
    // Nobody watches the probe, so nothing is changed: EINVAL where it is no epoll descriptor, ENOENT where it is one
    // (epoll_ctl(2)).
    return Set(
      (0...max(0, last)).filter { unsafe epoll_ctl($0, EPOLL_CTL_DEL, probe, &event) < 0 && csystem_errno() == ENOENT }
    )
  }

  deinit { close() }

  package func abandon() { close() }

  /// Closes the descriptors, once.
  private func close() {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    for descriptor in [timer, wakeup, poll] { _ = CDialtoneSystem.close(descriptor) }
  }

  /// Takes the descriptors for closed by somebody else. Returns `false`.
  private func lose() -> Bool {
    isClosed.store(true, ordering: .relaxed)
    return false
  }

  /// Has `wait` return when the descriptor has become readable, with its bit among the ready ones.
  package func add(_ descriptor: CInt, bit: Int) throws(SystemError) {
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue | UInt32(bitPattern: Int32.min)  // EPOLLET is bit 31
    unsafe event.data.u32 = UInt32(bit)
    // The kernel copies the event during the call (epoll_ctl(2)).
    if unsafe epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 { return }
    let error = SystemError("epoll_ctl")
    // It is there already.
    if error.errno != EEXIST { throw error }
  }

  /// The descriptors that have become readable since the last call, a bit each.
  func takeReady() -> UInt64 { ready.exchange(0, ordering: .acquiringAndReleasing) }

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
      if bits != 0 { ready.bitwiseOr(bits, ordering: .releasing) }
      return true
    }
  }

  @discardableResult
  package func wake() -> Bool {
    // Eight bytes in a file that has the number now would be too many.
    guard !isClosed.load(ordering: .relaxed), FileIdentity(wakeup) == identity else { return lose() }
    // The counter cannot overflow in practice (2^64 − 2), and each write is an edge, read or not.
    return eventfd_write(wakeup, 1) == 0 || lose()
  }

  /// In nanoseconds of CLOCK_BOOTTIME.
  package func setDeadline(_ deadline: Int64?) {
    var value = itimerspec()
    if let deadline {
      // A zero would disarm (timerfd_settime(2)).
      let deadline = max(1, deadline)
      value.it_value.tv_sec = Int(deadline / 1_000_000_000)
      value.it_value.tv_nsec = Int(deadline % 1_000_000_000)
    }
    // Refused where it is no such descriptor (EBADF, EINVAL).
    if unsafe timerfd_settime(timer, CInt(TFD_TIMER_ABSTIME), &value, nil) != 0 { _ = lose() }
  }
}
#endif
