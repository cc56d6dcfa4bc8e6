// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Advice is a command that can be run, or an act that helps.
struct AdviceTests {
  private static let site = "https://site.example/"
  private static let host = IPAddress(ipv4: 0xCB00_710A)
  private static let host6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  private static let router = IPAddress(ipv4: 0xC000_0201)

  private static func evidence(_ target: IPAddress = host) -> KernelEvidence {
    let link = KernelEvidence.LinkFacts(name: "eth0")
    return KernelEvidence(
      target: target, state: Reachability(status: .unreachable, destination: target, reason: .noRoute), links: [link],
      link: link)
  }

  private static func verdict(_ result: KernelFinding.Result, _ evidence: KernelEvidence) -> DiagnosisVerdict {
    DiagnosisVerdict(of: site, goal: .site, findings: [.kernel(KernelFinding(result, evidence))])
  }

  /// ping(8) and traceroute(8) take hosts.
  @Test(arguments: DiagnosisRulesTests.rows)
  func programsThatTakeHostsGetNoURL(row: DiagnosisRulesTests.Row) {
    let verdict = DiagnosisVerdict(of: Self.site, goal: row.goal, findings: row.findings)
    for advice in ([verdict.advice] + verdict.steps.map(\.advice)).compactMap(\.self)
    where advice.contains("ping ") || advice.contains("traceroute ") {
      #expect(!advice.contains("://") && !advice.hasSuffix("internet"), "\(advice)")
    }
  }

  @Test(arguments: [(host, "ip "), (host6, "ip -6 ")])
  func aRouteThatNoRuleLeadsToIsNotAddedAgain(target: IPAddress, program: String) {
    var evidence = Self.evidence(target)
    let none = Self.verdict(.route(.missing), evidence)
    #expect(none.advice == "Add a route: \(program)route add default via ROUTER dev eth0")
    let hop = KernelEvidence.HopFacts(gateway: Self.router, link: "eth0")
    evidence.unusedRoute = KernelEvidence.RouteFacts(hops: [hop])
    let unused = Self.verdict(.route(.missing), evidence)
    #expect(unused.advice == "Have the table looked up: \(program)rule add lookup main")
    #expect(unused.summary.hasSuffix(": no rule leads to default via 192.0.2.1 dev eth0 (table main)."))
    evidence.unusedRoute = KernelEvidence.RouteFacts(type: .throw)
    #expect(Self.verdict(.route(.missing), evidence).advice == "See the route: \(program)route show type throw")
  }

  @Test(arguments: [(host, "ip "), (host6, "ip -6 ")])
  func aDefaultRouteWithoutARouterGetsOne(target: IPAddress, program: String) {
    var evidence = Self.evidence(target)
    evidence.route = KernelEvidence.RouteFacts(hops: [KernelEvidence.HopFacts(link: "eth0")])
    evidence.neighbour = KernelEvidence.NeighbourFacts(address: target, link: "eth0", state: .failed, isGateway: false)
    let verdict = Self.verdict(.neighbour(.silent(target, isGateway: false, wasProbed: true)), evidence)
    #expect(verdict.cause == .hostAbsent && verdict.summary.contains("names no router"))
    #expect(verdict.advice == "Name the router: \(program)route replace default via ROUTER dev eth0")
    // A network that the target is in needs none.
    evidence.route?.prefixLength = 24
    let near = Self.verdict(.neighbour(.silent(target, isGateway: false, wasProbed: true)), evidence)
    #expect(near.advice == "Switch the target on, or check its address.")
  }

  /// The kernel believes for a while that a neighbour is there (base_reachable_time_ms, arp(7)).
  @Test(arguments: [(NeighbourState.reachable, true), (.failed, false)])
  func aRouterThatWasThereIsNotSaidToBeOff(state: NeighbourState, wasThere: Bool) {
    var evidence = Self.evidence()
    evidence.neighbour = KernelEvidence.NeighbourFacts(address: Self.router, link: "eth0", state: state)
    let verdict = Self.verdict(.neighbour(.silent(Self.router, isGateway: true, wasProbed: true)), evidence)
    #expect(verdict.cause == .gatewaySilent)
    #expect(verdict.summary.contains("was there a moment ago") == wasThere)
    #expect(verdict.advice?.contains("another host has its address") == wasThere)
  }

  @Test func addressesAreWaitedForOrMoved() {
    var evidence = Self.evidence()
    #expect(Self.verdict(.address(.tentative(Self.host)), evidence).advice?.hasPrefix("Wait") == true)
    #expect(Self.verdict(.address(.missing), evidence).advice?.hasPrefix("Start a DHCP client on eth0") == true)
    // If nothing tells which of several links is meant, none is named alone; what is managed is.
    evidence.links = ["eth0", "eth1", "br0"].map { KernelEvidence.LinkFacts(name: $0) }
    evidence.links[2].isOperating = false
    let any = Self.verdict(.address(.missing), evidence)
    #expect(any.summary.contains("no IPv4 address on any of eth0, eth1"), "\(any)")
    #expect(any.advice?.contains("one of eth0, eth1") == true)
    evidence.links[1].manager = .networkd
    #expect(Self.verdict(.address(.missing), evidence).summary.contains("no IPv4 address on eth0"))
    evidence.link?.bridge = "br0"
    let port = Self.verdict(.address(.onPort(Self.host, bridge: "br0")), evidence)
    #expect(port.advice?.hasSuffix("ip address add ADDRESS dev br0") == true)
  }

  @Test func theMTUIsThatOfTheLink() {
    let link = Finding.kernel(KernelFinding(.link(.works("eth7")), target: Self.host))
    let findings = [link, .largePackets(LargePacketsFinding(.ipv4, .vanished))]
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: findings)
    #expect(verdict.cause == .pathMTU && verdict.advice?.hasSuffix("ip link set dev eth7 mtu 1280") == true)
  }

  /// A line of hosts(5) that is out of date is named beside what comes of it.
  @Test(arguments: [(NameFinding.Source.hosts, true), (.dns, false)])
  func anAddressOfTheHostsFileIsNamed(source: NameFinding.Source, isNamed: Bool) {
    let name = NameFinding(
      name: "site.example", source: source, servers: [.init(Self.router, ipv4: .answer(.success, [Self.host]))],
      addresses: [Self.host])
    let connection = ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(Self.host, port: 443, .reset)])
    let verdict = DiagnosisVerdict(of: Self.site, goal: .site, findings: [.name(name), .connection(connection)])
    #expect(verdict.cause == .refused && verdict.details.contains { $0.contains("/etc/hosts") } == isNamed)
  }
}
