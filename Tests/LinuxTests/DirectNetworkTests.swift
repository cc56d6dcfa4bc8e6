// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import MessageBuilding
import NetworkLab
import TestSupport
import Testing

/// The source by itself, without an engine: what it takes in, asks, and has polled.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct DirectNetworkTests {
  private static let interval: Int64 = 5_000_000_000

  private func drained(_ network: LinuxNetwork) -> NetworkChange {
    var change = NetworkChange()
    network.drain(into: &change)
    return change
  }

  // MARK: Polls

  @Test func nothingIsPolledWhereEverythingIsAnnounced() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), suspended: { 0 })
      #expect(network.nextPoll == nil && !network.isDenied)
      #expect(network.queryCount == 0 && network.decision.searches.count == 0 && network.foreignCount == 0)
      network.watch(NetworkInterest(destinations: [], includesNames: false))
      #expect(network.nextPoll == nil)
      network.pollAgain()
      #expect(network.nextPoll != nil)
    }
  }

  /// Without descriptors that are awaited, every five seconds.
  @Test func whatIsNotAwaitedIsPolled() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    let clock = Box<Int64>(1_000)
    try lab.run {
      let network = LinuxNetwork(time: TimeSource(passes: false) { clock.value }, suspended: { 0 })
      #expect(network.nextPoll == 1_000 + Self.interval)
      for now in [2_000, 7_000_000_000] as [Int64] {
        clock.value = now
        var change = NetworkChange()
        network.poll(into: &change)
        #expect(change.touchesEverything && !change.isInDoubt && !change.touchesNames)
        #expect(network.nextPoll == now + Self.interval)
      }
      #expect(network.schedule.rereadCount == 0)
      // A poll finds what nobody has read.
      try lab.addAddress("10.9.9.9/32", "lo")
      var change = NetworkChange()
      network.poll(into: &change)
      #expect(network.tables.addresses.isOurs(try address("10.9.9.9"), on: nil))
    }
  }

  /// The time that the system was suspended is looked at if its descriptor is ready, or there is none.
  @Test func aSuspensionIsNoticedIfItIsAnnounced() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    let suspended = Box<Int64>(0)
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), suspended: { suspended.value })
      // At first every descriptor is taken to be ready.
      #expect(!drained(network).touchesNames)
      suspended.value = 3_600_000_000_000
      #expect(!drained(network).touchesNames)
      var change = NetworkChange()
      network.catchUp(into: &change)
      #expect(!change.touchesNames && !change.touchesEverything)
      let polled = LinuxNetwork(suspended: { suspended.value })
      suspended.value *= 2
      var pollChange = NetworkChange()
      polled.poll(into: &pollChange)
      #expect(pollChange.touchesNames && pollChange.touchesEverything)
    }
  }

  // MARK: Announcements

  @Test func eachAnnouncementIsTakenInOnce() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.run {
      let network = LinuxNetwork(suspended: { 0 })
      let events = try KernelEvents()
      _ = drained(network)
      let before = network.messageCount
      #expect(drained(network).isEmpty)
      for number in 1...3 { try lab.addAddress("10.0.0.\(number)/32", "lo") }
      var count = 0
      _ = events.read { _, _ in count += 1 }
      let change = drained(network)
      #expect(change.touchesEverything && !change.isInDoubt && !change.isUnfinished)
      #expect(count >= 3 && network.messageCount - before == count)
      for number in 1...3 { #expect(network.tables.addresses.isOurs(try address("10.0.0.\(number)"), on: nil)) }
      #expect(drained(network).isEmpty)
      #expect(network.schedule.rereadCount == 0)
    }
  }

  @Test func onlyRoutesToWhatIsAskedAboutAreAnnounced() throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.run {
      let network = LinuxNetwork(suspended: { 0 })
      func prefixes(afterRouteTo destination: String) throws -> Int {
        _ = drained(network)
        try lab.addRoute(destination, dev: "lo")
        return drained(network).prefixes.count
      }
      #expect(try prefixes(afterRouteTo: "198.18.1.0/24") == 1)
      network.watch(NetworkInterest(destinations: [try address("198.18.2.1")], includesNames: false))
      #expect(try prefixes(afterRouteTo: "198.18.3.0/24") == 0)
      #expect(try prefixes(afterRouteTo: "198.18.2.0/24") == 1)
      network.watch(NetworkInterest(destinations: nil, includesNames: false))
      #expect(try prefixes(afterRouteTo: "198.18.3.0/25") == 1)
    }
  }

  /// The announcement of a route, as the kernel writes it.
  private static func announcement(of prefix: IPPrefix) -> [UInt8] {
    BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(
        family: prefix.address.family, destinationLength: UInt8(prefix.length), sourceLength: 0, table: 254,
        type: .unicast, flags: [])
      builder.append(RouteMessage.Attribute.destination, address: prefix.address)
    }
  }

  /// Linux lets lookups find an IPv6 route only after it has announced it. Here the time between is long.
  @Test func anIPv6RouteThatIsNotFoundWhenItIsAnnouncedIsFoundLater() async throws {
    let lab = try await makeLab()
    let clock = SteppedClock(isStill: true)
    let target = try address("2001:db8:ffff::1")
    let prefix = IPPrefix(try address("2001:db8:ffff::").bits, length: 48)
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), time: clock.source, suspended: { 0 })
      let socket = try ScriptedSocket(inPlaceOf: try #require(network.descriptors.first))
      func status() -> Reachability.Status? {
        var status: Reachability.Status?
        network.answer([RouteQuery(.address(target))]) { status = $1.status }
        return status
      }
      #expect(status() == .unreachable && network.nextPoll == nil)
      socket.say(Self.announcement(of: prefix))
      #expect(Array(drained(network).prefixes) == [prefix])
      #expect(status() == .unreachable)
      try lab.addRoute("2001:db8:ffff::/48", via: "2001:db8::2", dev: "v0")
      #expect(network.nextPoll == clock.now + 100_000_000 && drained(network).isEmpty)
      clock.advance(by: .milliseconds(100))
      var change = NetworkChange()
      network.poll(into: &change)
      network.drain(into: &change)
      #expect(Array(change.prefixes) == [prefix] && !change.touchesEverything && network.nextPoll == nil)
      #expect(status() == .reachable)
      withExtendedLifetime(socket) {}
    }
  }

  /// For IPv4 the query waits for the kernel's lock. Of hundreds of IPv6 routes not each is kept.
  @Test(arguments: [(false, 2, 0), (true, 2, 2), (true, 400, 1)])
  func onlyIPv6RoutesAreAskedAboutOnceMore(isIPv6: Bool, announced: Int, again: Int) throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    let clock = SteppedClock(isStill: true)
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), time: clock.source, suspended: { 0 })
      let socket = try ScriptedSocket(inPlaceOf: try #require(network.descriptors.first))
      for number in 0..<announced {
        let bits =
          isIPv6
          ? IPAddressBits(ipv6High: 0x2001_0DB8 << 32 | UInt64(number) << 16, low: 0)
          : IPAddressBits(ipv4: 0xC612_0000 | UInt32(number) << 8)
        socket.say(Self.announcement(of: .init(bits, length: isIPv6 ? 48 : 24)))
      }
      _ = drained(network)
      clock.advance(by: .milliseconds(100))
      var change = NetworkChange()
      if network.nextPoll == clock.now { network.poll(into: &change) }
      #expect(change.prefixes.count == again && !change.touchesEverything && network.nextPoll == nil)
      withExtendedLifetime(socket) {}
    }
  }

  // MARK: Questions

  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.makeW(metric: 600)
    try await lab.waitForCarriers()
    return lab
  }

  /// A query without a source is looked for among those for the same address that stand together.
  @Test func queriesThatStandTogetherShareAnAnswer() async throws {
    let lab = try await makeLab()
    let (far, other) = (try address("198.51.100.7"), try address("198.51.100.8"))
    let remote = RouteQuery(.address(far))
    let chosen = RouteQuery(.address(far), source: try address("10.0.0.1"))
    let another = RouteQuery(.address(far), source: try address("10.1.0.1"))
    let elsewhere = RouteQuery(.address(other))
    for (queries, count) in [
      ([chosen, remote], 1), ([remote, chosen], 1), ([another, chosen, remote], 2), ([remote, another, chosen], 2),
      ([chosen, another, remote], 2), ([chosen, elsewhere, remote], 3), ([remote, elsewhere, chosen], 3),
      ([elsewhere, chosen, remote], 2), ([remote, chosen, elsewhere], 2), ([chosen], 1), ([chosen, elsewhere], 2),
      ([], 0),
    ] as [([RouteQuery], Int)] {
      try lab.run {
        let network = LinuxNetwork(suspended: { 0 })
        // The memory of a batch is used again.
        for round in 1...2 {
          var answered: [Int] = []
          network.answer(queries) { position, state in
            answered.append(position)
            #expect(state.isReachable && state.destination == queries[position].address)
            if let source = queries[position].source { #expect(state.source == source) }
          }
          #expect(answered.sorted() == Array(queries.indices))
          #expect(network.queryCount == round * count, "\(queries)")
        }
      }
    }
  }

  @Test func aPathAsksForEachLinkAndEachNameServer() async throws {
    let lab = try await makeLab()
    let server = try address("10.0.0.53")
    try lab.run {
      let network = LinuxNetwork(readNameServers: { [server] }, suspended: { 0 })
      for _ in 1...2 {
        let answer = network.path(PathConfiguration())
        // IPv4 and IPv6 over any link, over v0 and over w0, and the name server.
        #expect(answer.queryCount == 7 && answer.nameServers == [server] && !answer.isPending)
        #expect(answer.path.status == .satisfied && answer.path.supportsDNS && !answer.path.supportsIPv6)
        #expect(answer.path.interfaces.map(\.name) == ["v0", "w0"])
        #expect(answer.path.gateways.map(\.description) == ["10.0.0.2", "10.1.0.2"])
      }
      #expect(network.queryCount == 14)
      var cellular = PathConfiguration()
      cellular.requiredKinds = [.cellular]
      let none = network.path(cellular)
      #expect(none.queryCount == 3 && none.path.status == .unsatisfied && none.path.reason == .noInterface)
    }
  }

  @Test func interfacesAreListedWithTheirReasons() async throws {
    let lab = try await makeLab()
    try lab.down("v1")
    try lab.down("w0")
    for name in ["v0", "w1"] { try await lab.waitUntilOperating(name, false) }
    try lab.run {
      let found = LinuxNetwork(suspended: { 0 }).interfaces().filter { $0.interface.kind == .wired }
      #expect(found.map(\.interface.index) == found.map(\.interface.index).sorted())
      let rows = found.map { "\($0.interface.name) \($0.isUp) \($0.reason?.identifier ?? "works")" }
      #expect(
        rows.sorted() == ["v0 true no-carrier", "v1 false link-down", "w0 false link-down", "w1 true no-carrier"])
      #expect(found.allSatisfy { $0.isOperating == ($0.reason == nil) })
      let addresses = found.first { $0.interface.name == "v0" }?.addresses ?? []
      #expect(addresses.map { "\($0.address)/\($0.prefixLength)" } == ["10.0.0.1/24"])
    }
  }
}
#endif
