// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// What follows from what the kernel knows.
struct KernelEvidenceTests {
  private let gateway = ip("192.0.2.1")
  private let target = ip("198.51.100.1")

  private func evidence(
    _ state: Reachability = Reachability(status: .unreachable, reason: .noAddress),
    _ change: (inout KernelEvidence) -> Void = { _ in }
  ) -> KernelEvidence {
    var evidence = KernelEvidence(target: target, state: state)
    change(&evidence)
    return evidence
  }

  // MARK: Addresses

  @Test(arguments: [
    ("192.0.2.2", 24, "192.0.2.200", true), ("192.0.2.2", 24, "192.0.3.2", false), ("192.0.2.2", 32, "192.0.2.2", true),
    ("192.0.2.2", 32, "192.0.2.3", false), ("192.0.2.2", 0, "203.0.113.1", true),
    ("192.0.2.2", 0, "2001:db8::1", false),
    ("2001:db8::1", 64, "2001:db8::ffff", true), ("2001:db8::1", 64, "2001:db8:0:1::1", false),
    ("::", 0, "0.0.0.0", false),
  ])
  func anAddressHasANetwork(text: String, length: Int, other: String, isInside: Bool) {
    let address = KernelEvidence.AddressFacts(address: ip(text), prefixLength: length)
    #expect(address.isInNetwork(of: ip(other)) == isInside)
  }

  @Test func onlySomeAddressesServeForOtherNetworks() {
    func isUsable(_ text: String, _ change: (inout KernelEvidence.AddressFacts) -> Void = { _ in }) -> Bool {
      var address = KernelEvidence.AddressFacts(address: ip(text))
      change(&address)
      return address.isUsable
    }
    #expect(isUsable("192.0.2.2") && isUsable("2001:db8::2"))
    #expect(isUsable("192.0.2.2") { $0.isDeprecated = true } && isUsable("192.0.2.2") { $0.validFor = 1 })
    #expect(!isUsable("192.0.2.2") { $0.isTentative = true } && !isUsable("192.0.2.2") { $0.isDuplicate = true })
    #expect(!isUsable("169.254.1.1") && !isUsable("fe80::1") && !isUsable("127.0.0.1") && !isUsable("::1"))
  }

  // MARK: The way

  @Test func packetsLeaveByWhatIsReachableAndByADormantLinkWithARoute() {
    let route = KernelEvidence.RouteFacts()
    #expect(evidence(Reachability(status: .reachable)).sendsPackets)
    let dormant = Reachability(status: .requiresConnection, reason: .dormant)
    #expect(evidence(dormant) { $0.route = route }.sendsPackets && !evidence(dormant).sendsPackets)
    #expect(!evidence { $0.route = route }.sendsPackets && !evidence().sendsPackets)
  }

  @Test func theGatewayIsTheStatesOrThatOfTheRouteThatIsUsed() {
    let route = KernelEvidence.RouteFacts(hops: [.init(gateway: gateway, link: "eth0"), .init(link: "eth1")])
    let dormant = Reachability(status: .requiresConnection, reason: .dormant)
    #expect(evidence(dormant) { $0.route = route }.gateway == gateway)
    #expect(evidence { $0.route = route }.gateway == nil, "nothing is sent")
    let other = ip("192.0.2.254")
    let reachable = Reachability(status: .reachable, gateway: other)
    #expect(evidence(reachable) { $0.route = route }.gateway == other)
    #expect(evidence(Reachability(status: .reachable)).gateway == nil)
  }

  /// Default routes without a router lead to neighbours, and nobody but the link's own hosts answers there.
  @Test func aRouterIsMissingIfTheDefaultRouteNamesNone() {
    func isMissing(
      length: Int = 0, type: RouteType = .unicast, isGateway: Bool = false, isResolved: Bool = true
    ) -> Bool {
      evidence {
        $0.route = .init(type: type, prefixLength: length)
        $0.neighbour = .init(address: target, link: "eth0", state: nil, isGateway: isGateway, isResolved: isResolved)
      }.isRouterMissing
    }
    #expect(isMissing())
    #expect(!isMissing(length: 1) && !isMissing(type: .local) && !isMissing(isGateway: true))
    #expect(!isMissing(isResolved: false))
    let neighbour = KernelEvidence.NeighbourFacts(address: target, link: "eth0", state: nil, isGateway: false)
    #expect(!evidence { $0.neighbour = neighbour }.isRouterMissing && !evidence { $0.route = .init() }.isRouterMissing)
  }

  @Test func aNeighbourWasThereIfTheKernelSaysSo() {
    func wasThere(_ state: NeighbourState?) -> Bool {
      evidence { $0.neighbour = .init(address: gateway, link: "eth0", state: state) }.wasNeighbourThere
    }
    #expect(wasThere(.reachable) && wasThere([.reachable, .permanent]))
    for state in [nil, NeighbourState.stale, .delay, .probe, .failed, .incomplete, .noARP] { #expect(!wasThere(state)) }
    #expect(!evidence().wasNeighbourThere)
  }

  /// Those that work, without ports of bridges; if a program manages some, only these.
  @Test func linksThatShouldHaveAnAddress() {
    typealias Link = KernelEvidence.LinkFacts
    let plain = Link(name: "eth0")
    let managed = Link(name: "eth1", index: 3, manager: .networkd)
    let port = Link(name: "eth2", index: 4, manager: .networkd, bridge: "br0")
    let idle = Link(name: "eth3", index: 5, isOperating: false, manager: .networkd)
    func names(_ links: [Link], _ change: (inout KernelEvidence) -> Void = { _ in }) -> [String] {
      evidence {
        $0.links = links
        change(&$0)
      }.candidates.map(\.name)
    }
    #expect(names([plain, port, idle]) == ["eth0"] && names([plain, managed, port, idle]) == ["eth1"])
    #expect(names([port, idle]).isEmpty)
    // Something tells which.
    #expect(names([plain]) { $0.askedInterface = "eth0" }.isEmpty && names([plain]) { $0.route = .init() }.isEmpty)
    #expect(names([plain]) { $0.addresses = [.init(address: ip("192.0.2.2"))] }.isEmpty)
    #expect(names([plain]) { $0.state.interface = interface("eth0") }.isEmpty)
  }

  @Test func whatIsMadeByHandIsAsPlainAsCanBe() {
    let link = KernelEvidence.LinkFacts(name: "eth0")
    #expect(link.index == 2 && link.kind == .wired && link.isUp && link.isOperating && link.mtu == 1_500)
    #expect(KernelEvidence.RouteFacts().table == 254, "main")
    let address = KernelEvidence.AddressFacts(address: gateway)
    #expect(address.prefixLength == 24 && address.link == 2 && !address.isTentative && !address.isDeprecated)
    #expect(evidence().isLoopbackUp && evidence().isTrailComplete)
    #expect(!KernelEvidence.RuleFacts(priority: 0, text: "").refuses)
  }

  // MARK: Findings

  private static let address = ip("192.0.2.1")
  private static let faults: [KernelFinding.Result] = [
    .link(.fails("eth0", .noCarrier, isNamed: true)), .link(.missing(nil)), .link(.missing("eth7")),
    .link(.loopbackDown), .link(.denied), .address(.missing), .address(.linkLocal(address)),
    .address(.tentative(address)), .address(.duplicate(address)), .rule(.refuses(priority: 7, isProven: false)),
    .route(.missing), .route(.refuses(.prohibited)), .route(.unexplained(.blackhole)), .route(.dead),
    .source(.missing), .source(.refused(.prohibited)),
    .neighbour(.silent(address, isGateway: true, wasProbed: false)),
    .neighbour(.stopped(address, isGateway: true, hasLeft: false)),
  ]
  private static let others: [KernelFinding.Result] = [
    .link(.works("eth0")), .link(.failsAmongOthers("eth0", .noCarrier)), .link(.loopback), .link(.unclear),
    .address(.works(address)),
    .address(.deprecated(address)), .address(.notNeeded), .address(.onPort(address, bridge: "br0")),
    .rule(.passes(priority: 0)), .rule(.none), .rule(.unknown), .route(.leads(gateway: nil, interface: nil)),
    .source(.address(address)), .source(.foreign(address, interface: "eth0")),
    .source(.otherNetwork(address, gateway: address)), .source(.unknown),
    .neighbour(.answers(address, isGateway: true)), .neighbour(.answered(address, isGateway: true)),
    .neighbour(.asked(address, isGateway: true)),
    .neighbour(.unknown(address, isGateway: true)), .neighbour(.notAsked), .neighbour(.none),
  ]

  @Test func aFindingIsAFaultIfItStopsPackets() {
    for result in Self.faults {
      let finding = KernelFinding(result, target: target)
      #expect(finding.isFault && finding.stopsPackets, "\(result)")
    }
    for result in Self.others {
      let finding = KernelFinding(result, target: target)
      #expect(!finding.isFault && !finding.stopsPackets, "\(result)")
    }
    // What is sent to a dormant link goes out (RFC 2863).
    let dormant = KernelFinding(.link(.fails("wlan0", .dormant, isNamed: true)), target: target)
    #expect(dormant.isFault && !dormant.stopsPackets)
  }
}
