// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The rules of ``KernelFindings`` at their boundaries, on evidence made by hand: each row changes something of a way
/// that works, or of one that does not for a reason.
struct FindingBoundaryTests {
  typealias Evidence = KernelEvidence
  typealias Change = @Sendable (inout Evidence) -> Void

  private static let target = IPAddress(ipv4: 0xC633_640A)  // 198.51.100.10
  private static let own = IPAddress(ipv4: 0xC000_0202)  // 192.0.2.2
  private static let other = IPAddress(ipv4: 0x0A14_0032)  // 10.20.0.50
  private static let gateway = IPAddress(ipv4: 0xC000_0201)  // 192.0.2.1
  private static let linkLocal4 = IPAddress(ipv4: 0xA9FE_0707)
  private static let linkLocal6 = IPAddress(IPAddressBits(ipv6High: 0xFE80_0000_0000_0000, low: 7))
  private static let own6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 2))
  private static let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0007_0000, low: 1))

  private static func results(_ reason: Reachability.Reason? = nil, _ change: Change) -> [KernelFinding.Result] {
    var evidence = KernelFindingsTests.working
    if let reason { evidence = KernelFindingsTests.unreachable(reason) }
    change(&evidence)
    return KernelFindings.findings(evidence).map(\.result)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: Reachability.Reason?
    let result: KernelFinding.Result
    let change: Change

    init(
      _ testDescription: String, _ reason: Reachability.Reason?, _ result: KernelFinding.Result,
      _ change: @escaping Change
    ) {
      self.testDescription = testDescription
      self.reason = reason
      self.result = result
      self.change = change
    }

    init(_ testDescription: String, _ result: KernelFinding.Result, _ change: @escaping Change) {
      self.init(testDescription, nil, result, change)
    }
  }

  /// Makes the link carry nothing for a reason.
  private static func fail(_ evidence: inout Evidence, _ reason: Reachability.Reason) {
    evidence.links[0].isOperating = false
    evidence.links[0].reason = reason
    evidence.link = evidence.links[0]
  }

  // MARK: Link

  private static let second = Evidence.LinkFacts(name: "w0", index: 3, isOperating: false, reason: .noCarrier)

  private static let links: [Row] = [
    Row("an address of this machine", .link(.loopback)) { $0.state.flags = [.reachable, .isLocalAddress] },
    Row("127/8", .link(.loopback)) { $0.target = IPAddress(ipv4: 0x7F01_0203) },
    Row("lo is down", .link(.loopbackDown)) {
      $0.state.flags = [.reachable, .isLocalAddress]
      $0.isLoopbackUp = false
    },
    Row("lo is asked for, and down", .noInterface, .link(.loopbackDown)) {
      ($0.askedInterface, $0.link, $0.isLoopbackUp) = ("lo", nil, false)
    },
    Row("what is asked for is there", .link(.works("eth0"))) { $0.askedInterface = "eth0" },
    Row("a zone that is no interface", .noInterface, .link(.missing("eth9"))) {
      $0.target = IPAddress("fe80::9%eth9") ?? target
    },
    Row("no interface without a zone", .noInterface, .link(.missing(""))) { _ in },
    Row("two links of which one works", .noRoute, .link(.unclear)) {
      $0.links = [second, Evidence.LinkFacts(name: "eth1", index: 4)]
      $0.link = nil
    },
    Row("two links of which none works: the first, perhaps", .noRoute, .link(.fails("w0", .noCarrier, isNamed: false)))
    {
      $0.links = [second, Evidence.LinkFacts(name: "eth1", index: 4, isOperating: false, reason: .linkDown)]
      ($0.link, $0.route) = (nil, nil)
    },
    Row("one link, which does not work", .noRoute, .link(.fails("w0", .noCarrier, isNamed: true))) {
      $0.links = [second]
      ($0.link, $0.route) = (nil, nil)
    },
    Row("the reason points to the link", .noCarrier, .link(.fails("w0", .noCarrier, isNamed: true))) {
      $0.links = [second, second]
      ($0.link, $0.route) = (second, nil)
    },
    Row("the route points to the link", .noRoute, .link(.fails("w0", .noCarrier, isNamed: true))) {
      $0.links = [second, second]
      $0.link = second
    },
    Row("the link is asked for", .noRoute, .link(.fails("w0", .noCarrier, isNamed: true))) {
      $0.links = [second, second]
      ($0.link, $0.route, $0.askedInterface) = (second, nil, "w0")
    },
    Row("nothing points to the link", .noRoute, .link(.fails("w0", .noCarrier, isNamed: false))) {
      $0.links = [second, second]
      ($0.link, $0.route) = (second, nil)
    },
    Row("a reason that is none of a link's", .link(.works("eth0"))) { fail(&$0, .noRoute) },
    Row("a link that operates, whatever is said", .link(.works("eth0"))) {
      $0.links[0].reason = .noCarrier
      $0.link = $0.links[0]
    },
  ]

  @Test("what is found of the link", arguments: links)
  private func theLinkIsFound(row: Row) { #expect(Self.results(row.reason, row.change).first == row.result) }

  // MARK: Addresses

  private static let addresses: [Row] = [
    Row("this machine's", .address(.notNeeded)) { $0.state.flags = [.reachable, .isLocalAddress] },
    Row("link-local", .address(.notNeeded)) { $0.target = linkLocal6 },
    Row("the source is one of two", .address(.works(other))) {
      $0.addresses.append(Evidence.AddressFacts(address: other))
      $0.state.source = other
    },
    Row("without a source, one of the link", .address(.works(own))) {
      $0.addresses = [Evidence.AddressFacts(address: other, link: 3), Evidence.AddressFacts(address: own)]
      $0.state.source = nil
    },
    Row("without one of the link, the first", .address(.works(other))) {
      $0.addresses = [Evidence.AddressFacts(address: other, link: 3), Evidence.AddressFacts(address: gateway, link: 4)]
      $0.state.source = nil
    },
    Row("deprecated", .address(.deprecated(own))) { $0.addresses[0].isDeprecated = true },
    Row("of another link than the bridge's port", .address(.works(own))) {
      $0.link?.bridge = "br0"
      $0.addresses[0].link = 3
    },
    Row("one that works beside a duplicate", .address(.works(own))) {
      $0.addresses.insert(Evidence.AddressFacts(address: other, isDuplicate: true), at: 0)
    },
    Row("a duplicate before a tentative one", .noAddress, .address(.duplicate(other))) {
      $0.addresses = [
        Evidence.AddressFacts(address: own, isTentative: true),
        Evidence.AddressFacts(address: other, isDuplicate: true),
      ]
    },
    Row("a duplicate of another link does not count", .noAddress, .address(.missing)) {
      $0.addresses = [Evidence.AddressFacts(address: other, link: 3, isDuplicate: true)]
    },
    Row("a link-local address that is tentative", .noAddress, .address(.linkLocal(linkLocal6))) {
      $0.addresses = [Evidence.AddressFacts(address: linkLocal6, isTentative: true)]
    },
    Row("without a link, those of all links", .noRoute, .address(.tentative(other))) {
      $0.addresses = [Evidence.AddressFacts(address: other, link: 3, isTentative: true)]
      ($0.link, $0.links) = (nil, [second, Evidence.LinkFacts(name: "eth1", index: 4)])
    },
    Row("IPv6's link-local addresses are not translated", .address(.linkLocal(linkLocal6))) {
      $0.addresses = [Evidence.AddressFacts(address: linkLocal6)]
      $0.state.source = linkLocal6
    },
    Row("a link-local address that is not the source", .address(.linkLocal(linkLocal4))) {
      $0.addresses = [Evidence.AddressFacts(address: linkLocal4)]
    },
  ]

  @Test("what is found of the addresses", arguments: addresses)
  private func theAddressIsFound(row: Row) {
    let found = Self.results(row.reason, row.change)
    #expect(found.count > 1 && found.dropFirst().first == row.result, "\(found)")
  }

  // MARK: Rules, routes and sources

  private static let later: [Row] = [
    Row("no rule decided", .rule(.none)) { ($0.rule, $0.route) = (nil, nil) },
    Row("no rule is known for the route", .rule(.unknown)) { $0.rule = nil },
    Row("the rules were not followed to the end", .rule(.unknown)) {
      ($0.rule, $0.route, $0.isTrailComplete) = (nil, nil, false)
    },
    Row("a rule that would refuse, and packets leave", .rule(.passes(priority: 7))) {
      $0.rule = Evidence.RuleFacts(priority: 7, text: "", refuses: true)
    },
    Row("a rule that refuses is not proven", .prohibited, .rule(.refuses(priority: 7, isProven: false))) {
      $0.rule = Evidence.RuleFacts(priority: 7, text: "", refuses: true)
      $0.isTrailComplete = false
    },
    Row("a rule that does not refuse", .noRoute, .rule(.passes(priority: 32_766))) { _ in },
    Row("a route that prohibits", .prohibited, .route(.refuses(.prohibited))) { $0.route?.type = .prohibit },
    Row("an unreachable route", .unreachableRoute, .route(.refuses(.unreachableRoute))) {
      $0.route?.type = .unreachable
    },
    Row("a refusal that no route explains", .blackhole, .route(.unexplained(.blackhole))) { $0.route = nil },
    Row("a reason that is no refusal", .noAddress, .route(.missing)) {
      ($0.route, $0.target) = (nil, linkLocal6)
    },
    Row("one dead hop of a route that is unreachable", .noCarrier, .route(.dead)) {
      $0.route?.hops = [Evidence.HopFacts(gateway: gateway, link: "eth0", reason: .noCarrier)]
    },
    Row("one dead hop, but packets leave", .route(.leads(gateway: gateway, interface: "eth0"))) {
      $0.route?.hops[0].reason = .noCarrier
    },
    Row("two dead hops, and packets leave", .route(.dead)) {
      $0.route?.hops = [
        Evidence.HopFacts(link: "eth0", reason: .noCarrier), Evidence.HopFacts(link: "w0", reason: .noCarrier),
      ]
    },
    Row("of two hops one is dead", .route(.leads(gateway: nil, interface: "eth0"))) {
      $0.route?.hops = [Evidence.HopFacts(link: "eth0"), Evidence.HopFacts(link: "w0", reason: .noCarrier)]
    },
    Row("a source of lo", .source(.foreign(other, interface: "lo"))) {
      $0.addresses.append(Evidence.AddressFacts(address: other, link: 1))
      $0.state.source = other
    },
    Row("a source that is nobody's", .source(.address(other))) { $0.state.source = other },
    Row("an address by itself, and none in the gateway's network", .source(.address(other))) {
      $0.addresses = [Evidence.AddressFacts(address: other, prefixLength: 32)]
      $0.state.source = other
    },
    Row("an address by itself beside one in the network", .source(.otherNetwork(other, gateway: gateway))) {
      $0.addresses.append(Evidence.AddressFacts(address: other, prefixLength: 32))
      $0.state.source = other
    },
    Row("one in the network that is of no use", .source(.address(other))) {
      $0.addresses[0].isTentative = true
      $0.addresses.append(Evidence.AddressFacts(address: other, prefixLength: 32))
      $0.state.source = other
    },
    Row("one in the network on another link", .source(.address(other))) {
      $0.addresses[0].link = 3
      $0.addresses.append(Evidence.AddressFacts(address: other, prefixLength: 32))
      $0.state.source = other
    },
    Row("a network of 31 bits is not one address", .source(.otherNetwork(other, gateway: gateway))) {
      $0.addresses = [Evidence.AddressFacts(address: other, prefixLength: 31)]
      $0.state.source = other
    },
    Row("IPv6: an address by itself", .source(.address(own6))) {
      $0.addresses = [Evidence.AddressFacts(address: own6, prefixLength: 128)]
      ($0.state.source, $0.state.gateway) = (own6, router6)
    },
    Row("IPv6: a network, and a router of another", .source(.otherNetwork(own6, gateway: router6))) {
      $0.addresses = [Evidence.AddressFacts(address: own6, prefixLength: 64)]
      ($0.state.source, $0.state.gateway) = (own6, router6)
    },
    Row("IPv6: 32 bits hold both", .source(.address(own6))) {
      $0.addresses = [Evidence.AddressFacts(address: own6, prefixLength: 32)]
      ($0.state.source, $0.state.gateway) = (own6, router6)
    },
    Row("IPv6: routers have link-local addresses", .source(.address(own6))) {
      $0.addresses = [Evidence.AddressFacts(address: own6, prefixLength: 64)]
      ($0.state.source, $0.state.gateway) = (own6, linkLocal6)
    },
  ]

  @Test("what is found of rules, routes and sources", arguments: later)
  private func whatComesLaterIsFound(row: Row) {
    let found = Self.results(row.reason, row.change)
    #expect(found.contains(row.result), "\(found)")
  }

  // MARK: Neighbours

  @Test(
    "what is known of a neighbour",
    arguments: [
      (nil, true, false, .unknown(gateway, isGateway: false)), (.reachable, false, false, .notAsked),
      (nil, true, true, .answers(gateway, isGateway: false)),
      (.delay, true, false, .answered(gateway, isGateway: false)),
      (.probe, true, false, .answered(gateway, isGateway: false)),
      (.failed, true, false, .silent(gateway, isGateway: false, wasProbed: false)),
      (.noARP, true, false, .answered(gateway, isGateway: false)), (.incomplete, false, true, .notAsked),
    ] as [(NeighbourState?, Bool, Bool, KernelFinding.Neighbour)])
  func aNeighbourIsKnown(
    state: NeighbourState?, isResolved: Bool, hasAnswered: Bool, result: KernelFinding.Neighbour
  ) {
    let facts = Evidence.NeighbourFacts(
      address: Self.gateway, link: "eth0", state: state, isGateway: false, isResolved: isResolved)
    #expect(KernelFindings.neighbour(facts, hasAnswered: hasAnswered) == result)
    #expect(KernelFindings.neighbour(nil, hasAnswered: hasAnswered) == KernelFinding.Neighbour.none)
  }

  /// As ip-neighbour(8) prints them.
  @Test(
    arguments: [
      (0x01, "INCOMPLETE"), (0x02, "REACHABLE"), (0x04, "STALE"), (0x08, "DELAY"), (0x10, "PROBE"), (0x20, "FAILED"),
      (0x40, "NOARP"), (0x80, "PERMANENT"), (0, "NONE"),
    ] as [(UInt16, String)])
  func theStateOfANeighbourIsWorded(bits: UInt16, words: String) {
    #expect(NeighbourState(rawValue: bits).words == words)
  }
}
