// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// Waits for letters, announcements, a closed pipe, or a time: epoll(7).
final class EventWait: Sendable {
  struct Outcome {
    var hasLetters = false
    /// Nobody reads the output any more.
    var isOutputClosed = false
    /// A further descriptor is readable.
    var isAnnounced = false
  }

  private let poll: OwnedDescriptor
  private static let letters: UInt64 = 0
  private static let output: UInt64 = 1
  private static let announcements: UInt64 = 2

  /// `output` is the stream whose reader is watched; `nil` if its end is no reason to stop. `descriptors` belong to the
  /// caller, who keeps them open and reads from them.
  init(
    mailbox: Mailbox<some Sendable>, output: StandardStream?, announcements descriptors: [CInt] = []
  ) throws(SystemError) {
    let descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
    if descriptor < 0 { throw SystemError("epoll_create1") }
    poll = OwnedDescriptor(descriptor)
    // An epoll_event is a number and a union, of which only the integer is used. The kernel copies what it is given.
    var event = unsafe epoll_event()
    unsafe event.events = UInt32(CSYSTEM_EPOLLIN)
    unsafe event.data.u64 = Self.letters
    if unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, mailbox.descriptor, &event) != 0 { throw SystemError("epoll_ctl") }
    unsafe event.data.u64 = Self.announcements
    for announcing in descriptors where unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, announcing, &event) != 0 {
      throw SystemError("epoll_ctl")
    }
    guard let output else { return }
    // Errors and hang-ups are always reported. A regular file is refused (EPERM), and never closed either.
    unsafe event.events = 0
    unsafe event.data.u64 = Self.output
    _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, output.descriptor, &event)
  }

  /// Waits, for `limit` at most.
  func wait(atMost limit: Duration?) -> Outcome {
    // The kernel fills at most four events, and the array has four.
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 4)
    let count = unsafe epoll_wait(poll.rawValue, &events, 4, Self.milliseconds(limit))
    var outcome = Outcome()
    let ready = unsafe events.prefix(max(0, Int(count))).map { unsafe $0.data.u64 }
    outcome.hasLetters = ready.contains(Self.letters)
    outcome.isAnnounced = ready.contains(Self.announcements)
    outcome.isOutputClosed = ready.contains(Self.output)
    return outcome
  }

  /// Rounded up, so that a wait does not turn into a busy loop at its end; -1 is for ever.
  private static func milliseconds(_ limit: Duration?) -> CInt {
    guard let limit else { return -1 }
    if limit <= .zero { return 0 }
    return CInt(clamping: limit.nanosecondsClamped / 1_000_000 + 1)
  }
}
