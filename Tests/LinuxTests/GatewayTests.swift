// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// IPv6 gateways that fall silent: the kernel takes another route, and announces only the neighbour's change.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .enabled(if: NetworkLab.hasIPRoute2, "needs ip of iproute2"), .timeLimit(.minutes(5)))
struct GatewayTests {
  private static let internet = "2001:503:ba3e::2:30"
  private static let first = "2001:db8:a::2 dev v0"
  private static let second = "2001:db8:b::2 dev w0"

  private func ip(_ arguments: String, _ lab: NetworkLab) throws {
    let result = try lab.ip(arguments)
    try #require(result.status == 0, "ip \(arguments): \(result.error)")
  }

  private func neighbour(_ which: String, _ state: String, _ lab: NetworkLab) throws {
    let address = state == "failed" ? "" : " lladdr 02:00:00:00:00:09"
    // The kernel never collects an externally learnt entry. All namespaces share one table, and when it is full, its
    // failed entries are removed.
    try ip("-6 neigh replace \(which)\(address) nud \(state) extern_learn", lab)
  }

  /// v0 and w0, each with an IPv6 address.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    for (name, peer, address) in [("v0", "v1", "2001:db8:a::1/64"), ("w0", "w1", "2001:db8:b::1/64")] {
      try lab.addVeth(name, peer)
      try lab.up(name, peer)
      try lab.addAddress(address, name)
    }
    // A link without carrier has no neighbours.
    try await lab.waitForCarriers()
    return lab
  }

  /// Two default routes, of which the gateway of the first one is silent.
  private func makeLabWithSilentGateway() async throws -> NetworkLab {
    let lab = try await makeLab()
    try ip("-6 route add default via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    try neighbour(Self.first, "reachable", lab)
    try neighbour(Self.first, "failed", lab)
    return lab
  }

  /// The gateway to which a real socket's packets go.
  private func gateway(_ lab: NetworkLab) throws -> String? {
    try lab.connect(LabConnection(to: Self.internet)).gateway
  }

  @Test(
    "a gateway that falls silent, and answers again: the way is the kernel's at each moment",
    arguments: ["default", "2001:503::/32"])
  func aSilentGatewayIsLeftAndComesBack(prefix: String) async throws {
    let lab = try await makeLab()
    try ip("-6 route add \(prefix) via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record(.address(Self.internet))
    let (v0, w0) = (
      try lab.reachable("v0", via: "2001:db8:a::2"), try lab.reachable("w0", via: "2001:db8:b::2")
    )
    try await monitors.expect(internet, v0)
    // Nobody is there to answer for the gateways: what is permanent stays so, however long a busy machine takes from a
    // socket's first packet to the next step.
    try neighbour(Self.second, "permanent", lab)
    for _ in 0..<2 {
      internet.forget()
      try neighbour(Self.first, "permanent", lab)
      try neighbour(Self.first, "failed", lab)
      #expect(try gateway(lab) == "2001:db8:b::2")
      try await monitors.expect(internet, v0, w0)
      try neighbour(Self.first, "permanent", lab)
      #expect(try gateway(lab) == "2001:db8:a::2")
      try await monitors.expect(internet, v0, w0, v0)
    }
  }

  @Test("a gateway that was silent before anything listened, and one whose entry is deleted")
  func aGatewaySilentFromTheBeginningIsNotUsed() async throws {
    let lab = try await makeLabWithSilentGateway()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.family = .ipv6 }
    let (v0, w0) = (
      try lab.reachable("v0", via: "2001:db8:a::2"), try lab.reachable("w0", via: "2001:db8:b::2")
    )
    try await monitors.expect(internet, w0)
    try ip("-6 neigh del \(Self.first)", lab)
    try await monitors.expect(internet, w0, v0)
    // At last: a socket has the gateway asked for, which does not answer.
    #expect(try gateway(lab) == "2001:db8:a::2")
  }

  @Test("a gateway that no answer has named is announced when it answers again: nobody has to look for it")
  func aGatewaySilentFromTheBeginningIsAnnounced() async throws {
    let lab = try await makeLabWithSilentGateway()
    // Time stands still, so that no gateway is looked at again.
    let probe = NetworkProbe()
    let monitors = try SteppedClock(isStill: true).monitors(lab, waiter: .epoll, source: probe.makeSource)
    let internet = try await monitors.record { $0.family = .ipv6 }
    try await internet.wait("over w0") { $0.isVia("w0") }
    try neighbour(Self.first, "permanent", lab)
    try await internet.wait("over v0") { $0.isVia("v0") }
  }

  @Test("a packet to a failed gateway has the kernel prefer it again, which nothing announces")
  func aFailedGatewayIsTriedAgain() async throws {
    let lab = try await makeLab()
    // Enough probes for this to last: one a second.
    try lab.sysctl("ipv6/neigh/v0/mcast_solicit", 1_000)
    try ip("-6 route add default via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    try neighbour(Self.second, "permanent", lab)
    try neighbour(Self.first, "permanent", lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record(.address(Self.internet))
    let (v0, w0) = (
      try lab.reachable("v0", via: "2001:db8:a::2"), try lab.reachable("w0", via: "2001:db8:b::2")
    )
    for _ in 0..<3 {
      internet.forget()
      try neighbour(Self.first, "failed", lab)
      #expect(try gateway(lab) == "2001:db8:b::2")
      try await monitors.expect(internet, v0, w0)
      // As a health check of that uplink does.
      var check = LabConnection(to: Self.internet)
      check.interface = "v0"
      #expect(try lab.connect(check).isSent)
      #expect(try gateway(lab) == "2001:db8:a::2")
      try await monitors.expect(internet, v0, w0, v0)
    }
  }

  @Test("failed gateways are looked at at least twice a second, and nothing is asked meanwhile")
  func lookingAtFailedGatewaysIsBounded() async throws {
    let lab = try await makeLab()
    try ip("-6 route add default via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let monitors = try clock.monitors(lab, waiter: .epoll, source: probe.makeSource)
    let internet = try await monitors.record { $0.family = .ipv6 }
    try await internet.wait("over v0") { $0.isVia("v0") }
    /// How often the network looks by itself in a minute, and how many queries it asks.
    func cost() async throws -> (looks: Int, answers: Int) {
      // What a new gateway has asked once more is over by then.
      for _ in 0..<20 {
        clock.advance(by: .milliseconds(100), monitors.environment)
        try await monitors.settleWithoutAsking()
      }
      let before = probe.counts
      for _ in 0..<600 {
        clock.advance(by: .milliseconds(100), monitors.environment)
        try await monitors.settleWithoutAsking()
      }
      return (probe.counts.polls - before.polls, probe.counts.answers - before.answers)
    }
    #expect(try await cost() == (0, 0))
    try neighbour(Self.first, "permanent", lab)
    try neighbour(Self.first, "failed", lab)
    try await internet.wait("over w0") { $0.isVia("w0") }
    let (looks, answers) = try await cost()
    #expect(looks >= 100 && looks <= 130, "\(looks)")
    #expect(answers == 0)
    try ip("-6 neigh del \(Self.first)", lab)
    try await internet.wait("over v0 again") { $0.isVia("v0") }
    #expect(try await cost() == (0, 0))
  }

  @Test("a path monitor follows the gateway, too")
  func aPathMonitorFollowsTheGateway() async throws {
    let lab = try await makeLab()
    try ip("-6 route add default via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    #expect(path.last?.interfaces.first?.name == "v0")
    try neighbour(Self.first, "reachable", lab)
    try neighbour(Self.first, "failed", lab)
    try await path.wait("over w0") { $0.interfaces.first?.name == "w0" }
  }

  @Test("usual changes of neighbours do not wake the engine: two defaults, their gateways, and others on the link")
  func usualChangesOfNeighboursWakeNothing() async throws {
    let lab = try await makeLab()
    try ip("-6 route add default via \(Self.first) metric 100", lab)
    try ip("-6 route add default via \(Self.second) metric 200", lab)
    // Nobody is asked and given up meanwhile, however long it takes.
    for name in ["v0", "w0"] {
      for (setting, value) in [("delay_first_probe_time", 3_600), ("retrans_time_ms", 3_600_000)] {
        try lab.sysctl("ipv6/neigh/\(name)/\(setting)", value)
      }
    }
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record { $0.family = .ipv6 }
    try await monitors.settle()
    let before = probe.counts
    // For the kernel this is a change, which it announces.
    let listener = try lab.run {
      let socket = try NetlinkSocket(.route)
      try socket.join(.neighbour)
      return Listener(socket)
    }
    for state in ["reachable", "stale", "delay", "probe", "reachable", "stale"] {
      for which in [Self.first, Self.second, "2001:db8:a::77 dev v0"] { try neighbour(which, state, lab) }
    }
    try neighbour("2001:db8:a::77 dev v0", "failed", lab)
    #expect(try listener.count() >= 12)
    try await monitors.settle()
    #expect(probe.counts.messages == before.messages)
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8:a::2"))
  }

  /// Counts what a socket receives.
  private final class Listener: Sendable {
    private let socket: Mutex<NetlinkSocket>

    init(_ socket: consuming sending NetlinkSocket) { self.socket = Mutex(socket) }

    func count() throws -> Int {
      let buffer = NetlinkBuffer(byteCount: 32 * 1024)
      return try socket.withLock { socket in
        var count = 0
        while case .datagram = try socket.receive(into: buffer) { count += 1 }
        return count
      }
    }
  }
}
#endif
