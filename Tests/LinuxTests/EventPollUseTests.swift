// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Testing

@testable import Dialtone

/// What the engine's threads sleep on, by itself. No test waits: what a poll is to return for has happened before.
struct EventPollUseTests {
  /// A descriptor that is readable if it has a value (eventfd(2)), or one of epoll(7). It is closed with this object.
  private final class Event {
    private let owner: OwnedDescriptor

    var descriptor: CInt { owner.rawValue }
    var isOurs: Bool { owner.isOurs }

    init(_ descriptor: CInt) throws {
      try #require(descriptor >= 0)
      owner = OwnedDescriptor(descriptor)
    }
  }

  private func event(_ value: UInt32 = 1) throws -> Event {
    try Event(eventfd(value, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
  }

  @Test func atFirstEverythingCountsAsReadable() throws {
    let poll = try EventPoll()
    #expect(poll.takeReady() == .max)
    #expect(poll.takeReady() == 0)
  }

  /// epoll(7): an event is told once, and both are there when the wait begins.
  @Test(arguments: [[0], [3], [61], [0, 5, 61], Array(0..<12)])
  func descriptorsThatAreReadableAreToldByTheirBits(bits: [Int]) throws {
    let poll = try EventPoll()
    _ = poll.takeReady()
    let descriptors = try bits.map { bit in
      let owner = try event()
      try poll.add(owner.descriptor, bit: bit)
      return owner
    }
    var ready: UInt64 = 0
    // Some eight are told at a time.
    for _ in 0..<(bits.count + 7) / 8 {
      let isOpen = poll.wait()
      #expect(isOpen)
      ready |= poll.takeReady()
    }
    #expect(ready == bits.reduce(0) { $0 | 1 << UInt64($1) })
    // Nothing more is told, except that somebody wakes it.
    #expect(poll.wake() && poll.wait() && poll.takeReady() == 0)
    #expect(descriptors.allSatisfy { $0.isOurs })
  }

  @Test func whatIsNotReadableIsNotTold() throws {
    let poll = try EventPoll()
    _ = poll.takeReady()
    let (quiet, readable) = (try event(0), try event())
    try poll.add(quiet.descriptor, bit: 1)
    try poll.add(readable.descriptor, bit: 2)
    #expect(poll.wait() && poll.takeReady() == 1 << 2)
    #expect(quiet.isOurs && readable.isOurs)
  }

  @Test func aDescriptorMayBeAddedAgainAndOneThatIsClosedMayNot() throws {
    let poll = try EventPoll()
    let descriptor = try event()
    try poll.add(descriptor.descriptor, bit: 1)
    try poll.add(descriptor.descriptor, bit: 1)
    // epoll_ctl(2), EBADF.
    let error = #expect(throws: SystemError.self) { try poll.add(-1, bit: 2) }
    #expect(error?.errno == EBADF)
    #expect(poll.wake(), "the poll goes on")
    #expect(descriptor.isOurs)
  }

  @Test(
    "a deadline that has passed ends the wait, and is no descriptor's", arguments: [Int64.min, -1, 0, 1, 1_000_000_001])
  func aDeadlineThatHasPassedEndsTheWait(deadline: Int64) throws {
    let poll = try EventPoll()
    _ = poll.takeReady()
    poll.setDeadline(deadline)
    #expect(poll.wait() && poll.takeReady() == 0)
  }

  /// How many of the process's timers end in that many seconds, as the kernel says (timerfd_gettime(2)).
  private func timers(endingIn seconds: ClosedRange<Int>) -> Int {
    // Other tests may have thousands of descriptors open.
    (0..<65_536).count { descriptor in
      var value = itimerspec()
      // The kernel fills in the structure during the call, and refuses what is no timer.
      return unsafe timerfd_gettime(CInt(descriptor), &value) == 0 && seconds.contains(value.it_value.tv_sec)
    }
  }

  @Test(
    "a deadline is a time of the clock that goes on during suspensions",
    arguments: [(1_000_000, 0), (3_000_000, 1)] as [(Int, Int)])
  func aDeadlineIsKept(distance: Int, second: Int) throws {
    let poll = try EventPoll()
    // No other test has a deadline that many days away.
    let expected = distance - 10_000...distance + 3
    #expect(timers(endingIn: expected) == 0)
    // Far away, at an even and at an odd second.
    let now = Int(TimeSource.system.now() / 2_000_000_000 * 2)
    poll.setDeadline(Int64(now + distance + second) * 1_000_000_000 + 7)
    #expect(timers(endingIn: expected) == 1)
    poll.setDeadline(nil)
    #expect(timers(endingIn: expected) == 0)
    #expect(poll.wake())
  }

  @Test func aPollThatIsGivenUpTellsNothing() throws {
    let poll = try EventPoll()
    let descriptor = try event()
    poll.abandon()
    poll.abandon()
    #expect(!poll.wait() && !poll.wake())
    let error = #expect(throws: SystemError.self) { try poll.add(descriptor.descriptor, bit: 1) }
    #expect(error?.errno == EBADF)
    poll.setDeadline(1)
    #expect(!poll.wait())
    #expect(descriptor.isOurs)
  }

  /// epoll_ctl(2): ENOENT shows an epoll descriptor, EINVAL another one.
  @Test func descriptorsOfEpollAreToldFromOthers() throws {
    let (poll, other) = (try EventPoll(), try event())
    let plain = try Event(epoll_create1(CInt(EPOLL_CLOEXEC)))
    let last = max(poll.highestDescriptor, plain.descriptor, other.descriptor)
    let found = EventPoll.pollDescriptors(upTo: last)
    #expect(found.contains(plain.descriptor) && !found.contains(other.descriptor))
    let below = EventPoll.pollDescriptors(upTo: plain.descriptor - 1)
    #expect(!below.contains(plain.descriptor))
    #expect(EventPoll.pollDescriptors(upTo: -1).isSubset(of: [0]))
    #expect(poll.wake() && plain.isOurs && other.isOurs)
  }
}
#endif
