// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The rules that make findings of what the kernel knows, on evidence made by hand.
struct KernelFindingsTests {
  typealias Evidence = KernelEvidence

  private static let target = IPAddress(ipv4: 0xC633_640A)  // 198.51.100.10
  private static let own = IPAddress(ipv4: 0xC000_0202)  // 192.0.2.2
  private static let gateway = IPAddress(ipv4: 0xC000_0201)  // 192.0.2.1
  private static let interface = NetworkInterface(name: "eth0", index: 2, kind: .wired)

  /// Everything works.
  static var working: Evidence {
    let link = Evidence.LinkFacts(name: "eth0")
    let hop = Evidence.HopFacts(gateway: gateway, link: "eth0")
    return Evidence(
      target: target,
      state: Reachability(
        status: .reachable, flags: .reachable, interface: interface, source: own, gateway: gateway,
        destination: target),
      links: [link], link: link, addresses: [Evidence.AddressFacts(address: own)],
      rule: Evidence.RuleFacts(priority: 32_766, text: "from all lookup main"),
      route: Evidence.RouteFacts(hops: [hop]),
      neighbour: Evidence.NeighbourFacts(address: gateway, link: "eth0", state: .reachable))
  }

  static func unreachable(_ reason: Reachability.Reason, change: (inout Evidence) -> Void = { _ in }) -> Evidence {
    var evidence = working
    evidence.state = Reachability(status: .unreachable, destination: target, reason: reason)
    evidence.neighbour = nil
    change(&evidence)
    return evidence
  }

  @Test func findsNoFaultWhereNothingIsWrong() {
    let found = KernelFindings.findings(Self.working)
    #expect(
      found.map(\.result) == [
        .link(.works("eth0")), .address(.works(Self.own)), .rule(.passes(priority: 32_766)),
        .route(.leads(gateway: Self.gateway, interface: "eth0")), .source(.address(Self.own)),
        .neighbour(.answers(Self.gateway, isGateway: true)),
      ])
    #expect(found.allSatisfy { !$0.isFault && $0.target == Self.target })
  }

  /// The kernel chooses a source without telling it, as for IPv4's first lookup.
  @Test func aSourceThatIsNotToldIsNoFault() {
    var evidence = Self.working
    evidence.state.source = nil
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.source(.unknown)))
    // Nor is the reason why it might not stay reachable.
    evidence.state = Reachability(status: .requiresConnection, reason: .noSession)
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.source(.refused(.noSession))))
  }

  @Test(
    "a link that carries nothing is the last finding, with its own reason",
    arguments: [Reachability.Reason.linkDown, .noCarrier, .radioBlocked, .noSession])
  func aLinkIsTheFault(reason: Reachability.Reason) {
    let found = KernelFindings.findings(
      Self.unreachable(reason) { evidence in
        evidence.links[0].isOperating = false
        evidence.links[0].reason = reason
        evidence.link = evidence.links[0]
      })
    #expect(found.map(\.result) == [.link(.fails("eth0", reason, isNamed: true))])
    #expect(found.allSatisfy { $0.isFault })
  }

  /// The kernel leaves a dormant link to others (RFC 2863; 802.1X), and sends on it.
  @Test func whatLiesBehindADormantLinkIsFoundOut() {
    var evidence = Self.working
    evidence.state = Reachability(status: .requiresConnection, reason: .dormant)
    evidence.links[0].isOperating = false
    evidence.links[0].reason = .dormant
    evidence.link = evidence.links[0]
    let found = KernelFindings.findings(evidence)
    #expect(found.first?.result == .link(.fails("eth0", .dormant, isNamed: true)))
    #expect(found.last?.result == .neighbour(.answers(Self.gateway, isGateway: true)))
    #expect(found.filter(\.isFault).count == 1 && !found.contains(where: \.stopsPackets))
    evidence.route = nil
    #expect(KernelFindings.findings(evidence).last?.result == .route(.missing))
  }

  @Test("the first fault is the last finding, in the order of a packet's way", arguments: Self.faults)
  func theFirstFaultIsFound(row: Row) {
    let found = KernelFindings.findings(row.evidence)
    #expect(found.last?.result == row.result, "\(found.map(\.result))")
    #expect(found.filter(\.isFault).count == 1)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let result: KernelFinding.Result
    let evidence: Evidence
  }

  static let faults: [Row] = [
    Row(
      testDescription: "no interface", result: .link(.missing(nil)),
      evidence: unreachable(.noRoute) {
        $0.links = []
        $0.link = nil
      }),
    Row(
      testDescription: "another interface is asked for", result: .link(.missing("eth7")),
      evidence: unreachable(.noInterface) {
        $0.askedInterface = "eth7"
        $0.link = nil
      }),
    Row(
      testDescription: "loopback", result: .link(.loopbackDown),
      evidence: unreachable(.linkDown) {
        $0.target = IPAddress(ipv4: 0x7F00_0001)
        $0.isLoopbackUp = false
      }),
    Row(
      testDescription: "netlink is refused", result: .link(.denied), evidence: unreachable(.denied)),
    Row(
      testDescription: "no address", result: .address(.missing),
      evidence: unreachable(.noRoute) { $0.addresses = [] }),
    Row(
      testDescription: "a link-local address", result: .address(.linkLocal(IPAddress(ipv4: 0xA9FE_0707))),
      evidence: unreachable(.noRoute) { $0.addresses = [.init(address: IPAddress(ipv4: 0xA9FE_0707))] }),
    Row(
      testDescription: "a tentative address", result: .address(.tentative(own)),
      evidence: unreachable(.noAddress) { $0.addresses[0].isTentative = true }),
    Row(
      testDescription: "a duplicate address", result: .address(.duplicate(own)),
      evidence: unreachable(.noAddress) { $0.addresses[0].isDuplicate = true }),
    Row(
      testDescription: "a rule", result: .rule(.refuses(priority: 100, isProven: true)),
      evidence: unreachable(.prohibited) {
        $0.rule = Evidence.RuleFacts(priority: 100, text: "from all prohibit", refuses: true)
        $0.route = nil
      }),
    Row(
      testDescription: "no route", result: .route(.missing),
      evidence: unreachable(.noRoute) {
        $0.route = nil
        $0.rule = nil
      }),
    Row(
      testDescription: "a route of type blackhole", result: .route(.refuses(.blackhole)),
      evidence: unreachable(.blackhole) { $0.route?.type = .blackhole }),
    Row(
      testDescription: "several dead hops", result: .route(.dead),
      evidence: unreachable(.noCarrier) {
        $0.route?.hops = [
          Evidence.HopFacts(gateway: gateway, link: "eth0", reason: .noCarrier),
          Evidence.HopFacts(gateway: gateway, link: "w0", reason: .linkDown),
        ]
      }),
    Row(
      testDescription: "connect(2) is refused although a route leads there", result: .source(.refused(.prohibited)),
      evidence: unreachable(.prohibited)),
    Row(
      testDescription: "a route, and no address to send from", result: .source(.missing),
      evidence: unreachable(.noAddress) {
        $0.target = IPAddress(IPAddressBits(ipv6High: 0xFE80_0000_0000_0000, low: 7))
      }),
  ]

  /// A host sends from any of its addresses (RFC 1122, 3.3.4.2): who else has a way back is not known.
  @Test func aSourceMayBelongToAnotherInterface() {
    var evidence = Self.working
    let other = IPAddress(ipv4: 0xC000_0309)
    evidence.links.append(Evidence.LinkFacts(name: "w0", index: 3))
    evidence.addresses.append(Evidence.AddressFacts(address: other, link: 3))
    evidence.state.source = other
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.source(.foreign(other, interface: "w0"))))
    evidence.state.source = Self.own
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.source(.address(Self.own))))
  }

  /// Of two addresses of a link, the one that is in the gateway's network is known there.
  @Test func aSourceMayBeOfAnotherNetworkThanTheGateway() throws {
    var evidence = Self.working
    let gateway = try #require(evidence.gateway)
    let other = IPAddress(ipv4: 0x0A14_0032)
    evidence.addresses.append(Evidence.AddressFacts(address: other, prefixLength: 24))
    evidence.state.source = other
    #expect(
      KernelFindings.findings(evidence).map(\.result).contains(.source(.otherNetwork(other, gateway: gateway))))
    // Where no address is in it, the network has another router, or was typed wrongly.
    evidence.addresses.removeAll { $0.address == Self.own }
    #expect(
      KernelFindings.findings(evidence).map(\.result).contains(.source(.otherNetwork(other, gateway: gateway))))
    // Hosters give one address by itself.
    evidence.addresses.removeAll { $0.address == other }
    evidence.addresses.append(Evidence.AddressFacts(address: other, prefixLength: 32))
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.source(.address(other))))
  }

  @Test func theAddressOfABridgesPortIsNone() {
    var evidence = Self.working
    evidence.link?.bridge = "br0"
    #expect(KernelFindings.findings(evidence).map(\.result).contains(.address(.onPort(Self.own, bridge: "br0"))))
  }

  /// A route of the table local leads to this machine, whatever the address looks like.
  @Test func aLocalRouteLeadsToThisMachine() {
    var evidence = Self.working
    evidence.route?.type = .local
    #expect(KernelFindings.findings(evidence).first?.result == .link(.loopback))
    evidence.isLoopbackUp = false
    #expect(KernelFindings.findings(evidence).map(\.result) == [.link(.loopbackDown)])
  }

  /// ip-address(8): without its address, lo has no local route, and the default route takes what is for it.
  @Test func aLoopbackAddressMayBeLost() {
    let working = Self.working
    var evidence = Evidence(
      target: IPAddress(ipv4: 0x7F00_0001), state: working.state, links: working.links, link: working.link,
      addresses: working.addresses, route: working.route)
    func results() -> [KernelFinding.Result] { KernelFindings.findings(evidence).map(\.result) }
    #expect(results() == [.link(.loopback), .address(.missing)])
    evidence.state = Reachability(status: .undetermined)
    #expect(results()[1] == .address(.notNeeded))
    evidence.state = Reachability(status: .reachable, flags: [.reachable, .isLocalAddress])
    #expect(results()[1] == .address(.notNeeded))
    evidence.isLoopbackUp = false
    #expect(results() == [.link(.loopbackDown)])
    // ip-rule(8), ip-route(8): a rule refuses 127/8, or the address is the broadcast one of lo.
    (evidence.isLoopbackUp, evidence.state) = (true, Reachability(status: .unreachable, reason: .prohibited))
    evidence.rule = Evidence.RuleFacts(priority: 7, text: "to 127.0.0.0/8 prohibit", refuses: true)
    #expect(results() == [.link(.loopback), .address(.notNeeded), .rule(.refuses(priority: 7, isProven: true))])
    evidence.rule = nil
    evidence.route?.type = .broadcast
    evidence.state = Reachability(status: .unreachable, reason: .noAddress)
    #expect(results()[1] == .address(.notNeeded) && results().last == .neighbour(.none))
    #expect(KernelFindings.findings(evidence).allSatisfy { !$0.isFault })
  }

  /// An object of next hops stands for one that is not told, or for several.
  @Test func anObjectOfDeadHopsIsDead() {
    let evidence = Self.unreachable(.noCarrier) {
      $0.route?.nexthopID = 7
      $0.route?.hops = [Evidence.HopFacts(gateway: Self.gateway, link: "eth0", reason: .noCarrier)]
    }
    #expect(KernelFindings.findings(evidence).last?.result == .route(.dead))
    let link = Self.unreachable(.noCarrier) {
      $0.route?.nexthopID = 7
      $0.route?.hops = [Evidence.HopFacts(gateway: Self.gateway, link: "eth0", reason: .noCarrier)]
      $0.links[0].isOperating = false
      $0.links[0].reason = .noCarrier
      $0.link = $0.links[0]
    }
    #expect(KernelFindings.findings(link).first?.result == .link(.failsAmongOthers("eth0", .noCarrier)))
  }

  @Test(
    "a gateway is judged by the kernel's entry and by its own answer",
    arguments: [
      (NeighbourState.reachable, false, KernelFinding.Neighbour.answers(gateway, isGateway: true)),
      (.permanent, false, .answers(gateway, isGateway: true)),
      (.failed, false, .silent(gateway, isGateway: true, wasProbed: true)),
      (.failed, true, .answers(gateway, isGateway: true)), (.stale, false, .answered(gateway, isGateway: true)),
      (.incomplete, false, .asked(gateway, isGateway: true)),
    ])
  func aGatewayIsJudged(state: NeighbourState, hasAnswered: Bool, result: KernelFinding.Neighbour) {
    let found = KernelFindings.neighbour(
      Evidence.NeighbourFacts(address: Self.gateway, link: "eth0", state: state), wasProbed: true,
      hasAnswered: hasAnswered)
    #expect(found == result)
  }

  /// The kernel sends from an address of 169.254/16 to a router that translates it: that is no fault.
  @Test func aLinkLocalAddressServesWithARouter() {
    let linkLocal = IPAddress(ipv4: 0xA9FE_0707)
    func result(_ gateway: IPAddress?) -> KernelFinding.Result {
      var evidence = Self.working
      evidence.addresses = [Evidence.AddressFacts(address: linkLocal)]
      evidence.state = Reachability(
        status: .reachable, flags: .reachable, interface: Self.interface, source: linkLocal, gateway: gateway,
        destination: Self.target)
      return KernelFindings.findings(evidence)[1].result
    }
    #expect(result(Self.gateway) == .address(.works(linkLocal)))
    #expect(result(nil) == .address(.linkLocal(linkLocal)))
  }

  @Test func theLoopbackInterfaceIsThere() {
    let found = KernelFindings.findings(
      Self.unreachable(.noRoute) { evidence in
        (evidence.askedInterface, evidence.link, evidence.route) = ("lo", nil, nil)
      })
    #expect(found.first?.result == .link(.loopback))
  }
}
