// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneSites

/// The rules about connections, exchanges, proxies and tunnels, on evidence made by hand.
struct ConnectStepTests {
  private static let target = IPAddress(ipv4: 0xCB00_710A)
  private static let router = IPAddress(ipv4: 0xC000_0201)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cause: DiagnosisCause?
    var confidence = DiagnosisConfidence.certain
    let evidence: ConnectEvidence
  }

  private static func evidence(
    _ result: ConnectEvidence.Result, hasLeft: Bool? = nil, hasReturned: Bool? = nil,
    _ change: (inout ConnectEvidence) -> Void = { _ in }
  ) -> ConnectEvidence {
    var evidence = ConnectEvidence(attempts: [
      ConnectEvidence.Attempt(
        address: target, port: 443, result: result, hasLeft: hasLeft, hasReturned: hasReturned)
    ])
    evidence.gateway = router
    change(&evidence)
    return evidence
  }

  private static func refusal(
    by offender: IPAddress, isOwn: Bool = false, host: Bool = false, prohibition: Bool = false, port: Bool = false
  ) -> ConnectEvidence.Result {
    .refusal(
      ConnectEvidence.Refusal(
        offender: offender, isOwn: isOwn, isHostUnreachable: host, isProhibition: prohibition, isPortUnreachable: port,
        words: "a message"))
  }

  private static let rows: [Row] = [
    Row(testDescription: "connected", cause: nil, evidence: evidence(.connected(milliseconds: 3))),
    Row(testDescription: "reset", cause: .refused, evidence: evidence(.reset)),
    Row(testDescription: "reset, seen", cause: .refused, evidence: evidence(.reset, hasLeft: true, hasReturned: true)),
    Row(
      testDescription: "reset by this machine", cause: .localFirewall,
      evidence: evidence(.reset, hasLeft: true, hasReturned: false)),
    Row(
      testDescription: "never left", cause: .localFirewall,
      evidence: evidence(.silent, hasLeft: false, hasReturned: false)),
    Row(
      testDescription: "answers dropped", cause: .localFirewall,
      evidence: evidence(.silent, hasLeft: true, hasReturned: true)),
    Row(
      testDescription: "datagrams are forbidden", cause: .localFirewall, confidence: .likely,
      evidence: evidence(.silent) { $0.isDatagramForbidden = true }),
    Row(
      testDescription: "silent", cause: .silent, confidence: .likely,
      evidence: evidence(.silent, hasLeft: true, hasReturned: false)),
    Row(testDescription: "silent, unseen", cause: .silent, confidence: .likely, evidence: evidence(.silent)),
    Row(
      testDescription: "the router has gone", cause: .gatewaySilent,
      evidence: evidence(.silent) { $0.isNeighbourFailed = true }),
    Row(
      testDescription: "this machine finds no router", cause: .gatewaySilent,
      evidence: evidence(refusal(by: target, isOwn: true, host: true))),
    Row(
      testDescription: "this machine finds no host on the link", cause: .silent,
      evidence: evidence(refusal(by: target, isOwn: true, host: true)) { $0.gateway = nil }),
    Row(
      testDescription: "this machine prohibits", cause: .localFirewall,
      evidence: evidence(refusal(by: router, isOwn: true, prohibition: true))),
    Row(
      testDescription: "a router prohibits", cause: .prohibited,
      evidence: evidence(refusal(by: router, prohibition: true))),
    Row(
      testDescription: "the target's port is closed", cause: .refused,
      evidence: evidence(refusal(by: target, port: true))),
    Row(
      testDescription: "connect(2) is forbidden", cause: .localFirewall,
      evidence: evidence(.failed(errno: 1, words: "operation not permitted"))),
    Row(
      testDescription: "a silent tunnel", cause: .tunnelSilent, confidence: .likely,
      evidence: evidence(.silent) { $0.tunnel = "wg0" }),
    Row(
      testDescription: "a tunnel that works", cause: .silent, confidence: .likely,
      evidence: evidence(.silent) {
        $0.tunnel = "wg0"
        $0.hasTunnelAnswered = true
      }),
    Row(testDescription: "any port", cause: nil, evidence: evidence(.reset) { $0.isAnyPort = true }),
  ]

  @Test("the cause follows from who answered, and how", arguments: rows)
  func theCauseFollows(row: Row) {
    let step = ConnectStep.step(row.evidence, family: .ipv4)
    #expect(step.cause == row.cause && step.outcome == (row.cause == nil ? .ok : .fault), "\(step)")
    if row.cause != nil { #expect(step.confidence == row.confidence) }
  }

  /// ip-sysctl(7), rp_filter: an answer that comes in by another link than packets leave by is dropped.
  @Test func anAnswerByAnotherLinkIsDroppedHere() {
    var evidence = Self.evidence(.silent, hasLeft: true, hasReturned: true)
    evidence.attempts[0].otherWay = "eth1"
    let step = ConnectStep.step(evidence, family: .ipv4)
    #expect(step.cause == .localFirewall && step.confidence == .likely && step.text.contains("eth1"), "\(step)")
  }

  /// EADDRNOTAVAIL: no segment has left, and no firewall is to blame.
  @Test func aLackOfPortsHasNoCause() {
    let evidence = Self.evidence(.failed(errno: 99, words: "words"), hasLeft: false)
    let step = ConnectStep.step(evidence, family: .ipv4)
    #expect(step.outcome == .fault && step.cause == nil && step.confidence == .unknown, "\(step)")
  }

  @Test func aHurriedSilenceHasNoFault() {
    let evidence = Self.evidence(.silent) { $0.isHurried = true }
    let step = ConnectStep.step(evidence, family: .ipv4)
    #expect(step.outcome == .skipped && step.text == DiagnosisRules.timeIsUp)
  }

  // MARK: Exchanges

  private func exchange(
    _ kind: SiteVerdict.Kind, status: Int? = nil, stage: SiteVerdict.Stage? = nil, error: SiteError.Code? = nil,
    url: SiteURL = "https://site.example/", small: SiteVerdict? = nil, clock: ClockEvidence? = nil
  ) -> ExchangeEvidence {
    let verdict = SiteVerdict(
      url: url, kind: kind, status: status, stage: stage, error: error.map { SiteError($0, "words") })
    return ExchangeEvidence(verdict: verdict, smallVerdict: small, clock: clock)
  }

  @Test func largePacketsAreToBlameIfSmallOnesPass() {
    let answer = SiteVerdict(url: "https://site.example/", kind: .available, status: 200)
    let silence = SiteVerdict(
      url: "https://site.example/", kind: .failed, stage: .tls, error: SiteError(.timedOut, "timed out"))
    var stalled = exchange(.failed, stage: .tls, error: .timedOut, small: answer)
    #expect(ExchangeSteps.pathMTU(stalled).cause == .pathMTU)
    #expect(ExchangeSteps.pathMTU(stalled).confidence == .likely)
    stalled.thirdVerdict = silence
    #expect(ExchangeSteps.pathMTU(stalled).cause == .pathMTU)
    #expect(ExchangeSteps.pathMTU(stalled).confidence == .certain)
    stalled.thirdVerdict = answer
    #expect(ExchangeSteps.pathMTU(stalled).cause == nil && ExchangeSteps.tls(stalled).outcome == .ok)
    let mute = exchange(.failed, stage: .tls, error: .timedOut, small: silence)
    #expect(ExchangeSteps.pathMTU(mute).outcome == .ok && ExchangeSteps.tls(mute).cause == .siteFault)
    #expect(ExchangeSteps.pathMTU(exchange(.available, status: 200)).outcome == .ok)
  }

  @Test func datesAreTheClocksFaultIfTheClockLooksWrong() {
    let day: Int64 = 86_400
    let right = ClockEvidence(now: 1_000 * day, isKept: true, lastChange: 999 * day)
    let behind = ClockEvidence(now: 100 * day, isKept: false, lastChange: 999 * day)
    let ahead = ClockEvidence(now: 5_000 * day, isKept: false, lastChange: 999 * day)
    for code in [SiteError.Code.certificateExpired, .certificateNotYetValid] {
      #expect(ExchangeSteps.tls(exchange(.intercepted, error: code, clock: right)).cause == .tlsCertificate)
      for clock in [behind, ahead] {
        #expect(ExchangeSteps.tls(exchange(.intercepted, error: code, clock: clock)).cause == .clockWrong)
      }
    }
    let name = exchange(.intercepted, error: .certificateNameMismatch, clock: behind)
    #expect(ExchangeSteps.tls(name).cause == .tlsCertificate)
  }

  /// A date is the certificate's fault for certain if the clock is kept right, or was right after that date.
  @Test func datesAreCertainOnlyIfTheClockIs() {
    let unkept = ClockEvidence(now: 2_000, isKept: false, lastChange: 1_000)
    #expect(unkept.isSure(ofExpiry: 900) && !unkept.isSure(ofExpiry: 1_500) && !unkept.isSure(ofExpiry: nil))
    #expect(ClockEvidence(now: 2_000, isKept: true, lastChange: nil).isSure(ofExpiry: nil))
    #expect(!ClockEvidence(now: 2_000, isKept: nil, lastChange: nil).isSure(ofExpiry: 900))
    let early = exchange(.intercepted, error: .certificateNotYetValid, clock: unkept)
    #expect(ExchangeSteps.tls(early).cause == .tlsCertificate && ExchangeSteps.tls(early).confidence == .likely)
  }

  @Test func anAnswerIsJudgedByItsStatus() {
    #expect(ExchangeSteps.http(exchange(.available, status: 200)).outcome == .ok)
    #expect(ExchangeSteps.http(exchange(.available, status: 404)).outcome == .ok)
    #expect(ExchangeSteps.http(exchange(.available, status: 503)).cause == .siteFault)
    let portal = ExchangeSteps.http(exchange(.captivePortal, status: 302, url: "http://site.example/"))
    #expect(portal.cause == .captivePortal && portal.confidence == .likely)
    let login = ExchangeSteps.http(exchange(.captivePortal, status: 511, url: "http://site.example/"))
    #expect(login.cause == .captivePortal && login.confidence == .certain)
  }

  // MARK: Proxies and tunnels

  @Test func aProxyIsAFaultIfItTakesNoConnections() {
    #expect(ProxyStep.step(nil).outcome == .skipped)
    let results: [(ProxyEvidence.Result, DiagnosisCause?)] = [
      (.connected, nil), (.notTried, nil), (.unknownName, .proxyUnreachable), (.failed("words"), .proxyUnreachable),
      (.unreadable("words"), .proxyUnreachable), (.silent, .proxyUnreachable), (.unansweredName, .proxyUnreachable),
    ]
    for (result, cause) in results {
      let step = ProxyStep.step(ProxyEvidence(variable: "https_proxy", server: "192.0.2.7:3128", result: result))
      #expect(step.cause == cause, "\(step)")
    }
  }

  @Test func aTunnelIsJudgedByItsPeerAndWhatIsBeneath() {
    func step(_ peer: TunnelEvidence.Peer) -> DiagnosisStep {
      TunnelStep.step(TunnelEvidence(link: "wg0", kind: "wireguard", peer: peer), family: .ipv4)
    }
    let beneath = DiagnosisStep(.route, .fault, "there is no route", cause: .noRoute)
    #expect(step(.known(endpoint: "192.0.2.7 port 51820", handshakeAge: 20, beneath: nil)).outcome == .ok)
    #expect(step(.known(endpoint: "192.0.2.7 port 51820", handshakeAge: 20, beneath: beneath)).cause == .noRoute)
    #expect(step(.known(endpoint: "192.0.2.7 port 51820", handshakeAge: nil, beneath: nil)).cause == .tunnelSilent)
    #expect(step(.none).cause == .tunnelSilent && step(.denied).outcome == .skipped)
  }
}
