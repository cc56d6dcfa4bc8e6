// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis
@testable import DialtoneSites

/// The rules about connections, exchanges, proxies and tunnels, on findings made by hand.
struct ConnectionRulesTests {
  private static let target = IPAddress(ipv4: 0xCB00_710A)
  private static let other = IPAddress(ipv4: 0xCB00_710B)
  private static let router = IPAddress(ipv4: 0xC000_0201)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cause: DiagnosisCause?
    let proof: DiagnosisProof.Witness?
    let finding: ConnectionFinding

    init(_ description: String, _ cause: DiagnosisCause?, _ finding: ConnectionFinding) {
      self.init(description, cause, nil, finding)
    }

    init(
      _ description: String, _ cause: DiagnosisCause?, _ proof: DiagnosisProof.Witness?, _ finding: ConnectionFinding
    ) {
      testDescription = description
      self.cause = cause
      self.proof = proof
      self.finding = finding
    }
  }

  private static let loopback = IPAddress(ipv4: 0x7F00_0001)
  private static let any = IPAddress(ipv4: 0)
  private static let any6 = IPAddress(IPAddressBits(ipv6High: 0, low: 0))

  private typealias Sight = ConnectionFinding.Sight

  /// This machine has reset a connection to an address of its own, and this listens on the port.
  private static func own(
    _ address: IPAddress, _ listeners: [IPAddress]?, _ change: (inout ConnectionFinding) -> Void = { _ in }
  ) -> ConnectionFinding {
    var finding = ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(address, port: 443, .reset)])
    finding.isOwn = true
    finding.listeners = listeners
    change(&finding)
    return finding
  }

  private static func finding(
    _ outcome: ConnectionFinding.Outcome, _ sight: ConnectionFinding.Sight? = nil,
    _ change: (inout ConnectionFinding) -> Void = { _ in }
  ) -> ConnectionFinding {
    var finding = ConnectionFinding(
      .ipv4, [ConnectionFinding.Attempt(target, port: 443, outcome, sight: sight)])
    finding.gateway = router
    change(&finding)
    return finding
  }

  private static func statement(
    _ meaning: NetworkStatement.Meaning, by sender: IPAddress = router, isOwn: Bool = false
  ) -> ConnectionFinding.Outcome {
    .refused(NetworkStatement(meaning, by: sender, isOwn: isOwn))
  }

  private static let rows: [Row] = [
    Row("connected", nil, finding(.accepted(milliseconds: 3))),
    // A reset can come from anybody on the way: never certain.
    Row("reset", .refused, finding(.reset)),
    Row("reset, seen", .refused, finding(.reset, Sight(hasLeft: true, hasReturned: true))),
    Row("nothing listens on a loopback address", .refused, .kernel, own(loopback, [])),
    // Packets to other addresses may be led elsewhere (DNAT), and what is not known proves nothing.
    Row("nothing listens on an address of this machine", .refused, own(target, [])),
    Row("whether something listens is not known", .refused, own(loopback, nil)),
    Row("a service listens at another address", .refused, own(target, [loopback])),
    Row("a service listens at IPv6's addresses", .refused, own(loopback, [any6])),
    // ip-route(8), type local: what is for an address of others comes back at once.
    Row(
      "nothing listens on an address that a route makes this machine's", .refused,
      own(target, []) { $0.attempts[0].sight = Sight(hasLeft: false, hasReturned: false) }),
    Row("a service listens there", .localFirewall, own(target, [target])),
    Row("a service listens everywhere", .localFirewall, own(target, [any])),
    // TCP itself says that by a reset (RFC 9293, 3.10.7.1).
    Row(
      "this machine says that its port cannot be reached", .localFirewall, .kernel,
      own(loopback, []) { $0.attempts[0].tries = [statement(.portUnreachable, by: loopback, isOwn: true)] }),
    Row("reset by this machine's firewall", .localFirewall, finding(.reset, Sight(hasLeft: true, hasReturned: false))),
    Row("never left", .localFirewall, finding(.silent, Sight(hasLeft: false, hasReturned: false))),
    Row(
      "never left, and netfilter says so", .localFirewall, .kernel,
      finding(.silent, Sight(hasLeft: false, hasReturned: false)) { $0.isDatagramForbidden = true }),
    Row("whether it left cannot be told", .silent, finding(.silent, Sight(hasLeft: nil))),
    Row("answers dropped", .localFirewall, finding(.silent, Sight(hasLeft: true, hasReturned: true))),
    Row(
      "answers by another link", .localFirewall,
      finding(.silent, Sight(hasLeft: true, hasReturned: true, otherWay: "eth1"))),
    Row("datagrams are forbidden", .localFirewall, finding(.silent) { $0.isDatagramForbidden = true }),
    Row("silent", .silent, finding(.silent, Sight(hasLeft: true, hasReturned: false))),
    Row("silent, unseen", .silent, finding(.silent)),
    // The first try that says something counts.
    Row(
      "silent once, then prohibited", .prohibited,
      finding(.silent) { $0.attempts[0].tries.append(statement(.prohibited)) }),
    Row("the router has gone", .gatewaySilent, finding(.silent) { $0.isNeighbourFailed = true }),
    Row(
      "this machine finds no router", .gatewaySilent,
      finding(statement(.hostUnreachable, by: target, isOwn: true)) { $0.isNeighbourFailed = true }),
    Row(
      "this machine finds no host on the link", .hostAbsent,
      finding(statement(.hostUnreachable, by: target, isOwn: true)) {
        ($0.gateway, $0.isNeighbourFailed) = (nil, true)
      }),
    Row("this machine prohibits", .localFirewall, finding(statement(.prohibited, isOwn: true))),
    Row("a router prohibits", .prohibited, finding(statement(.prohibited))),
    Row("a router has no way", .routerNoRoute, finding(statement(.networkUnreachable))),
    Row("a router finds no host", .hostAbsent, finding(statement(.hostUnreachable))),
    Row("packets go round in a circle", .routingLoop, finding(statement(.lifetimeEnded))),
    Row("the target's port is closed", .refused, finding(statement(.portUnreachable, by: target))),
    // The kernel does not tell connect(2) what netfilter made of the segment (tcp_connect, net/ipv4/tcp_output.c), but
    // what IPsec's policies did.
    Row("connect(2) is forbidden", .localFirewall, .kernel, finding(.failed(1))),
    Row(
      "connect(2) is forbidden, and there is a filter of calls", .denied,
      finding(.failed(1)) { $0.hasCallFilter = true }),
    Row("socket(2) is forbidden", .denied, finding(.failed(97))),
    // EACCES is the word of a routing rule, and of others: nobody proves it.
    Row("a rule that the kernel was not asked about", .ruleRefuses, finding(.failed(13))),
    Row("this machine has no way", .noRoute, finding(statement(.networkUnreachable, isOwn: true)) { $0.gateway = nil }),
    // nft(8), `reject with icmp net-unreachable`: the kernel knows a way by a router.
    Row("this machine's filter says so", .localFirewall, finding(statement(.networkUnreachable, isOwn: true))),
    // EADDRNOTAVAIL: no segment has left, and no firewall is to blame.
    Row("no port is left", nil, finding(.failed(99), Sight(hasLeft: false))),
    Row("a silent tunnel", .tunnelSilent, finding(.silent) { $0.tunnel = "wg0" }),
    Row(
      "a tunnel that works", .silent,
      finding(.silent) {
        $0.tunnel = "wg0"
        $0.hasTunnelAnswered = true
      }),
    Row("refused on any port", .refused, finding(.reset) { $0.isAnyPort = true }),
    Row(
      "one of two addresses is dead", .addressDead,
      finding(.accepted(milliseconds: 3)) {
        $0.attempts.append(ConnectionFinding.Attempt(other, port: 443, tries: [.silent, .silent, .silent]))
      }),
    Row(
      "it fails at one time, and not at another", .unreliable,
      finding(.reset) { $0.attempts[0].tries = [.reset, .accepted(milliseconds: 3), .reset] }),
  ]

  @Test("the cause follows from who answered, and how", arguments: rows)
  func theCauseFollows(row: Row) {
    let reading = ConnectionRules.read(row.finding)
    #expect(reading.charge?.cause == row.cause, "\(reading.meaning)")
    #expect(reading.charge?.proof?.witness == row.proof, "\(reading.meaning)")
  }

  @Test func aHurriedSilenceHasNoFault() {
    let reading = ConnectionRules.read(Self.finding(.silent) { $0.isHurried = true })
    guard case .connection(.hurried, _) = reading.meaning else {
      Issue.record("\(reading.meaning)")
      return
    }
    #expect(reading.outcome == .skipped)
  }

  // MARK: Exchanges

  private func verdict(
    _ kind: SiteVerdict.Kind, status: Int? = nil, stage: SiteVerdict.Stage? = nil, error: SiteError.Code? = nil,
    url: SiteURL = "https://site.example/"
  ) -> SiteVerdict {
    SiteVerdict(url: url, kind: kind, status: status, stage: stage, error: error.map { SiteError($0, "words") })
  }

  private func causes(_ finding: SiteFinding) -> [DiagnosisCause] {
    SiteRules.read(finding).compactMap(\.charge?.cause)
  }

  @Test func largePacketsAreToBlameIfSmallOnesPass() {
    let answer = verdict(.available, status: 200)
    let silence = verdict(.failed, stage: .tls, error: .timedOut)
    // What was sent, or what came, has a gap.
    for stall in [SiteFinding.Stall.unacknowledged, .incomplete] {
      let lost = SiteFinding(silence, small: [answer, answer], later: [silence], stalls: [stall, stall])
      #expect(causes(lost) == [.pathMTU])
      // Small packets vanish, too: it is neither their size, nor the site's silence.
      #expect(causes(SiteFinding(silence, small: [silence], stalls: [stall])) == [.silent])
    }
    // The site has acknowledged what it was sent, at least once, so its silence may be its own.
    for stalls in [[SiteFinding.Stall.acknowledged, .acknowledged], [.unacknowledged, .acknowledged], []] {
      let mute = SiteFinding(silence, small: [answer, answer], later: [silence], stalls: stalls)
      #expect(causes(mute) == [.unreliable])
      // As often as this, no backend of several would hang.
      let often = Array(repeating: silence, count: 3)
      let small = [answer, answer, answer]
      #expect(causes(SiteFinding(silence, small: small, later: often, stalls: stalls)) == [.pathMTU])
    }
    // A backend of two that hangs: small packets hang, too, at times.
    #expect(causes(SiteFinding(silence, small: [answer, silence])) == [.unreliable])
    #expect(causes(SiteFinding(silence, small: [answer, answer], later: [answer])) == [.unreliable])
    #expect(causes(SiteFinding(silence, small: [silence])) == [.siteFault])
    #expect(causes(SiteFinding(answer)).isEmpty)
  }

  @Test func datesAreTheClocksFaultIfTheClockLooksWrong() {
    let day: Int64 = 86_400
    let right = SiteFinding.Clock(now: 1_000 * day, isKept: true, lastChange: 999 * day)
    let behind = SiteFinding.Clock(now: 100 * day, isKept: false, lastChange: 999 * day)
    let ahead = SiteFinding.Clock(now: 5_000 * day, isKept: false, lastChange: 999 * day)
    for code in [SiteError.Code.certificateExpired, .certificateNotYetValid] {
      #expect(causes(SiteFinding(verdict(.intercepted, error: code), clock: right)) == [.tlsCertificate])
      for clock in [behind, ahead] {
        #expect(causes(SiteFinding(verdict(.intercepted, error: code), clock: clock)) == [.clockWrong])
      }
    }
    let name = verdict(.intercepted, error: .certificateNameMismatch)
    #expect(causes(SiteFinding(name, clock: behind)) == [.tlsCertificate])
  }

  /// A date is the certificate's fault for certain if the clock is kept right, or was right after that date.
  @Test func datesAreCertainOnlyIfTheClockIs() {
    let unkept = SiteFinding.Clock(now: 2_000, isKept: false, lastChange: 1_000)
    #expect(unkept.isSure(ofExpiry: 900) && !unkept.isSure(ofExpiry: 1_500) && !unkept.isSure(ofExpiry: nil))
    #expect(SiteFinding.Clock(now: 2_000, isKept: true).isSure(ofExpiry: nil))
    #expect(!SiteFinding.Clock(now: 2_000).isSure(ofExpiry: 900))
    let early = SiteFinding(verdict(.intercepted, error: .certificateNotYetValid), clock: unkept)
    #expect(SiteRules.read(early).compactMap(\.charge) == [Charge(.tlsCertificate, nil)])
    for (code, isSure) in [(SiteError.Code.certificateExpired, true), (.certificateNotYetValid, false)] {
      let dated = SiteVerdict(
        url: "https://site.example/", kind: .intercepted, error: SiteError(code, "words"),
        certificateExpires: UTCTimestamp(durationSince1970: .seconds(900)))
      #expect(SiteRules.read(SiteFinding(dated, clock: unkept)).contains { $0.charge?.proof != nil } == isSure)
    }
  }

  /// What another TLS library may judge otherwise proves nothing, and is no fault of the site. Nor is a check's own
  /// limit.
  @Test func whatIsInDisputeIsNobodysFault() {
    func charges(_ kind: SiteVerdict.Kind, _ stage: SiteVerdict.Stage?, _ code: SiteError.Code, _ isInDispute: Bool)
      -> [Charge]
    {
      var error = SiteError(code, "words")
      error.isInDispute = isInDispute
      let verdict = SiteVerdict(url: "https://site.example/", kind: kind, stage: stage, error: error)
      return SiteRules.read(SiteFinding(verdict)).compactMap(\.charge)
    }
    #expect(charges(.intercepted, nil, .certificateUntrusted, true) == [Charge(.tlsCertificate, nil)])
    #expect(charges(.intercepted, nil, .certificateUntrusted, false).first?.proof?.witness == .cryptography)
    #expect(charges(.failed, .tls, .tlsFailed, true).isEmpty)
    #expect(charges(.failed, .tls, .tlsFailed, false) == [Charge(.siteFault, nil)])
    #expect(charges(.failed, .response, .headersTooLarge, false).isEmpty)
    #expect(charges(.failed, .response, .malformedResponse, false) == [Charge(.siteFault, nil)])
    #expect(SiteError(refusedBy: "HANDSHAKE_FAILURE_ON_CLIENT_HELLO").isInDispute)
    #expect(!SiteError(refusedBy: "WRONG_VERSION_NUMBER").isInDispute)
  }

  @Test func anAnswerIsJudgedByItsStatusAndItsProof() {
    #expect(causes(SiteFinding(verdict(.available, status: 200))).isEmpty)
    #expect(causes(SiteFinding(verdict(.available, status: 404))).isEmpty)
    let proven = SiteRules.read(SiteFinding(verdict(.available, status: 503))).compactMap(\.charge)
    #expect(proven.map(\.cause) == [.siteFault] && proven[0].proof?.witness == .cryptography)
    // Over http anybody on the way may have answered.
    let open = SiteRules.read(SiteFinding(verdict(.available, status: 503, url: "http://site.example/")))
    #expect(open.compactMap(\.charge) == [Charge(.siteFault, nil)])
    for status in [302, 511] {
      let portal = SiteFinding(verdict(.captivePortal, status: status, url: "http://site.example/"))
      #expect(SiteRules.read(portal).compactMap(\.charge) == [Charge(.captivePortal, nil)])
    }
  }

  // MARK: Proxies and tunnels

  @Test func aProxyIsAFaultIfItDoesNotLeadThere() {
    let error = SiteError(.cannotConnect, "words")
    let outcomes: [(ProxyFinding.Outcome, DiagnosisCause?)] = [
      (.delivers, nil), (.connects, nil), (.notTried, nil), (.unresolved, .proxyUnreachable),
      (.unreachable(error), .proxyUnreachable), (.unreadable, .proxyUnreachable), (.refuses(error), .proxyRefuses),
    ]
    for (outcome, cause) in outcomes {
      let finding = ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome)
      let charge = Reading.readings([.proxy(finding)])[0].charge
      #expect(charge?.cause == cause)
      #expect(charge?.proof?.witness == (outcome == .unreadable ? .configuration : nil))
    }
  }

  @Test func aTunnelIsJudgedByItsPeerAndWhatIsBeneath() {
    func reading(_ peer: TunnelFinding.Peer) -> Reading {
      Reading.readings([.tunnel(TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: peer))])[0]
    }
    func known(_ age: Int64?, _ beneath: KernelFinding? = nil) -> TunnelFinding.Peer {
      .known(endpoint: Self.other, port: 51_820, handshakeAge: age, beneath: beneath)
    }
    #expect(reading(known(20)).outcome == .ok)
    #expect(reading(known(20, KernelFinding(.route(.missing), target: Self.other))).charge?.cause == .noRoute)
    #expect(reading(known(nil)).charge == Charge(.tunnelSilent, nil))
    #expect(reading(.none).charge?.cause == .tunnelSilent && reading(.none).charge?.proof != nil)
    #expect(reading(.denied).outcome == .skipped)
  }
}
