// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import SiteLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What a diagnosis learns of the way of packets: from a neighbour, from routers, and from packets of a size.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct WayProbeTests {
  private static let server = IPAddress(ipv4: 0x0A00_0002)
  private static let second: Int64 = 1_000_000_000

  private static func patience() -> Patience { Patience(until: TimeSource.system.now() + 3_600 * second) }

  /// Waits until the lab's link has come up, and packets can leave.
  private func waitUntilOpen(_ lab: NetworkLab, to address: IPAddress = server) async throws {
    try await eventually("packets can leave") {
      try lab.run {
        Reachability.now(.address(address), environment: ReachabilityEnvironment(EngineProvider())).isReachable
      }
    }
  }

  // MARK: Neighbours

  /// What the diagnosis finds of the neighbour that a target's packets go to.
  private func neighbour(_ target: IPAddress, in lab: NetworkLab) throws -> KernelFinding.Result? {
    try lab.run {
      let name = Finding.name(NameFinding(name: target.description, source: .literal, addresses: [target]))
      func findings(_ question: DiagnosisQuestion, _ known: [Finding]) -> [Finding] {
        let patience = Self.patience()
        let inquiry = DiagnosisInquiry(
          subject: DiagnosisSubject(.address(target)), configuration: DiagnosisConfiguration(), findings: known,
          deadline: TimeSource.system.now() + patience.rest)
        return SystemQuestion(inquiry: inquiry, patience: patience).findings(for: question)
      }
      let found = findings(.neighbours, [name] + findings(.way, [name]))
      return found.lazy.compactMap { if case .kernel(let kernel) = $0 { kernel.result } else { nil } }.first
    }
  }

  /// RFC 1122, 2.3.2: who is not there does not answer. The kernel asks three times (arp(7)), here in quick succession.
  @Test func aNeighbourAnswersOrIsSilent() async throws {
    let cable = try LabCable()
    try cable.client.sysctl("ipv4/neigh/v0/retrans_time_ms", 50)
    try await waitUntilOpen(cable.client)
    #expect(try neighbour(Self.server, in: cable.client) == .neighbour(.answers(Self.server, isGateway: false)))
    let site = IPAddress(ipv4: 0xC000_0250)
    #expect(try neighbour(site, in: cable.client) == .neighbour(.answers(Self.server, isGateway: true)))
    let absent = IPAddress(ipv4: 0x0A00_0063)
    #expect(
      try neighbour(absent, in: cable.client)
        == .neighbour(.silent(absent, isGateway: false, wasProbed: true)))
  }

  /// RFC 1122, 3.2.2.1, and RFC 9293, 3.5.2: a host refuses what nobody takes there.
  @Test func whoRefusesOrAcceptsIsThere() async throws {
    let cable = try LabCable()
    try await waitUntilOpen(cable.client)
    let link = UInt32(try cable.client.index(of: "v0"))
    func isThere(_ address: IPAddress, _ port: Int?, waiting: Int64 = 60_000) throws -> Bool {
      try cable.client.run {
        let socket = try #require(
          port.map { ProbeSocket(address, port: UInt16($0), isStream: true, interface: link) }
            ?? DatagramProbe.wake(address, link: link))
        let patience = Self.patience()
        _ = patience.wait([(socket.descriptor, wantsWriting: port != nil)], until: patience.moment(in: waiting))
        return DatagramProbe.hasAnswered(socket, Self.server)
      }
    }
    #expect(try isThere(Self.server, nil))
    #expect(try isThere(Self.server, 1))
    // Its answers are dropped.
    try cable.server.addRoute("10.0.0.1", kind: .blackhole)
    #expect(try !isThere(Self.server, nil, waiting: 100))
    #expect(try !isThere(Self.server, 1, waiting: 100))
  }

  // MARK: Packets of a size

  /// A packet of a link's whole MTU passes, and not where one byte less is allowed. A veth takes frames that are longer
  /// than its MTU by a VLAN's four bytes (is_skb_forwardable, linux/netdevice.h).
  @Test(arguments: [Self.server, IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 2))])
  func packetsAsLargeAsTheLinkAllows(address: IPAddress) async throws {
    let cable = try LabCable()
    try await waitUntilOpen(cable.client)
    func outcome(mtu: UInt32, of server: UInt32) throws -> LargePacketsFinding {
      try cable.server.setMTU("far", server)
      return try cable.client.run {
        DatagramProbe.largePackets(to: address, mtu: mtu, interface: nil, Self.patience())
      }
    }
    #expect(try outcome(mtu: 1_500, of: 1_496) == LargePacketsFinding(address.family, .answered, byteCount: 1_500))
    let dropped = try outcome(mtu: 1_500, of: 1_495)
    #expect(dropped.outcome != nil && dropped.outcome != .answered && dropped.byteCount == 1_500, "\(dropped)")
    // What is larger than this machine's own link does not even leave.
    #expect(try outcome(mtu: 1_501, of: 1_500) == LargePacketsFinding(address.family, .refused, byteCount: 1_501))
    let none = try cable.client.run {
      DatagramProbe.largePackets(to: address, mtu: 100, interface: nil, Self.patience())
    }
    #expect(none.outcome == nil)
  }

  /// A host sends six ICMP messages at once, then one a second (icmp(7)): what it does not send proves nothing.
  @Test func missingAnswersAreNoLostPackets() async throws {
    let cable = try LabCable()
    try await waitUntilOpen(cable.client)
    for _ in 0..<8 {
      let finding = try cable.client.run {
        DatagramProbe.largePackets(to: Self.server, mtu: 1_500, interface: nil, Self.patience())
      }
      #expect(finding.outcome != .vanished && finding.outcome != .refused)
    }
  }

  // MARK: The time limit

  /// Nobody has had the time to answer, so nobody is silent.
  @Test func aTimeThatIsUpIsNoSilence() async throws {
    let cable = try LabCable()
    try await waitUntilOpen(cable.client)
    let found = try cable.client.run {
      let end = TimeSource.system.now() + 50_000_000
      var configuration = DiagnosisConfiguration()
      configuration.family = .ipv4
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(.internet), configuration: configuration, findings: [], deadline: end)
      return SystemQuestion(inquiry: inquiry, patience: Patience(until: end)).findings(for: .beyond)
    }
    #expect(found == [.unasked(.beyond, nil, .timeIsUp)])
  }

  // MARK: Routers

  /// The client and routers in a row, each in a lab of its own: `10.N.0.1` is the one before the Nth cable, `10.N.0.2`
  /// the one behind it.
  func row(of count: Int) async throws -> [NetworkLab] {
    let labs = try (0...count).map { _ in try NetworkLab() }
    for (number, (lab, next)) in zip(labs, labs.dropFirst()).enumerated() {
      try lab.addVeth("to", "from", peerIn: next)
      try lab.up("to")
      try next.up("from")
      try lab.addAddress("10.\(number).0.1/24", "to")
      try next.addAddress("10.\(number).0.2/24", "from")
      try lab.addRoute("default", via: "10.\(number).0.2", dev: "to")
      if number > 0 { try next.addRoute("10.0.0.0/24", via: "10.\(number).0.1", dev: "from") }
      try next.sysctl("ipv4/ip_forward", 1)
      // It answers each packet, however many there are (icmp(7)).
      try next.sysctl("ipv4/icmp_ratelimit", 0)
    }
    for (number, lab) in labs.dropLast().enumerated() {
      try await waitUntilOpen(lab, to: IPAddress(ipv4: 0x0A00_0002 + UInt32(number) << 16))
    }
    return labs
  }

  private static let far = IPAddress(ipv4: 0xCB00_7107)

  /// Whether the trace leads beyond the first router, and what came of it.
  private func trace(
    in lab: NetworkLab, upTo limit: Int64 = 60_000, areRefused: Bool = false
  ) throws -> (Bool, BeyondFinding.Trace?) {
    try lab.run {
      var trace = HopTrace(to: Self.far, interface: nil, gateway: Self.server)
      #expect(HopTrace.result([trace]) == nil)
      let leads = trace.leadsBeyond(Self.patience(), upTo: limit)
      return (leads, HopTrace.result([trace], areRefused: areRefused))
    }
  }

  /// RFC 1812, 5.3.1: a router says so if it drops a packet since its time to live is over.
  @Test func aRouterBeyondTheFirstIsSeen() async throws {
    let labs = try await row(of: 3)
    try labs[3].addRoute("203.0.113.7", kind: .blackhole)
    let second = IPAddress(ipv4: 0x0A01_0002)
    #expect(try trace(in: labs[0]) == (true, .endsBehind(second)))
    // The first router drops all, and says nothing.
    try labs[1].addRoute("203.0.113.7", kind: .blackhole)
    #expect(try trace(in: labs[0], upTo: 100) == (false, .silent))
  }

  /// The target behind the first router resets the connection: that might be the router itself.
  @Test func aResetLeadsOnButNotBeyond() async throws {
    let labs = try await row(of: 2)
    try labs[2].addAddress("203.0.113.7/32", "lo")
    #expect(try trace(in: labs[0]) == (false, .leadsOn(Self.far)))
    // Where questions are refused, it says that connections are, too.
    #expect(try trace(in: labs[0], areRefused: true).1 == .silent)
  }

  /// RFC 792: the first router has no way to it.
  @Test func aRefusalIsTold() async throws {
    let labs = try await row(of: 1)
    try labs[1].addRoute("203.0.113.7", kind: .unreachable)
    #expect(try trace(in: labs[0]) == (false, .refused(NetworkStatement(.hostUnreachable, by: Self.server))))
  }
}
#endif
