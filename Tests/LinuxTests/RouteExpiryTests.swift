// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import MessageBuilding
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// IPv6 routes that end: the kernel refuses packets at once, and announces the end up to 30 s later.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .enabled(if: NetworkLab.hasIPRoute2, "needs ip of iproute2"), .timeLimit(.minutes(5)))
struct RouteExpiryTests {
  /// Long before the kernel announces it.
  private static let soon = Duration.seconds(15)

  private func ip(_ arguments: String, _ lab: NetworkLab) throws {
    let result = try lab.ip(arguments)
    try #require(result.status == 0, "ip \(arguments): \(result.error)")
  }

  /// v0 with an IPv6 address and a default route that ends after this many seconds.
  private func makeLab(_ seconds: Int) throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try ip("-6 route add default via 2001:db8:a::2 dev v0 expires \(seconds)", lab)
    return lab
  }

  @Test("a default route that ends: unreachable when connect(2) says so, not when it is announced")
  func aDefaultThatEndsIsUnreachableAtOnce() async throws {
    let lab = try makeLab(3)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.family = .ipv6 }
    let v0 = try lab.reachable("v0", via: "2001:db8:a::2")
    let none = try lab.unreachable(.noRoute)
    try await eventually(within: Self.soon, "unreachable") { internet.last ≈ none }
    // It does not end earlier either, and the kernel still lists the route.
    let found = try lab.connect(LabConnection(to: "2001:503:ba3e::2:30"))
    #expect(found.error == ENETUNREACH, "\(found)")
    #expect(try lab.ip("-6 route show default").output.contains("expires"))
    #expect(internet.states ≈ [v0, none])
  }

  @Test("a path monitor sees a default route end, too")
  func aPathMonitorSeesADefaultEnd() async throws {
    let lab = try makeLab(3)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try await eventually(within: Self.soon, "unsatisfied") { path.last?.status == .unsatisfied }
    #expect(path.outlines == ["satisfied 6: v0 6", "no-route: v0"])
  }

  @Test("a route whose life is prolonged, as each router advertisement does, stays; each end is looked at once")
  func aProlongedRouteStays() async throws {
    let lab = try makeLab(3)
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record { $0.family = .ipv6 }
    try ip("-6 route change default via 2001:db8:a::2 dev v0 expires 600", lab)
    try await monitors.settle()
    let before = probe.counts.polls
    // The time of the first end comes, but the route has been prolonged.
    let start = TimeSource.system.now()
    try await eventually(within: Self.soon, "the first end has passed") {
      TimeSource.system.now() > start + 4_000_000_000
    }
    try await monitors.settle()
    // One more for the route's announcement.
    #expect(probe.counts.polls - before <= 2)
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8:a::2"))
  }

  /// The kernel then changes the end of the route, and announces only the prefix that was advertised with it.
  @Test("a router advertises an earlier end of its default route, and the route again", arguments: [true, false])
  func anAdvertisementMovesTheEnd(isPrefixAdvertisedAgain: Bool) async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try await lab.waitForCarriers()
    func advertise(_ seconds: UInt16, withPrefix: Bool = true) throws {
      let packet = Self.advertisement(seconds, withPrefix: withPrefix)
      try lab.sendFrame(etherType: 0x86DD, packet, by: "v1", to: [0x33, 0x33, 0, 0, 0, 1])
    }
    // The link may not take advertisements as soon as it has its carrier.
    try await eventually("the route is there") {
      try advertise(1_800)
      return try lab.ip("-6 route show default").output.contains("fe80::2")
    }
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.family = .ipv6 }
    #expect(internet.last?.isVia("v0") ?? false)
    try advertise(2)
    try await eventually(within: Self.soon, "unreachable") { internet.last?.isUnreachable(.noRoute) ?? false }
    #expect(try lab.connect(LabConnection(to: "2001:503:ba3e::2:30")).error == ENETUNREACH)
    // The kernel mostly still has the route then, and uses it again without a word.
    try advertise(1_800, withPrefix: isPrefixAdvertisedAgain)
    try await eventually(within: Self.soon, "reachable again") { internet.last?.isVia("v0") ?? false }
    #expect(try lab.connect(LabConnection(to: "2001:503:ba3e::2:30")).isSent)
  }

  /// A router advertisement of fe80::2 to all nodes (RFC 4861, 4.2), perhaps with a prefix that is on the link and not
  /// for addresses (4.6.2), as it is where DHCPv6 gives them.
  private static func advertisement(_ seconds: UInt16, withPrefix: Bool) -> [UInt8] {
    let source: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [2]
    let destination: [UInt8] = [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [1]
    let lifetime = [UInt8(seconds >> 8), UInt8(seconds & 0xFF)]
    let prefix: [UInt8] =
      [3, 4, 64, 0x80] + [0, 0, 14, 16, 0, 0, 14, 16, 0, 0, 0, 0] + [0x20, 1, 0xD, 0xB8, 0, 0xB]
      + [UInt8](repeating: 0, count: 10)
    var message: [UInt8] = [134, 0, 0, 0, 64, 0] + lifetime + [UInt8](repeating: 0, count: 8)
    if withPrefix { message += prefix }
    // RFC 8200, 8.1: the sum covers addresses, length and protocol, too.
    let summed = source + destination + [0, 0, 0, UInt8(message.count), 0, 0, 0, 58] + message
    var sum = stride(from: 0, to: summed.count, by: 2).reduce(0) { $0 + Int(summed[$1]) << 8 + Int(summed[$1 + 1]) }
    while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
    (message[2], message[3]) = (UInt8(~sum >> 8 & 0xFF), UInt8(~sum & 0xFF))
    return [0x60, 0, 0, 0, 0, UInt8(message.count), 58, 255] + source + destination + message
  }

  @Test("nothing is polled if no route ends")
  func nothingIsPolledIfNoRouteEnds() async throws {
    let lab = try makeLab(600)
    try ip("-6 route replace default via 2001:db8:a::2 dev v0", lab)
    try lab.run {
      let network = LinuxNetwork(try EventPoll())
      let query = RouteQuery(.address(try address("2001:503:ba3e::2:30")))
      network.answer([query]) { _, state in #expect(state.isReachable) }
      // From now on the gateway is watched, so it is asked about once more.
      var change = NetworkChange()
      network.poll(into: &change)
      network.answer([query]) { _, state in #expect(state.isReachable) }
      #expect(network.nextPoll == nil)
    }
    try ip("-6 route change default via 2001:db8:a::2 dev v0 expires 600", lab)
    try lab.run {
      let network = LinuxNetwork(try EventPoll())
      let now = TimeSource.system.now()
      let query = RouteQuery(.address(try address("2001:503:ba3e::2:30")))
      network.answer([query]) { _, _ in }
      var change = NetworkChange()
      network.poll(into: &change)
      network.answer([query]) { _, _ in }
      let seconds = Double(try #require(network.nextPoll) - now) / 1e9
      #expect(seconds > 300 && seconds < 601, "\(seconds)")
    }
  }

  /// The kernel's reply for a route that ends this many hundredths of a second later.
  private func route(_ expiry: Int32, via gateway: UInt64 = 2) throws -> RouteMessage {
    var builder = NetlinkRequestBuilder()
    builder.begin(.newRoute, [])
    builder.appendRouteHeader(family: .ipv6, destinationLength: 32, table: 254, type: .unicast)
    builder.append(
      RouteMessage.Attribute.destination, address: IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: 0))
    builder.append(RouteMessage.Attribute.gateway, address: IPAddressBits(ipv6High: 0xfe80 << 48, low: gateway))
    // struct rta_cacheinfo, linux/rtnetlink.h
    let fields = [0, 0, expiry, 0, 0, 0, 0, 0].flatMap { field in
      (0..<4).map { UInt8(truncatingIfNeeded: field >> ($0 * 8)) }
    }
    builder.append(RouteMessage.Attribute.cacheInfo, bytes: fields)
    builder.end()
    let span = unsafe builder.bytes.span.bytes  // Bytes have no padding between them.
    var cursor = NetlinkMessageCursor(count: builder.bytes.count)
    return try #require(try cursor.next(in: span).flatMap { RouteMessage($0, in: span) })
  }

  @Test("an end is due after the kernel's tick that follows it, each once; a new end takes the place of the old one")
  func anEndIsDueOnceAfterTheKernelsTick() throws {
    var expiries = RouteExpiries()
    let second: Int64 = 1_000_000_000
    expiries.note(try route(0), now: 0)
    expiries.note(try route(-5), now: 0)
    #expect(expiries.next == nil)
    var shortest = RouteExpiries()
    shortest.note(try route(1), now: 0)
    #expect(shortest.next != nil)
    expiries.note(try route(300), now: second)
    let first = try #require(expiries.next)
    #expect(first > 4 * second + 10_000_000 && first < 4 * second + 50_000_000)
    // With less than a unit left, the known end stays.
    expiries.note(try route(0), now: 4 * second)
    #expect(expiries.next == first)
    expiries.note(try route(900, via: 3), now: second)
    expiries.note(try route(600), now: second)
    #expect(try #require(expiries.next) > 7 * second)
    #expect(expiries.pass(now: 7 * second).isEmpty)
    let ended = expiries.pass(now: 8 * second)
    #expect(ended.map(\.length) == [32])
    #expect(expiries.pass(now: 20 * second).count == 2)
    // The kernel has collected both.
    #expect(expiries.pass(now: 50 * second).count == 2)
    #expect(expiries.next == nil)
  }
}
#endif
