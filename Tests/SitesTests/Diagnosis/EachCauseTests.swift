// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneDiagnosis
import DialtoneSites
import TestSupport
import Testing

@Test func eachCauseFollowsFromItsFindings() async throws {
  let host = IPAddress("198.51.100.7")!
  let (router, server) = (IPAddress("192.0.2.1")!, IPAddress("192.0.2.53")!)
  let (host6, router6) = (IPAddress("2001:db8::7")!, IPAddress("2001:db8:1::1")!)

  func way(_ result: KernelFinding.Result, to target: IPAddress = host) -> Finding {
    .kernel(KernelFinding(result, target: target))
  }
  func connection(_ tries: ConnectionFinding.Outcome..., to target: IPAddress = host) -> Finding {
    .connection(ConnectionFinding(target.family, [.init(target, port: 443, tries: tries)]))
  }
  func name(_ reply: NameFinding.Reply, control: NameFinding.Reply? = nil) -> Finding {
    .name(NameFinding(name: "example.com", servers: [.init(server, ipv4: reply, control: control)], addresses: [host]))
  }
  func beyond(_ outcome: BeyondFinding.Outcome, trace: BeyondFinding.Trace? = nil) -> Finding {
    .beyond(BeyondFinding([.init(IPAddress("198.41.0.4")!, outcome)], trace: trace))
  }
  func site(_ kind: SiteVerdict.Kind, status: Int? = nil, clock: SiteFinding.Clock? = nil, error: SiteError.Code? = nil)
    -> Finding
  {
    let error = error.map { SiteError($0, "it failed") }
    return .site(
      SiteFinding(SiteVerdict(url: "https://example.com/", kind: kind, status: status, error: error), clock: clock))
  }
  func proxy(_ outcome: ProxyFinding.Outcome) -> Finding {
    .proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.8:3128", outcome))
  }

  let works = [
    way(.link(.works("eth0"))), way(.route(.leads(gateway: router, interface: "eth0"))),
    way(.neighbour(.answers(router, isGateway: true))),
  ]
  let works6 = [
    way(.link(.works("eth0")), to: host6), way(.route(.leads(gateway: router6, interface: "eth0")), to: host6),
    way(.neighbour(.answers(router6, isGateway: true)), to: host6),
  ]
  let connected = connection(.accepted(milliseconds: 3))
  let clock = SiteFinding.Clock(now: 0, lastChange: 1_700_000_000)  // of 1970, and yet a file is of 2023
  let refusal = SiteError(.cannotConnect, "connection refused")
  let addresses = ConnectionFinding(
    .ipv4, [.init(host, port: 443, .accepted(milliseconds: 3)), .init(IPAddress("198.51.100.8")!, port: 443, .silent)])
  let hosts = NameFinding(name: "example.com", source: .hosts, addresses: [IPAddress("0.0.0.0")!])
  let tunnel = TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: .unknown)

  let causes: [(DiagnosisCause?, DiagnosisGoal, [Finding])] = [
    // This machine and its link.
    (.noInterface, .host, [way(.link(.missing("eth9")))]),
    (.linkDown, .host, [way(.link(.fails("eth0", .linkDown, isNamed: true)))]),
    (.noCarrier, .host, [way(.link(.fails("eth0", .noCarrier, isNamed: true)))]),
    (.dormant, .host, [way(.link(.fails("wlan0", .dormant, isNamed: true)))]),
    (.radioBlocked, .host, [way(.link(.fails("wlan0", .radioBlocked, isNamed: true)))]),
    (.noSession, .host, [way(.link(.fails("wwan0", .noSession, isNamed: true)))]),
    (.loopbackDown, .host, [way(.link(.loopbackDown))]),
    (.denied, .host, [way(.link(.denied))]),
    (.noAddress, .host, [way(.address(.missing))]),
    (.duplicateAddress, .host, [way(.address(.duplicate(host)))]),
    (.ruleRefuses, .host, [way(.rule(.refuses(priority: 100, isProven: true)))]),
    (.noRoute, .host, [way(.route(.missing))]),
    (.routeRefuses, .host, [way(.route(.refuses(.prohibited)))]),
    (.routeDead, .host, [way(.route(.dead))]),
    (.localFirewall, .host, [way(.neighbour(.stopped(router, isGateway: true, hasLeft: false)))]),
    // The router, and what is beyond it.
    (.gatewaySilent, .host, [way(.neighbour(.silent(router, isGateway: true, wasProbed: true)))]),
    (.hostAbsent, .host, works + [connection(.refused(NetworkStatement(.hostUnreachable, by: router)))]),
    (.routerNoRoute, .internet, works + [beyond(.refused(NetworkStatement(.networkUnreachable, by: router)))]),
    (.uplinkDown, .internet, works + [beyond(.silent, trace: .silent)]),
    (.routingLoop, .host, works + [connection(.refused(NetworkStatement(.lifetimeEnded, by: router)))]),
    (.captivePortal, .internet, works + [beyond(.silent), .portal(PortalFinding(status: 302))]),
    (.tunnelSilent, .internet, works + [beyond(.silent, trace: .silent), .tunnel(tunnel)]),
    // Names.
    (.nameServerSilent, .host, works + [name(.silent), beyond(.answer)]),
    (.nameServerRefuses, .host, works + [name(.answer(.refused, []))]),
    (.nameUnknown, .host, works + [name(.answer(.nameError, []))]),
    (.nameHijacked, .host, works + [name(.answer(.success, [host]), control: .answer(.success, [host])), connected]),
    (.nameWrong, .host, works + [.name(hosts), connection(.reset)]),
    // Connections.
    (.refused, .host, works + [connection(.reset)]),
    (.prohibited, .host, works + [connection(.refused(NetworkStatement(.prohibited, by: router)))]),
    (.silent, .host, works + [connection(.silent), beyond(.answer)]),
    (.unreliable, .host, works + [connection(.silent, .accepted(milliseconds: 3))]),
    (.addressDead, .host, works + [.connection(addresses)]),
    (.familyBroken, .host, works + works6 + [connected, connection(.silent, to: host6)]),
    (.pathMTU, .host, works + [connected, .largePackets(LargePacketsFinding(.ipv4, .vanished))]),
    // The site and the proxy.
    (.tlsCertificate, .site, works + [connected, site(.intercepted, error: .certificateNameMismatch)]),
    (.clockWrong, .site, works + [connected, site(.intercepted, clock: clock, error: .certificateExpired)]),
    (.siteFault, .site, works + [connected, site(.available, status: 503)]),
    (.proxyUnreachable, .site, works + [proxy(.unreachable(refusal))]),
    (.proxyRefuses, .site, works + [proxy(.refuses(refusal))]),
    // Nothing is wrong.
    (nil, .host, works + [connected]),
    (nil, .internet, works + [beyond(.answer)]),
    (nil, .site, works + [connected, site(.available, status: 200)]),
  ]

  for (cause, goal, findings) in causes {
    let verdict = DiagnosisVerdict(of: "example.com", goal: goal, findings: findings)
    #expect(verdict.cause == cause, "\(verdict)")
    // The same, played to code that takes a diagnosis.
    let script = ScriptedEvidence(findings)
    let diagnosis =
      switch goal {
      case .internet: Diagnosis(environment: script)
      case .site: Diagnosis(of: "https://198.51.100.7/" as SiteURL, environment: script)
      case .host: Diagnosis(of: .address(host), environment: script)
      }
    #expect(try await diagnosis.verdict().cause == cause)
  }
  #expect(Set(causes.compactMap(\.0)) == Set(DiagnosisCause.all))
}

/// What the page says is what was tried.
@Test func thePageShowsTheTestOfEachCause() throws {
  let test = try sourceText("Tests/SitesTests/Diagnosis/EachCauseTests.swift")
  let page = try sourceText("Sources/DialtoneDiagnosis/DialtoneDiagnosis.docc/EachCauseInATest.md")
  let begin = try #require(test.firstRange(of: "@Test")).lowerBound
  let end = try #require(test.firstRange(of: "\n\n/// What the page")).lowerBound
  #expect(page.contains(test[begin..<end]))
}
