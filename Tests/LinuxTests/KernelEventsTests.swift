// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import Testing

/// The socket on which the kernel announces changes, by itself.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct KernelEventsTests {
  @Test("announcements that wait together are all read, and none counts as lost")
  func whatWaitsTogetherIsNotLost() throws {
    let lab = try NetworkLab()
    try lab.run {
      let events = try KernelEvents()
      for count in 1...4 {
        for number in 0..<count { try lab.addAddress("10.\(count).0.\(number + 1)/32", "lo") }
        var addresses = 0
        guard case .empty = events.read({ message, _ in if message.type == .newAddress { addresses += 1 } }) else {
          Issue.record("of \(count), some are lost")
          return
        }
        #expect(addresses == count)
      }
    }
  }

  @Test("the kernel announces routes to the destinations that are asked for, and all once none is")
  func onlyRoutesToDestinationsAreAnnounced() throws {
    let lab = try NetworkLab()
    try lab.run {
      let events = try KernelEvents()
      func announced(by destination: String) throws -> Int {
        try lab.addRoute(destination, dev: "lo")
        var count = 0
        _ = events.read { message, _ in if message.type == .newRoute { count += 1 } }
        return count
      }
      #expect(try announced(by: "198.18.1.0/24") == 1)
      events.announceRoutes(to: [IPAddressBits(ipv4: 0xC612_0201)])  // 198.18.2.1
      #expect(try announced(by: "198.18.3.0/24") == 0)
      #expect(try announced(by: "198.18.2.0/24") == 1)
      events.announceRoutes(to: [IPAddressBits(ipv4: 0xC612_0401)])
      #expect(try announced(by: "198.18.2.0/25") == 0)
      #expect(try announced(by: "198.18.4.0/24") == 1)
      events.announceRoutes(to: nil)
      #expect(try announced(by: "198.18.2.0/26") == 1)
    }
  }
}
#endif
