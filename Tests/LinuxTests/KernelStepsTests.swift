// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import Netlink

/// The rules that make steps of what the kernel knows, on evidence made by hand.
struct KernelStepsTests {
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
      links: [link], link: link, addresses: [Evidence.AddressFacts(own)],
      rule: Evidence.RuleFacts(priority: 32_766, text: "from all lookup main"),
      route: Evidence.RouteFacts(hops: [hop]),
      neighbour: Evidence.NeighbourFacts(gateway, link: "eth0", state: .reachable))
  }

  static func unreachable(_ reason: Reachability.Reason, change: (inout Evidence) -> Void = { _ in }) -> Evidence {
    var evidence = working
    evidence.state = Reachability(status: .unreachable, destination: target, reason: reason)
    evidence.neighbour = nil
    change(&evidence)
    return evidence
  }

  @Test func findsNothingWhereNothingIsWrong() {
    let steps = KernelSteps.steps(Self.working)
    #expect(steps.map(\.kind) == [.link, .address, .rule, .route, .source])
    #expect(steps.allSatisfy { $0.outcome == .ok && $0.cause == nil })
  }

  @Test(
    "a link that carries nothing is the cause, for its own reason",
    arguments: [
      (Reachability.Reason.linkDown, DiagnosisCause.linkDown), (.noCarrier, .noCarrier), (.dormant, .dormant),
      (.radioBlocked, .radioBlocked), (.noSession, .noSession),
    ])
  func aLinkIsTheCause(reason: Reachability.Reason, cause: DiagnosisCause) throws {
    let steps = KernelSteps.steps(
      Self.unreachable(reason) { evidence in
        evidence.links[0].isOperating = false
        evidence.links[0].reason = reason
        evidence.link = evidence.links[0]
      })
    let fault = try #require(steps.first)
    #expect(fault.kind == .link && fault.outcome == .fault && fault.cause == cause && fault.confidence == .certain)
    #expect(fault.advice != nil)
    #expect(steps.dropFirst().allSatisfy { $0.outcome == .skipped })
  }

  @Test("the first fault is found, in the order of the steps", arguments: Self.faults)
  func theFirstFaultIsFound(row: Row) throws {
    let fault = try #require(KernelSteps.steps(row.evidence).first { $0.outcome == .fault })
    #expect(fault.kind == row.kind && fault.cause == row.cause, "\(fault)")
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: DiagnosisStep.Kind
    let cause: DiagnosisCause
    let evidence: Evidence
  }

  static let faults: [Row] = [
    Row(
      testDescription: "no interface", kind: .link, cause: .noInterface,
      evidence: unreachable(.noRoute) {
        $0.links = []
        $0.link = nil
      }),
    Row(
      testDescription: "another interface is asked for", kind: .link, cause: .noInterface,
      evidence: unreachable(.noInterface) {
        $0.askedInterface = "eth7"
        $0.link = nil
      }),
    Row(
      testDescription: "loopback", kind: .link, cause: .loopbackDown,
      evidence: unreachable(.linkDown) {
        $0.target = IPAddress(ipv4: 0x7F00_0001)
        $0.isLoopbackUp = false
      }),
    Row(
      testDescription: "netlink is refused", kind: .link, cause: .denied, evidence: unreachable(.denied)),
    Row(
      testDescription: "no address", kind: .address, cause: .noAddress,
      evidence: unreachable(.noRoute) { $0.addresses = [] }),
    Row(
      testDescription: "a link-local address", kind: .address, cause: .noAddress,
      evidence: unreachable(.noRoute) { $0.addresses = [Evidence.AddressFacts(IPAddress(ipv4: 0xA9FE_0707))] }),
    Row(
      testDescription: "a tentative address", kind: .address, cause: .noAddress,
      evidence: unreachable(.noAddress) { $0.addresses[0].isTentative = true }),
    Row(
      testDescription: "a duplicate address", kind: .address, cause: .duplicateAddress,
      evidence: unreachable(.noAddress) { $0.addresses[0].isDuplicate = true }),
    Row(
      testDescription: "a rule", kind: .rule, cause: .ruleRefuses,
      evidence: unreachable(.prohibited) {
        $0.rule = Evidence.RuleFacts(priority: 100, text: "from all prohibit", refuses: true)
        $0.route = nil
      }),
    Row(
      testDescription: "no route", kind: .route, cause: .noRoute,
      evidence: unreachable(.noRoute) {
        $0.route = nil
        $0.rule = nil
      }),
    Row(
      testDescription: "a route of type blackhole", kind: .route, cause: .routeRefuses,
      evidence: unreachable(.blackhole) { $0.route?.type = .blackhole }),
    Row(
      testDescription: "several dead hops", kind: .route, cause: .routeDead,
      evidence: unreachable(.noCarrier) {
        $0.route?.hops = [
          Evidence.HopFacts(gateway: gateway, link: "eth0", reason: .noCarrier),
          Evidence.HopFacts(gateway: gateway, link: "w0", reason: .linkDown),
        ]
      }),
  ]

  @Test func namesTheCommandOfTheProgramThatManagesTheLink() throws {
    let commands: [(LinkManager?, String)] = [
      (.networkManager, "nmcli"), (.networkd, "networkctl"), (.ifupdown, "ifup"), (nil, "ip link set"),
    ]
    for (manager, command) in commands {
      let link = Evidence.LinkFacts(name: "eth0", isUp: false, isOperating: false, manager: manager)
      let advice = try #require(DiagnosisAdvice.act(on: .linkDown, link: link))
      #expect(advice.hasPrefix(command) && advice.contains("eth0"))
    }
  }

  @Test(
    "a gateway is judged by the kernel's entry and by its own answer",
    arguments: [
      (NeighbourState.reachable, false, DiagnosisStep.Outcome.ok), (.permanent, false, .ok), (.failed, false, .fault),
      (.failed, true, .ok), (.stale, false, .ok), (.incomplete, false, .doubtful),
    ])
  func aGatewayIsJudged(state: NeighbourState, hasAnswered: Bool, outcome: DiagnosisStep.Outcome) {
    let step = NeighbourStep.step(
      Evidence.NeighbourFacts(Self.gateway, link: "eth0", state: state),
      NeighbourStep.Probe(wasSent: true, hasAnswered: hasAnswered), family: .ipv4)
    #expect(step.outcome == outcome)
    #expect(step.cause == (outcome == .fault ? .gatewaySilent : nil))
  }
}
