// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneDiagnosis

/// The second branch of each condition of the rules, and the numbers that they count with.
struct JudgementEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server
  private static let other = IPAddress(ipv4: 0xCB00_710B)

  // MARK: Connections

  private static func says(_ meaning: NetworkStatement.Meaning, by sender: IPAddress = router) -> NetworkStatement {
    NetworkStatement(meaning, by: sender)
  }

  /// RFC 792, RFC 1812, 5.2.7.1, RFC 4443, 3.1: what the target says of itself, and what others say of it.
  @Test(
    arguments: [
      (.prohibited, .prohibited, .prohibited), (.portUnreachable, .refused, .prohibited),
      (.protocolUnreachable, .refused, .prohibited), (.hostUnreachable, .hostAbsent, .hostAbsent),
      (.networkUnreachable, .prohibited, .routerNoRoute), (.lifetimeEnded, .routingLoop, .routingLoop),
      (.tooLarge, .pathMTU, .pathMTU), (.other(type: 4, code: 0), .prohibited, .prohibited),
    ] as [(NetworkStatement.Meaning, DiagnosisCause, DiagnosisCause)])
  func whoSaysWhat(meaning: NetworkStatement.Meaning, itself: DiagnosisCause, others: DiagnosisCause) {
    let target = Self.target
    #expect(ConnectionRules.cause(of: Self.says(meaning, by: target), from: target) == itself)
    #expect(ConnectionRules.cause(of: Self.says(meaning), from: target) == others)
  }

  /// A router says so of what should be on its own link (RFC 1812, 5.2.7.1). One with an address of its owner's alone
  /// (RFC 1918, RFC 6598, RFC 4193) has no host of the Internet there, but may have one of its own kind.
  @Test(
    arguments: [
      ("100.64.0.2", "1.1.1.1", .routerNoRoute), ("192.168.1.1", "1.1.1.1", .routerNoRoute),
      ("fd00::1", "2606:4700::1", .routerNoRoute), ("192.168.1.1", "10.1.2.3", .hostAbsent),
      ("8.8.8.8", "1.1.1.1", .hostAbsent), ("8.8.8.8", "10.1.2.3", .hostAbsent), ("1.1.1.1", "1.1.1.1", .hostAbsent),
    ] as [(String, String, DiagnosisCause)])
  func whoIsNoNeighbourOfAHost(sender: String, target: String, cause: DiagnosisCause) throws {
    let (sender, target) = (try #require(IPAddress(sender)), try #require(IPAddress(target)))
    #expect(ConnectionRules.cause(of: Self.says(.hostUnreachable, by: sender), from: target) == cause)
  }

  /// A SYN is sent again after one second and after three (RFC 6298, 2.1 and 5.5): the answer to that is awaited, and
  /// a little longer.
  @Test func silenceIsOneAfterThreeTries() {
    #expect(Connector.isHurried(after: 0) && Connector.isHurried(after: 3_399))
    #expect(!Connector.isHurried(after: 3_400) && !Connector.isHurried(after: 3_500))
  }

  private static func read(
    _ outcome: ConnectionFinding.Outcome, _ sight: ConnectionFinding.Sight? = nil,
    _ change: (inout ConnectionFinding) -> Void = { _ in }
  ) -> Reading {
    var finding = ConnectionFinding(
      .ipv4, [ConnectionFinding.Attempt(target, port: 443, outcome, sight: sight)])
    change(&finding)
    return ConnectionRules.read(finding)
  }

  /// What was seen at the interfaces tells whose word a silence or a reset is.
  @Test func whatWasSeenDecides() {
    let held = ConnectionFinding.Sight(hasLeft: false, hasReturned: false)
    let never = ConnectionFinding.Attempt(Self.target, port: 443, .reset, sight: held)
    #expect(Self.read(.reset, held).meaning == .connection(.forbidden, never))
    #expect(Self.read(.reset, held).charge == Charge(.localFirewall, nil))
    // What waits for a neighbour's answer has not left yet.
    let hurried = ConnectionFinding.Attempt(Self.target, port: 443, .silent, sight: held)
    #expect(Self.read(.silent, held) { $0.isHurried = true }.meaning == .connection(.hurried, hurried))
    #expect(Self.read(.silent, held).charge?.cause == .localFirewall)
    // It has left, so the verdict on a datagram says nothing of it.
    let left = ConnectionFinding.Sight(hasLeft: true, hasReturned: false)
    #expect(Self.read(.silent, left) { $0.isDatagramForbidden = true }.charge?.cause == .silent)
    // This machine's own reset does not come in.
    let own = Self.read(.reset, left) { ($0.isOwn, $0.listeners) = (true, []) }
    #expect(own.charge?.cause == .refused && Self.read(.reset, left).charge?.cause == .localFirewall)
  }

  /// Of attempts that say as much as each other, the first is told.
  @Test(arguments: [ConnectionFinding.Outcome.silent, .reset, .failed(99), .refused(says(.prohibited))])
  func ofAttemptsAlikeTheFirstIsTold(outcome: ConnectionFinding.Outcome) {
    let attempts = [Self.target, Self.other].map { ConnectionFinding.Attempt($0, port: 443, outcome) }
    let meaning = ConnectionRules.read(ConnectionFinding(.ipv4, attempts)).meaning
    let told: ConnectionMeaning =
      switch outcome {
      case .silent: .silent
      case .reset: .refused
      case .refused(let statement): .statement(statement)
      default: .cannotSend(errno: 99)
      }
    #expect(meaning == .connection(told, attempts[0]))
  }

  /// A service listens at all addresses of its family by the one that is unspecified: 0.0.0.0 or ::.
  @Test func aServiceMayListenAtAllOfAFamily() {
    func meaning(_ target: IPAddress, _ listener: IPAddress) -> Reading.Meaning {
      var finding = ConnectionFinding(target.family, [ConnectionFinding.Attempt(target, port: 443, .reset)])
      (finding.isOwn, finding.listeners) = (true, [listener])
      return ConnectionRules.read(finding).meaning
    }
    let six = ConnectionFinding.Attempt(Self.target6, port: 443, .reset)
    let any6 = IPAddress(IPAddressBits(ipv6High: 0, low: 0))
    #expect(meaning(Self.target6, any6) == .connection(.refusedBefore, six))
    #expect(meaning(Self.target6, IPAddress(ipv4: 0)) == .connection(.refused, six))
  }

  @Test func nothingToConnectToIsNoFault() {
    let reading = ConnectionRules.read(ConnectionFinding(.ipv6, []))
    #expect(reading.outcome == .skipped && reading.meaning == .connection(.untried, nil) && reading.family == .ipv6)
  }

  // MARK: Names

  /// The root exists: a server that denies it counts, no matter which ones are silent before it.
  @Test func theRootIsAskedOfEachServer() {
    func reading(_ replies: NameFinding.Reply...) -> Reading {
      let servers = replies.map { NameFinding.Server(Self.server, ipv4: $0) }
      return NameRules.read(NameFinding(name: "the root", servers: servers, isRootOnly: true))
    }
    #expect(reading(.silent, .answer(.nameError, [])).charge?.cause == .nameServerRefuses)
    #expect(reading(.silent, .answer(.success, [])).meaning == .name(.oneServerSilent(Self.server)))
    #expect(reading(.silent, .answer(.success, [])).outcome == .doubtful)
    #expect(reading(.answer(.success, []), .answer(.refused, [])).meaning == .name(.serversAnswer))
    #expect(reading(.answer(.refused, [])).meaning == .name(.only(.answer(.refused, []), of: Self.server)))
    // Without a server nobody was asked, whatever programs get.
    var none = NameFinding(name: "the root", system: .failed, isRootOnly: true)
    #expect(NameRules.read(none).outcome == .skipped && NameRules.read(none).meaning == .name(.noServer))
    none.isRootOnly = false
    #expect(NameRules.read(none).outcome == .fault)
  }

  /// errno(3): EPERM (1) and EAFNOSUPPORT (97) are a sandbox's, ENETUNREACH (101) is nobody's.
  @Test(arguments: [(1, .denied), (97, .denied), (101, nil)] as [(Int32, DiagnosisCause?)])
  func whatCannotBeSentIsTold(errno: Int32, cause: DiagnosisCause?) {
    let second = IPAddress(ipv4: 0xC000_0236)
    func reading(_ other: NameFinding.Reply) -> Reading {
      let servers = [
        NameFinding.Server(Self.server, ipv4: .failed(errno)), NameFinding.Server(second, ipv4: other),
      ]
      return NameRules.read(NameFinding(name: "a", servers: servers))
    }
    let failed = reading(.failed(111))
    #expect(failed.meaning == .name(.only(.failed(errno), of: Self.server)))
    #expect(failed.outcome == .fault && failed.charge?.cause == cause)
    // Programs wait for the one that is silent.
    #expect(reading(.silent).meaning == .name(.silent))
  }

  /// resolv.conf(5), rotate: programs begin with any server, and believe it.
  @Test func ofServersInTurnEachIsBelieved() {
    let second = IPAddress(ipv4: 0xC000_0236)
    let servers = [
      NameFinding.Server(Self.server, ipv4: .answer(.success, [Self.target])),
      NameFinding.Server(second, ipv4: .answer(.nameError, [])),
    ]
    var finding = NameFinding(name: "site.example", servers: servers, addresses: [Self.target])
    #expect(NameRules.read(finding).outcome == .ok)
    finding.rotates = true
    let reading = NameRules.read(finding)
    #expect(reading.outcome == .fault && reading.charge == Charge(.unreliable, nil))
    #expect(reading.meaning == .name(.unknownToFirst(second, knownTo: Self.server)))
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.name(finding)])
    #expect(verdict.advice == "Take 192.0.2.54 out of /etc/resolv.conf." && !verdict.summary.contains("the first"))
  }

  /// resolv.conf(5): programs wait five seconds for a server, a diagnosis three. mDNS answers at once.
  @Test func whoAnswersLateMakesLookupsLong() {
    let server = NameFinding.Server(Self.server, ipv4: .silent, ipv6: .silent)
    var finding = NameFinding(name: "site.example", source: .system, servers: [server], addresses: [Self.target])
    #expect(NameRules.read(finding).outcome == .ok)
    finding.isLate = true
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.name(finding)])
    #expect(verdict.cause == .nameServerSilent && verdict.confidence == .likely)
    #expect(verdict.advice == "Set another name server in /etc/resolv.conf.", "\(verdict.summary)")
  }

  /// RFC 6604, 3: NXDOMAIN is said of the last name of a chain of aliases, and the first one exists.
  @Test func anAliasOfNothingExists() {
    var server = NameFinding.Server(Self.server, ipv4: .answer(.nameError, []), ipv6: .answer(.nameError, []))
    server.knowsAlias = true
    let finding = NameFinding(name: "site.example", servers: [server])
    #expect(NameRules.read(finding).meaning == .name(.unknown(server: Self.server, exists: true)))
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.name(finding)])
    #expect(verdict.cause == .nameUnknown && verdict.advice?.hasSuffix("dig CNAME site.example") == true)
    let words = "The name site.example is an alias of one without an address, says the name server 192.0.2.53."
    #expect(verdict.summary == words)
  }

  // MARK: Sites

  private static func verdict(
    _ kind: SiteVerdict.Kind, _ status: Int? = nil, _ stage: SiteVerdict.Stage? = nil, _ error: SiteError.Code? = nil,
    url: SiteURL = "https://site.example/"
  ) -> SiteVerdict {
    SiteVerdict(url: url, kind: kind, status: status, stage: stage, error: error.map { SiteError($0, "words") })
  }

  private static let answer = verdict(.available, 200)
  private static let silence = verdict(.failed, nil, .tls, .timedOut)

  private static func meanings(_ finding: SiteFinding, wasConnected: Bool = true) -> [Reading.Meaning] {
    SiteRules.read(finding, wasConnected: wasConnected).map(\.meaning)
  }

  /// Four usual checks and three small ones tell a backend of several that hangs from packets that vanish.
  @Test(arguments: [(3, 3, false), (4, 2, false), (4, 3, true), (3, 2, false)])
  func fewTriesTellNothingOfSize(usual: Int, small: Int, isSize: Bool) {
    let finding = SiteFinding(
      Self.silence, small: Array(repeating: Self.answer, count: small),
      later: Array(repeating: Self.silence, count: usual - 1), stalls: [.acknowledged])
    // Nothing more is said of an exchange that ended so.
    let meaning: SiteMeaning = isSize ? .largeVanish : .unreliable(failures: usual, of: usual + small)
    #expect(Self.meanings(finding) == [.site(meaning)])
  }

  /// An answer to a later large packet says that not all vanish, though it is no success.
  @Test func aLaterAnswerIsOddBesideSilence() throws {
    let finding = SiteFinding(
      Self.silence, small: [Self.answer], later: [Self.verdict(.available, 503)], stalls: [.unacknowledged])
    let readings = SiteRules.read(finding)
    let meanings: [SiteMeaning] = [.unreliable(failures: 1, of: 2), .proven, .serverFault(status: 503)]
    #expect(readings.map(\.meaning) == meanings.map { .site($0) })
    #expect(readings.map(\.outcome) == [.doubtful, .ok, .fault] && readings.map(\.kind) == [.pathMTU, .tls, .http])
  }

  /// RFC 9110, 15.6: 5xx is the server's own fault. RFC 6585, 6: 511 is a network's.
  @Test(
    arguments: [
      (verdict(.available, 499), .answers(status: 499)), (verdict(.available, 500), .serverFault(status: 500)),
      (verdict(.captivePortal, 511, url: "http://a.example/"), .loginWanted),
      // Something with the site's certificate says so.
      (verdict(.captivePortal, 511), .serverFault(status: 511)),
      (verdict(.captivePortal, 302, url: "http://a.example/"), .redirected),
      (verdict(.unexpectedResponse, 200), .answers(status: 200)),
      (verdict(.failed, nil, .request, .timedOut), .stalled), (verdict(.failed, nil, .body, .timedOut), .stalled),
      (verdict(.failed, nil, .response, .timedOut), .stalled),
      (verdict(.failed, nil, .response, .malformedResponse), .malformed), (verdict(.offline), .unconnected),
      (verdict(.failed, nil, .connect, .cannotConnect), .unconnected), (verdict(.failed, nil, .tls), .noRequest),
      (verdict(.failed, nil, .name, .timedOut), .noRequest),
    ] as [(SiteVerdict, SiteMeaning)])
  func anAnswerIsNamed(verdict: SiteVerdict, meaning: SiteMeaning) {
    #expect(Self.meanings(SiteFinding(verdict)).last == .site(meaning))
    // Without a connection before, that none is made for the exchange is no news.
    let unconnected = Self.meanings(SiteFinding(verdict), wasConnected: false).last
    #expect(unconnected == .site(meaning == .unconnected ? .noRequest : meaning))
  }

  /// tcp(7), TCP_INFO: what is not acknowledged has not arrived, so the silence is not the site's.
  @Test(arguments: [(SiteVerdict.Stage.response, 2), (.tls, 1)])
  func packetsThatVanishAreNotTheSitesSilence(stage: SiteVerdict.Stage, position: Int) throws {
    func reading(_ stalls: [SiteFinding.Stall], _ error: SiteError.Code = .timedOut) -> Reading {
      SiteRules.read(SiteFinding(Self.verdict(.failed, nil, stage, error), stalls: stalls))[position]
    }
    for stall in [SiteFinding.Stall.unacknowledged, .incomplete] {
      #expect(reading([stall]).meaning == .site(.swallowed) && reading([stall]).charge == Charge(.silent, nil))
    }
    for stalls in [[], [SiteFinding.Stall.acknowledged], [.unacknowledged, .acknowledged]] {
      let mute = reading(stalls)
      #expect(mute.meaning == .site(stage == .tls ? .tlsStalled : .stalled) && mute.charge?.cause == .siteFault)
    }
    #expect(reading([.unacknowledged], .connectionLost).charge?.cause == .siteFault)
  }

  @Test func theFirstReadingIsOfSizes() {
    #expect(Self.meanings(SiteFinding(Self.answer)).first == .site(.largePass))
    #expect(Self.meanings(SiteFinding(Self.silence)).first == .site(.largeUntold))
    #expect(Self.meanings(SiteFinding(Self.silence, small: [Self.silence])).first == .site(.smallFail))
    #expect(Self.meanings(SiteFinding(Self.verdict(.offline))).first == .site(.largeUntold))
    #expect(Self.meanings(SiteFinding(Self.verdict(.failed, nil, .tls, .connectionLost))).first == .site(.largePass))
    let open = SiteFinding(Self.verdict(.available, 200, url: "http://a.example/"))
    #expect(Self.meanings(open) == [.site(.largePass), .site(.plain), .site(.answers(status: 200))])
    #expect(SiteRules.read(open).map(\.outcome) == [.ok, .skipped, .ok])
  }
}
