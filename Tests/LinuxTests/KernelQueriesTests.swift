// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// What the kernel answers to batches of queries, by itself.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)))
struct KernelQueriesTests {
  /// v0 with 10.0.0.1/24 and a default route, w0 with 10.1.0.1/24.
  private func makeLab() throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.makeW()
    try lab.up("lo")
    return lab
  }

  private func ip(_ lab: NetworkLab, _ words: String...) throws {
    for words in words {
      let result = try lab.ip(words)
      try #require(result.status == 0, "ip \(words): \(result.error)")
    }
  }

  private static func destination(
    _ text: String, over output: UInt32? = nil, mark: UInt32 = 0,
    _ transport: ReachabilityConfiguration.Transport = .tcp, port: UInt16 = 0
  ) throws -> KernelQueries.Destination {
    KernelQueries.Destination(
      address: try address(text).bits, source: nil, output: output, mark: mark, transport: transport, port: port)
  }

  /// The replies in words: the length of the route's prefix, its source, and what a packet gets.
  private static func words(_ replies: [RouteReplies]) -> [String] {
    replies.map { replies in
      let both = [replies.match, replies.plain].map { reply in
        switch reply {
        case .route(let route):
          "/\(route.destinationLength)" + (route.preferredSource.map { " from \(IPAddress($0))" } ?? "")
        case .refusal(let errno): "error \(errno)"
        case .lost: "lost"
        }
      }
      return both.joined(separator: ", ")
    }
  }

  /// ip-route(8): `route get fibmatch` shows the route as it was added, `route get` that of one packet.
  @Test func eachDestinationGetsItsTwoReplies() throws {
    let lab = try makeLab()
    try ip(lab, "rule add pref 50 fwmark 7 prohibit", "rule add pref 51 ipproto tcp dport 443 unreachable")
    let index = UInt32(try lab.index(of: "w0"))
    try lab.run {
      let queries = try KernelQueries()
      #expect(queries.destinationCount == 0 && queries.client.isOpen)
      func ask(_ destinations: KernelQueries.Destination...) -> [String] {
        Self.words(queries.routes(destinations.count) { destinations[$0] }.map(\.replies))
      }
      let (near, far) = (try Self.destination("10.0.0.9"), try Self.destination("198.51.100.7"))
      let nearWords = "/24 from 10.0.0.1, /32 from 10.0.0.1"
      let farWords = "/0, /32 from 10.0.0.1"
      #expect(ask(near, far) == [nearWords, farWords])
      // The same batch again, one of the same size, and others.
      #expect(ask(near, far) == [nearWords, farWords])
      #expect(ask(far, near) == [farWords, nearWords])
      #expect(ask(far) == [farWords])
      #expect(ask(far, far, near) == [farWords, farWords, nearWords])
      #expect(queries.destinationCount == 10)
      #expect(ask() == [])
      let prohibited = "error \(EACCES), error \(EACCES)"
      #expect(ask(try Self.destination("10.0.0.9", mark: 7), near) == [prohibited, nearWords])
      #expect(ask(try Self.destination("10.0.0.9", mark: 1)) == [nearWords])
      let refused = "error \(ENETUNREACH), error \(ENETUNREACH)"
      #expect(ask(try Self.destination("10.0.0.9", port: 443)) == [refused])
      #expect(ask(try Self.destination("10.0.0.9", .udp, port: 443), near) == [nearWords, nearWords])
      #expect(ask(try Self.destination("10.0.0.9", port: 444)) == [nearWords])
      #expect(ask(try Self.destination("10.1.0.9", over: index)) == ["/24 from 10.1.0.1, /32 from 10.1.0.1"])
    }
  }

  // MARK: Nexthop objects

  @Test func anObjectHasItsHopsInTheOrderOfItsGroup() throws {
    let lab = try makeLab()
    try ip(
      lab, "nexthop add id 70 via 10.0.0.4 dev v0", "nexthop add id 71 via 10.1.0.4 dev w0",
      "nexthop add id 72 group 71/70", "nexthop add id 73 blackhole")
    let (v0, w0) = (UInt32(try lab.index(of: "v0")), UInt32(try lab.index(of: "w0")))
    try lab.run {
      let queries = try KernelQueries()
      func hops(_ id: UInt32) -> [String]? {
        queries.hops(ofObject: id)?.map { "\($0.gateway.map { "\(IPAddress($0))" } ?? "") over \($0.interfaceIndex)" }
      }
      #expect(hops(70) == ["10.0.0.4 over \(v0)"])
      #expect(hops(72) == ["10.1.0.4 over \(w0)", "10.0.0.4 over \(v0)"])
      #expect(hops(71) == ["10.1.0.4 over \(w0)"])
      #expect(hops(73) == [] && hops(99) == [])
      // Nobody answers on a socket that somebody has replaced.
      let (number, file) = (queries.client.descriptor, eventfd(0, CInt(EFD_NONBLOCK)))
      try #require(file >= 0 && dup2(file, number) == number)
      #expect(hops(70) == nil)
      _ = (close(file), close(number))
    }
  }

  /// Documentation/networking/ip-sysctl.rst, nexthop_compat_mode: with 0, a route names its object alone.
  @Test("the hops of an object that a route names are found", arguments: [0, 1])
  func theHopsOfTheObjectOfARouteAreFound(mode: Int) throws {
    let lab = try makeLab()
    try ip(
      lab, "nexthop add id 70 via 10.0.0.4 dev v0", "nexthop add id 71 via 10.1.0.4 dev w0",
      "nexthop add id 72 group 71/70", "route add 198.18.0.0/24 nhid 70", "route add 198.18.1.0/24 nhid 72")
    try lab.sysctl("ipv4/nexthop_compat_mode", mode)
    let (v0, w0) = (UInt32(try lab.index(of: "v0")), UInt32(try lab.index(of: "w0")))
    try lab.run {
      let queries = try KernelQueries()
      let asked = [
        try Self.destination("198.18.1.1"), try Self.destination("198.51.100.7"), try Self.destination("198.18.0.1"),
      ]
      let replies = queries.routes(asked.count) { asked[$0] }.map(\.replies)
      #expect(replies.map { $0.hops.map(\.interfaceIndex) } == [[w0, v0], [v0], [v0]])
      #expect(replies[2].hops.first?.gateway == IPAddressBits(ipv4: 0x0A00_0004))
    }
  }

  // MARK: Neighbours

  @Test func aNeighbourThatIsNotThereHasNotFailed() throws {
    let lab = try makeLab()
    try ip(
      lab, "-6 neigh replace fe80::2 dev v0 nud failed extern_learn",
      "-6 neigh replace fe80::3 lladdr 02:00:00:00:00:03 dev v0 nud permanent")
    let (v0, w0) = (UInt32(try lab.index(of: "v0")), UInt32(try lab.index(of: "w0")))
    try lab.run {
      let queries = try KernelQueries()
      func gateway(_ text: String, _ link: UInt32) throws -> KernelFilter.Gateway {
        .init(address: try address(text).bits, interface: link, isFailed: false)
      }
      let asked = [
        try gateway("fe80::2", v0), try gateway("fe80::3", v0), try gateway("fe80::4", v0), try gateway("fe80::2", w0),
      ]
      for _ in 1...2 { #expect(queries.areFailed(asked) == [true, false, false, false]) }
      #expect(queries.areFailed([asked[1], asked[0]]) == [false, true])
      #expect(queries.areFailed([]) == [])
      var found: [String: NeighbourState] = [:]
      _ = try queries.client.list(.getNeighbour, family: .ipv6, NeighbourMessage.init) { neighbour in
        if let address = neighbour.address, neighbour.interfaceIndex == v0 {
          found[IPAddress(address).description] = neighbour.state
        }
      }
      #expect(found["fe80::2"] == .failed && found["fe80::3"] == .permanent && found["fe80::4"] == nil)
    }
  }

  // MARK: Tables

  @Test func tablesAreReadWhole() async throws {
    let lab = try makeLab()
    try await lab.waitForCarriers()
    try ip(lab, "rule add pref 60 from 10.0.0.0/8 lookup 201")
    try lab.run {
      let queries = try KernelQueries()
      // Each attempt begins anew.
      var links = ["an attempt before"]
      let areLinksWhole = try queries.client.list(.getLink, begin: { links = [] }, LinkMessage.init) {
        links.append($0.name ?? "")
      }
      #expect(areLinksWhole && Set(links).isSuperset(of: ["lo", "v0", "v1", "w0", "w1"]))
      #expect(!links.contains("an attempt before") && Set(links).count == links.count)
      var addresses: [IPAddressBits?] = [nil]
      let areAddressesWhole = try queries.client.list(.getAddress, begin: { addresses = [] }, AddressMessage.init) {
        addresses.append($0.localAddress)
      }
      #expect(areAddressesWhole && addresses.contains(IPAddressBits(ipv4: 0x0A00_0001)) && !addresses.contains(nil))
      var rules: [UInt32] = [7]
      _ = try queries.client.list(.getRule, family: .ipv4, begin: { rules = [] }, RuleMessage.init) {
        rules.append($0.priority)
      }
      // The kernel's own are those of the tables local, main and default (ip-rule(8)).
      #expect(rules == [0, 60, 32_766, 32_767])
      let tables = KernelTables()
      tables.areRulesStale = true
      #expect(tables.rules(queries).namesSource)
      #expect(try tables.read(queries))
      #expect(tables.links.link(named: LinkName("w0")) != nil)
      #expect(tables.addresses.isOurs(IPAddress(ipv4: 0x0A01_0001), on: nil))
      #expect(tables.rules(queries).namesSource)
    }
  }

  /// errno(3): what a system refuses, it refuses again; what it lacks may come.
  @Test(
    arguments: [
      (EPERM, true), (EACCES, true), (EAFNOSUPPORT, true), (EOPNOTSUPP, true), (ENOSYS, true), (ENOMEM, false),
      (ENOBUFS, false), (EMFILE, false), (EBADF, false), (0, false),
    ] as [(CInt, Bool)])
  func aRefusalIsToldFromAShortage(errno: CInt, isRefusal: Bool) {
    #expect(NetlinkError(.malformed, errno: errno, operation: "ask").isRefusal == isRefusal)
  }
}
#endif
