// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The lookups that connect(2) makes beyond the first: a target's state is what a real socket finds.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2 as the judge"),
  .timeLimit(.minutes(5)))
struct ConnectLookupTests {
  static let four = "198.51.100.7"
  static let six = "2001:db8:ffff::1"

  /// B and W, each with an IPv6 address; B has a default of IPv4, W none.
  func makeLab() throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try lab.addAddress("2001:db8:b::1/64", "w0")
    return lab
  }

  /// The present state of the connection's destination.
  func state(_ lab: NetworkLab, _ connection: LabConnection) throws -> Reachability {
    let target = try address(connection.destination)
    let source = try connection.source.map { try address($0) }
    var configuration = ReachabilityConfiguration()
    configuration.interface = connection.interface
    configuration.mark = connection.mark
    configuration.transport = connection.transport == .tcp ? .tcp : .udp
    configuration.usesNAT64 = false
    return try lab.run { [configuration] in
      Reachability.now(
        source.map { .address(target, from: $0, port: connection.port) } ?? .address(target, port: connection.port),
        configuration: configuration, environment: .ofItsOwn())
    }
  }

  /// Expects that both find the same; returns what the socket finds.
  @discardableResult
  func agree(
    _ lab: NetworkLab, _ destination: String, from source: String? = nil, over interface: String? = nil,
    mark: UInt32 = 0, gateway: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> LabConnection.Outcome {
    try await lab.waitForCarriers()
    var connection = LabConnection(to: destination)
    connection.source = source
    connection.interface = interface
    connection.mark = mark
    // Both before and after: the kernel may still be at work, as at the local route of an address (addrconf_dad_work).
    var (outcome, state) = (try lab.connect(connection), try state(lab, connection))
    while case let now = try lab.connect(connection), "\(now)" != "\(outcome)" {
      (outcome, state) = (now, try self.state(lab, connection))
    }
    let words: Comment = "\(state) from \(state.source?.description ?? "none"), but: \(outcome)"
    #expect(state.isReachable == outcome.isSent, words, sourceLocation: sourceLocation)
    if outcome.error == 0, state.isReachable {
      #expect(state.interface?.name == outcome.link, words, sourceLocation: sourceLocation)
      #expect(state.source?.description == outcome.source, words, sourceLocation: sourceLocation)
      if gateway { #expect(state.gateway?.description == outcome.gateway, words, sourceLocation: sourceLocation) }
    }
    return outcome
  }

  func ip(_ lab: NetworkLab, _ words: String...) throws {
    for words in words {
      let result = try lab.ip(words)
      try #require(result.status == 0, "ip \(words): \(result.error)")
    }
  }

  // MARK: IPv6: after a failure

  @Test func aDefaultOfIPv6ForOneSourceIsFoundAsConnectFindsIt() async throws {
    let lab = try makeLab()
    try ip(lab, "-6 route add default from 2001:db8:a::/64 via 2001:db8:a::2 dev v0")
    #expect(try await agree(lab, Self.six).isSent)
    #expect(try await agree(lab, Self.six, over: "v0").isSent)
    #expect(try await agree(lab, Self.six, over: "w0").error == ENETUNREACH)
    #expect(try await agree(lab, Self.six, from: "2001:db8:a::1").isSent)
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1").error == ENETUNREACH)
    // This change of routes is announced.
    let monitors = try LabMonitors.forPaths(lab)
    let target = try await monitors.record(.address(Self.six)) { $0.usesNAT64 = false }
    let path = try await monitors.recordPath()
    #expect(path.last?.supportsIPv6 == true)
    #expect(path.last?.gateways.map(\.description) == ["10.0.0.2", "2001:db8:a::2"])
    try ip(lab, "-6 route del default from 2001:db8:a::/64")
    try await monitors.expect(
      target, lab.reachable("v0", via: "2001:db8:a::2"), lab.unreachable(.noRoute))
    try await path.wait("without IPv6") { !$0.supportsIPv6 }
  }

  @Test("the source is chosen over all links: its default may be the other link's", arguments: ["a", "b"])
  func theSourceIsThatOfTheKernel(network: String) async throws {
    let lab = try makeLab()
    let link = network == "a" ? "v0" : "w0"
    try ip(lab, "-6 route add default from 2001:db8:\(network)::/64 via 2001:db8:\(network)::2 dev \(link)")
    // RFC 6724 chooses an address, without regard to routes: only one of the two networks has the chosen address.
    try await agree(lab, Self.six)
    try await agree(lab, "2001:db8:b:1::1")
    try await agree(lab, "2001:db8:a:1::1")
    try await agree(lab, Self.six, mark: 7)
  }

  @Test("IPv6 rules by source do not touch a route that is there; after a failure they do")
  func rulesBySourceInIPv6() async throws {
    let lab = try makeLab()
    try ip(lab, "-6 route add default via 2001:db8:a::2 dev v0")
    try ip(lab, "-6 rule add pref 50 from 2001:db8::/32 prohibit")
    #expect(try await agree(lab, Self.six).isSent)
    #expect(try await agree(lab, Self.six, from: "2001:db8:a::1").error == EACCES)
    try ip(lab, "-6 route del default")
    #expect(try await agree(lab, Self.six).error == EACCES)
    #expect(try state(lab, LabConnection(to: Self.six)).reason == .prohibited)
    try ip(lab, "-6 rule del pref 50", "-6 rule add pref 50 from 2001:db8::/32 lookup 201")
    try ip(lab, "-6 route add default via 2001:db8:b::2 dev w0 table 201")
    #expect(try await agree(lab, Self.six).link == "w0")
  }

  @Test func anUnreachableDefaultOfIPv6KeepsItsReason() async throws {
    let lab = try makeLab()
    try lab.addRoute("default", kind: .unreachable, family: .v6)
    #expect(try await agree(lab, Self.six).error == EHOSTUNREACH)
    #expect(try state(lab, LabConnection(to: Self.six)).reason == .unreachableRoute)
    try ip(lab, "-6 route add default from 2001:db8::/32 via 2001:db8:a::2 dev v0")
    #expect(try await agree(lab, Self.six).isSent)
  }

  // MARK: IPv6: a source and an interface

  @Test func aSourceAndAnInterfaceHoldTogetherInIPv6() async throws {
    let lab = try makeLab()
    try ip(lab, "-6 route add default via 2001:db8:a::2 dev v0 metric 10")
    try ip(lab, "-6 route add default via 2001:db8:b::2 dev w0 metric 20")
    for source in ["2001:db8:a::1", "2001:db8:b::1"] {
      #expect(try await agree(lab, Self.six, from: source, over: "v0").isSent)
      #expect(try await agree(lab, Self.six, from: source, over: "w0").isSent)
    }
    // Bound to one interface, the socket does not see routes of others, such as this one of lo.
    try lab.addRoute("default", metric: 1, kind: .prohibit, family: .v6)
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1", over: "w0").isSent)
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1").error == EACCES)
    try ip(lab, "-6 route del default via 2001:db8:b::2 dev w0")
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1", over: "w0").error == ENETUNREACH)
    try ip(lab, "-6 rule add pref 50 from 2001:db8:b::1 prohibit")
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1", over: "w0").error == EACCES)
  }

  @Test("a way that no query shows, since another link's route is preferred, is found without its gateway")
  func aRouteThatNoQueryShows() async throws {
    let lab = try makeLab()
    try ip(lab, "-6 route add default from 2001:db8:b::/64 via 2001:db8:a::2 dev v0 metric 10")
    try ip(lab, "-6 route add default from 2001:db8:b::/64 via 2001:db8:b::2 dev w0 metric 20")
    #expect(try await agree(lab, Self.six, from: "2001:db8:b::1", over: "w0", gateway: false).isSent)
    var connection = LabConnection(to: Self.six)
    connection.source = "2001:db8:b::1"
    connection.interface = "w0"
    #expect(try !state(lab, connection).flags.contains(.isDirect))
    try lab.down("w1")
    try await lab.waitUntilOperating("w0", false)
    #expect(try state(lab, connection) ≈ lab.unreachable(.noCarrier, "w0"))
  }

  // MARK: IPv4: rules by source

  @Test(arguments: [
    "from 10.0.0.1", "not from 10.1.0.0/16", "from 10.0.0.0/8", "from 10.7.0.0/16", "not from 10.0.0.0/8",
  ])
  func aRuleBySourceIsSeenAsConnectSeesIt(selector: String) async throws {
    let lab = try makeLab()
    try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 201)
    for action in ["prohibit", "unreachable", "blackhole", "lookup 201"] {
      try ip(lab, "rule add pref 50 \(selector) \(action)")
      try await agree(lab, Self.four)
      if action == "lookup 201" { try await agree(lab, Self.four, over: "v0") }
      try await agree(lab, Self.four, from: "10.1.0.1")
      try await agree(lab, "10.0.0.1")
      try await agree(lab, "10.0.0.9")
      try ip(lab, "rule del pref 50")
      #expect(try await agree(lab, Self.four).link == "v0")
    }
  }

  @Test func monitorsAndPathsFollowRulesBySource() async throws {
    let lab = try makeLab()
    let monitors = try LabMonitors.forPaths(lab)
    let target = try await monitors.record(.address(Self.four)) { $0.usesNAT64 = false }
    let path = try await monitors.recordPath()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.addRule(priority: 50, .prohibit, from: "10.0.0.1/32")
    try await monitors.expect(target, v0, lab.unreachable(.prohibited))
    try await path.wait("prohibited") { $0.status == .unsatisfied && $0.reason == .prohibited }
    try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 201)
    try lab.addRule(priority: 40, .lookup(201), from: "10.0.0.1/32")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    try await monitors.expect(target, v0, lab.unreachable(.prohibited), w0)
    // The source stays the one that was chosen first.
    #expect(target.last?.source == IPAddress("10.0.0.1"))
    try await path.wait("over the other link") { $0.preferredInterface?.name == "w0" }
    try lab.deleteRule(priority: 40)
    try await monitors.expect(target, v0, lab.unreachable(.prohibited), w0, lab.unreachable(.prohibited))
    try lab.deleteRule(priority: 50)
    try await monitors.expect(target, v0, lab.unreachable(.prohibited), w0, lab.unreachable(.prohibited), v0)
    try await path.wait("as before") { $0.preferredInterface?.name == "v0" }
  }

  @Test func onlyRulesBySourceAndFailuresCostAnotherLookup() throws {
    let lab = try makeLab()
    try ip(lab, "-6 route add default via 2001:db8:a::2 dev v0")
    func cost(_ target: String) throws -> Int {
      let query = RouteQuery(.address(try address(target)))
      return try lab.run {
        let network = LinuxNetwork()
        var isReachable = false
        network.answer([query]) { isReachable = $1.isReachable }
        let first = network.queryCount
        network.answer([query]) { isReachable = isReachable && $1.isReachable }
        return isReachable ? network.queryCount - first : 0
      }
    }
    #expect(try cost(Self.four) == 1)
    #expect(try cost(Self.six) == 1)
    // Rules without a source and rules of the other family cost nothing.
    try lab.addRule(priority: 50, .lookup(LabTable.main), mark: 7)
    try lab.addRule(priority: 60, .lookup(LabTable.main), family: .v6, from: "2001:db8::/32")
    #expect(try cost(Self.four) == 1)
    #expect(try cost(Self.six) == 1)
    try lab.addRule(priority: 70, .lookup(LabTable.main), from: "10.9.0.0/16")
    #expect(try cost(Self.four) == 2)
    #expect(try cost(Self.six) == 1)
    try lab.deleteRule(priority: 70)
    try ip(lab, "-6 route del default", "-6 route add default from 2001:db8:a::/64 via 2001:db8:a::2 dev v0")
    #expect(try cost(Self.four) == 1)
    #expect(try cost(Self.six) == 2)
  }

  // MARK: Several hops

  @Test("interface, gateway and source are those of one hop", arguments: [LabFamily.v4, .v6])
  func aHopHasItsOwnSource(family: LabFamily) async throws {
    let lab = try makeLab()
    let isIPv4 = family == .v4
    let hops =
      isIPv4
      ? [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")]
      : [LabHop(via: "2001:db8:a::2", dev: "v0"), LabHop(via: "2001:db8:b::2", dev: "w0")]
    try lab.route(.replace, "default", hops: hops)
    try await lab.waitForCarriers()
    // The kernel's hash may choose another hop for each address.
    for number in 1...32 {
      let target = isIPv4 ? "198.51.100.\(number)" : "2001:db8:ffff::\(number)"
      let state = try state(lab, LabConnection(to: target))
      let name = try #require(state.interface?.name)
      let outcome = try await agree(lab, target, over: name)
      #expect(state.source?.description == outcome.source)
      #expect(state.gateway?.description == outcome.gateway)
    }
  }

  @Test("the source of the hop that is told meets rules like any other source")
  func aRuleBySourceMeetsTheHopsSource() async throws {
    let lab = try makeLab()
    let hops = [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")]
    try lab.route(.replace, "default", hops: hops)
    try lab.addRoute("default", via: "10.1.0.9", dev: "w0", table: 201)
    try lab.addRule(priority: 50, .lookup(201), from: "10.0.0.1/32")
    try await lab.waitForCarriers()
    for number in 1...16 {
      // The kernel's hash may choose another hop for each address. Dialtone tells the first one, with its source.
      let target = "198.51.100.\(number)"
      let outcome = try await agree(lab, target, from: "10.0.0.1")
      #expect((outcome.link, outcome.gateway) == ("w0", "10.1.0.9"))
      let state = try state(lab, LabConnection(to: target))
      #expect(state.isVia("w0") && state.gateway?.description == outcome.gateway, "\(target): \(state)")
      #expect(state.source?.description == "10.0.0.1", "\(target)")
    }
  }

  @Test("a route with more hops than fit into a reply", arguments: [LabFamily.v4, .v6])
  func aRouteWithHundredsOfHops(family: LabFamily) async throws {
    let lab = try makeLab()
    let hops = (0..<(family == .v4 ? 250 : 160)).map { number in
      LabHop(via: family == .v4 ? "10.0.0.\(number + 2)" : "2001:db8:a::\(number + 2)", dev: "v0")
    }
    if family == .v4 {
      try lab.route(.replace, "default", hops: hops)
    } else {
      // A request has the same limit, so several are sent: the kernel joins routes of one metric.
      for start in stride(from: 0, to: hops.count, by: 40) {
        try lab.route(start == 0 ? .add : .append, "default", hops: Array(hops[start..<min(start + 40, hops.count)]))
      }
    }
    let target = family == .v4 ? Self.four : Self.six
    #expect(try lab.ip("route get fibmatch \(target)").error.contains("Message too long"))
    #expect(try await agree(lab, target, gateway: false).isSent)
    #expect(try await agree(lab, target, over: "v0", gateway: false).isSent)
    let state = try state(lab, LabConnection(to: target))
    #expect(state.isVia("v0") && state.gateway != nil)
  }

  // MARK: This machine

  @Test("with lo switched off, nothing reaches this machine's own addresses", arguments: ["10.0.0.1", "2001:db8:a::1"])
  func loopbackSwitchedOff(own: String) async throws {
    let lab = try makeLab()
    let monitors = try LabMonitors(lab)
    let target = try await monitors.record(.address(own))
    // Until its address is known to be unique, the way is that to the network.
    try await target.wait("ours") { $0.isVia("lo") }
    target.forget()
    // This machine answers at once itself, because no server listens.
    #expect(try lab.connect(LabConnection(to: own)).error == ECONNREFUSED)
    try lab.down("lo")
    // The segment has been sent, and was dropped.
    #expect(try lab.connect(LabConnection(to: own)).error == 0)
    try await monitors.expect(
      target, lab.reachable("lo", .loopback, flags: .isLocalAddress), lab.unreachable(.linkDown, "lo", .loopback))
    try lab.up("lo")
    try await target.wait("ours again") { $0.isReachable }
    #expect(try lab.connect(LabConnection(to: own)).error == ECONNREFUSED)
  }

  // MARK: Protocols

  @Test func targetsPathsAndNameServersAskForWhatProgramsSend() async throws {
    let lab = try makeLab()
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 10.0.0.53\n")
    let monitors = try LabMonitors(
      lab, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root.path) })
    let target = try await monitors.record(.address(Self.four)) { $0.usesNAT64 = false }
    let path = try await monitors.recordPath()
    #expect(path.last?.supportsDNS == true)
    var query = LabConnection(to: "10.0.0.53", port: 53)
    query.transport = .udp
    try ip(lab, "rule add pref 50 ipproto udp dport 53 prohibit")
    #expect(try lab.connect(query).error == EACCES)
    try await path.wait("no name server") { !$0.supportsDNS && $0.supportsIPv4 }
    try ip(lab, "rule del pref 50", "rule add pref 50 ipproto tcp dport 53 prohibit")
    #expect(try lab.connect(query).isSent)
    try await path.wait("a name server") { $0.supportsDNS }
    try ip(lab, "rule del pref 50", "rule add pref 50 ipproto udp unreachable")
    try await path.wait("TCP alone") { !$0.supportsDNS }
    #expect(path.last?.supportsIPv4 == true)
    #expect(try await agree(lab, Self.four).isSent)
    try await monitors.settle()
    #expect(target.last?.isReachable == true)
    try ip(lab, "rule del pref 50", "rule add pref 50 ipproto tcp unreachable")
    try await path.wait("UDP alone") { $0.status == .unsatisfied }
    try await target.wait("no TCP") { !$0.isReachable }
    #expect(try await agree(lab, Self.four).error == ENETUNREACH)
  }

  @Test("nothing leaves from a source that is not this machine's, unless a local route covers it")
  func sourcesOfRoutes() async throws {
    let lab = try makeLab()
    try ip(
      lab, "addr add 10.5.0.5/32 dev v0", "rule add fwmark 7 lookup 100",
      "route add default via 10.0.0.2 dev v0 src 10.5.0.5 table 100", "rule add fwmark 9 lookup 101",
      "route add local 0.0.0.0/0 dev lo table 101", "route add local 192.0.2.0/24 dev lo",
      "rule add fwmark 11 lookup 102", "route add local \(Self.four)/32 dev lo table 102")
    #expect(try await agree(lab, Self.four, mark: 7).isSent)
    try ip(lab, "addr del 10.5.0.5/32 dev v0")
    for mark in [7, 9, 11] as [UInt32] { #expect(try await !agree(lab, Self.four, mark: mark).isSent) }
    #expect(try await agree(lab, Self.four, from: "192.0.2.9").isSent)
    #expect(try await agree(lab, Self.four, from: "192.0.2.9", over: "v0").isSent)
    #expect(try await !agree(lab, Self.four, from: "192.0.3.9", over: "v0").isSent)
    #expect(try await !agree(lab, "2001:db8:b::1", from: "2001:db8:a::1", over: "v0").isSent)
    #expect(try await agree(lab, "2001:db8:a::1", from: "2001:db8:a::1", over: "v0").isSent)
  }

  // MARK: Names

  @Test("a name that leads to no address but 0.0.0.0 and :: is not resolved")
  func aNameThatLeadsNowhere() async throws {
    let lab = try makeLab()
    let found = ["0.0.0.0", "::", "::ffff:0.0.0.0"].compactMap { IPAddress($0) }
    let far = try address(Self.four)
    let monitors = try LabMonitors(
      lab, lookup: { name, _ in .addresses(name == "blocked.example" ? found : found + [far]) })
    // On a busy machine the lookup takes so long that the first state is undetermined.
    let blocked = try await monitors.record(.host("blocked.example"))
    let unresolved = try lab.unreachable(.nameNotResolved)
    try await blocked.wait("it is not resolved") { $0 ≈ unresolved }
    let other = try await monitors.record(.host("partly.example"))
    let reachable = try lab.reachable("v0", via: "10.0.0.2")
    try await other.wait("by its other address") { $0 ≈ reachable }
    #expect(other.last?.destination == far)
    // 0.0.0.0 typed as an address is the Internet over its family.
    try await monitors.expect(monitors.record(.address("0.0.0.0")), lab.reachable("v0", via: "10.0.0.2"))
  }
}
#endif
