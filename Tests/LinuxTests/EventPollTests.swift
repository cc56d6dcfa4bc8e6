// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import TestSupport
import Testing

@testable import Dialtone

/// A poll whose descriptors somebody else has closed, as daemons do when they begin. In a process of its own, since
/// other tests open descriptors meanwhile.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct EventPollTests {
  @Test func aPollWhoseNumbersAreOtherFilesTouchesNoneOfThem() async {
    await #expect(processExitsWith: .success) {
      let poll = try EventPoll()
      // No others are closed: the runtime may have some, and opens some meanwhile.
      let ours = Set((0..<1024).filter { FileIdentity($0) == poll.identity })
      #expect(poll.identity != nil && ours.count == 3)
      for descriptor in ours { _ = CDialtoneSystem.close(descriptor) }
      // Other files get the numbers: an epoll among them, which would take what is added.
      var foreign: Set<CInt> = []
      while !ours.isSubset(of: foreign) { foreign.insert(epoll_create1(0)) }
      let readable = eventfd(1, 0)
      #expect(throws: SystemError.self) { try poll.add(readable, bit: 1) }
      poll.setDeadline(1)
      #expect(!poll.wake())
      #expect(!poll.wait())
      for descriptor in foreign {
        var event = unsafe epoll_event()
        #expect(unsafe epoll_wait(descriptor, &event, 1, 0) == 0, "nothing is registered there")
        // Nor closed.
        #expect(FileIdentity(descriptor) != nil)
      }
    }
  }
}
#endif
