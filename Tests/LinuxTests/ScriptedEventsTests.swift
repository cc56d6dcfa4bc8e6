// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// Announcements that come malformed, cut, from others, or faster than they are read.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ScriptedEventsTests {
  /// The datagram of a word: that many messages, then X for less than a message, or L for more than there is room for.
  private static func bytes(_ word: Substring) -> [UInt8] {
    let messages = (0..<(word.first?.wholeNumberValue ?? 0)).flatMap { _ in BuiltMessages.linkBytes(.init()) }
    return messages
      + (word.hasSuffix("X") ? [1, 2, 3] : word.hasSuffix("L") ? [UInt8](repeating: 0, count: 32_768) : [])
  }

  @Test(
    arguments: [
      ("", "empty", 0), ("1", "empty", 1), ("3", "empty", 3), ("1 2", "empty", 3), ("1 1 1", "empty", 3),
      ("1 2 1 1", "empty", 5), ("X", "incomplete", 0), ("1X", "incomplete", 1), ("X 1", "incomplete", 1),
      ("1 X", "incomplete", 1), ("1L", "incomplete", 0), ("1L 2", "incomplete", 2), ("2 1L", "incomplete", 2),
      ("X 1 1 1", "incomplete", 3), ("1 1 1X", "incomplete", 3),
    ])
  func whatCannotBeReadCountsAsLost(waiting: String, end: String, messages: Int) throws {
    // netlink(7): the kernel's datagrams have the port 0. What others say is neither read nor missed.
    for port in [0, 7] as [UInt32] {
      let events = try KernelEvents()
      let socket = try ScriptedSocket(inPlaceOf: events.descriptor, port: port)
      let words = waiting.split(separator: " ")
      for word in words { socket.say(Self.bytes(word)) }
      var count = 0
      let ends = (1...2).map { _ in events.read { _, _ in count += 1 } }.map { "\($0)" }
      #expect(ends == [port == 0 ? end : "empty", "empty"] && !events.wasIncomplete)
      #expect(count == (port == 0 ? messages : 0) && events.foreignCount == (port == 0 ? 0 : words.count))
      withExtendedLifetime(socket) {}
    }
  }

  @Test(
    "what comes faster than it is read, 2,048 pairs at a time, is read bit by bit, and a loss is told at the end",
    arguments: [nil, 1, 100, 4_096, 5_000] as [Int?])
  func whatComesFasterThanItIsReadIsReadBitByBit(lost: Int?) throws {
    let events = try KernelEvents()
    let socket = try ScriptedSocket(inPlaceOf: events.descriptor)
    var (said, count) = (0, 0)
    let (whole, cut) = (Self.bytes("1"), Self.bytes("1X"))
    // Two wait at a time, until 9,000 have come.
    func say() {
      for _ in 0..<2 where said < 9_000 {
        said += 1
        socket.say(said == lost ? cut : whole)
      }
    }
    say()
    let found = (0..<4).map { _ in
      let end = events.read { _, _ in
        count += 1
        if count % 2 == 0 { say() }
      }
      return "\(end) \(count) \(events.wasIncomplete)"
    }
    #expect(
      found == [
        "moreWaits 4096 \(lost.map { $0 <= 4_096 } ?? false)", "moreWaits 8192 \(lost != nil)",
        "\(lost == nil ? "empty" : "incomplete") 9000 false", "empty 9000 false",
      ])
  }

  /// A process that may not listen to neighbours is told so each time, and may go on without. A local socket has no
  /// groups.
  @Test func whoMayNotListenIsTold() throws {
    let events = try KernelEvents()
    let socket = try ScriptedSocket(inPlaceOf: events.descriptor)
    let gateway = KernelFilter.Gateway(
      address: IPAddressBits(ipv6High: 0xFE80 << 48, low: 1), interface: 2, isFailed: false)
    #expect(!events.announceNeighbours([gateway]) && !events.announceNeighbours([gateway]))
    #expect(events.announceNeighbours([]))
    withExtendedLifetime(socket) {}
  }

  // MARK: The engine's source

  /// The types are those of linux/rtnetlink.h; the messages have no more than a header. Of a route that is enough.
  @Test(
    "an announcement that cannot be read has the tables read anew: soon, or at once",
    arguments: [
      (28, true, false), (20, true, false), (16, true, false), (0, true, false), (24, false, true), (32, false, true),
      (80, false, true), (104, false, true), (3, false, false), (99, false, false),
    ] as [(UInt16, Bool, Bool)])
  func anUnreadableAnnouncementIsALoss(type: UInt16, isLost: Bool, touchesEverything: Bool) throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    let clock = Box<Int64>(1_000_000_000_000)
    for elapsed in [50_000_000, 200_000_000] as [Int64] {
      try lab.run {
        let network = LinuxNetwork(try EventPoll(), time: TimeSource(passes: false) { clock.value }, suspended: { 0 })
        let socket = try ScriptedSocket(inPlaceOf: try #require(network.descriptors.first))
        socket.say(type == 0 ? [1, 2, 3] : BuiltMessages.bytes(NetlinkMessageType(rawValue: type)) { _ in })
        let start = clock.value
        clock.value += elapsed
        var change = NetworkChange()
        network.drain(into: &change)
        // They were read a moment ago; a tenth of a second has to pass.
        let isSoon = isLost && elapsed < 100_000_000
        #expect(change.isInDoubt == isSoon && network.nextPoll == (isSoon ? start + 100_000_000 : nil))
        #expect(change.touchesEverything == (touchesEverything || isLost && !isSoon))
        #expect(network.schedule.rereadCount == (isLost && !isSoon ? 1 : 0))
        #expect(network.messageCount == (type == 0 ? 0 : 1))
        withExtendedLifetime(socket) {}
      }
    }
  }

  @Test("a socket of announcements that somebody has closed is replaced by the next poll, with its filter")
  func aClosedSocketIsReplaced() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    let clock = Box<Int64>(1_000_000_000_000)
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), time: TimeSource(passes: false) { clock.value }, suspended: { 0 })
      network.watch(NetworkInterest(destinations: [try address("198.18.2.1")], includesNames: false))
      let queries = try #require(network.queries)
      #expect(!network.tables.rules(queries).namesSource && network.nextPoll == nil)
      let (number, file) = (try #require(network.descriptors.first), eventfd(7, CInt(EFD_NONBLOCK)))
      try #require(file >= 0 && dup2(file, number) == number)
      // Nobody announces it.
      try lab.addRule(priority: 60, .lookup(201), from: "10.0.0.0/8")
      clock.value += 200_000_000
      var change = NetworkChange()
      network.drain(into: &change)
      #expect(change.touchesEverything && network.nextPoll == clock.value + 5_000_000_000)
      network.poll(into: &change)
      #expect(network.nextPoll == nil && network.tables.rules(queries).namesSource)
      func prefixes(afterRouteTo destination: String) throws -> Int {
        try lab.addRoute(destination, dev: "lo")
        var change = NetworkChange()
        network.drain(into: &change)
        return change.prefixes.count
      }
      #expect(try prefixes(afterRouteTo: "198.18.3.0/24") == 0)
      #expect(try prefixes(afterRouteTo: "198.18.2.0/24") == 1)
      _ = (close(file), close(number))
    }
  }

  /// No look at the gateway is due while nothing can be seen: it would be due at once, and hide the poll.
  @Test("so is one that is lost while the gateway of an IPv6 route is watched")
  func aClosedSocketIsReplacedBesideAGateway() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try lab.addRoute("2001:db8:b::/64", via: "2001:db8:a::2", dev: "v0")
    let clock = Box<Int64>(1_000_000_000_000)
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), time: TimeSource(passes: false) { clock.value }, suspended: { 0 })
      let target = try address("2001:db8:b::1")
      network.watch(NetworkInterest(destinations: [target], includesNames: false))
      network.answer([RouteQuery(.address(target))]) { _, state in #expect(state.isReachable) }
      let (number, file) = (try #require(network.descriptors.first), eventfd(7, CInt(EFD_NONBLOCK)))
      try #require(file >= 0 && dup2(file, number) == number)
      clock.value += 200_000_000
      var change = NetworkChange()
      network.drain(into: &change)
      let poll = clock.value + 5_000_000_000
      // What is due before it is done once.
      for _ in 0..<4 {
        guard let next = network.nextPoll, next < poll else { break }
        clock.value = max(next, clock.value)
        network.poll(into: &change)
      }
      #expect(network.nextPoll == poll)
      clock.value = poll
      network.poll(into: &change)
      // It is announced again.
      try lab.deleteRoute("2001:db8:b::/64", dev: "v0")
      change = NetworkChange()
      network.drain(into: &change)
      #expect(change.touchesIPv6Routes)
      _ = (close(file), close(number))
    }
  }
}
#endif
