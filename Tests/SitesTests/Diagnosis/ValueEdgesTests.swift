// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What the values of a diagnosis are by themselves: their defaults, their limits, and what they are called.
struct ValueEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server

  // MARK: Defaults

  @Test func findingsBeginWithoutWhatWasNotFound() {
    let connection = ConnectionFinding(.ipv4, [])
    #expect(!connection.isAnyPort && !connection.isOwn && !connection.hasCallFilter && !connection.isHurried)
    #expect(!connection.isDatagramForbidden && !connection.isNeighbourFailed && !connection.hasTunnelAnswered)
    #expect(connection.listeners == nil && connection.gateway == nil && connection.tunnel == nil)
    let server = NameFinding.Server(Self.server)
    #expect(!server.isBeyond && !server.deniesRoot && server.replies.isEmpty && server.control == nil)
    let name = NameFinding(name: "a")
    #expect(name.source == .dns && !name.isRootOnly && !name.isHurried && name.unsteady == nil && name.system == nil)
    let site = SiteFinding(SiteVerdict(url: "http://a.example/", kind: .offline))
    #expect(site.resent == 0 && site.clock == nil && site.usual.count == 1 && !site.hasLostPackets)
    #expect(LargePacketsFinding(.ipv4, nil).byteCount == 1_500)
    #expect(!NetworkStatement(.prohibited, by: Self.router).isOwn)
    let beyond = BeyondFinding([])
    #expect(beyond.trace == nil && beyond.connection == nil && beyond.stopsSites == nil && !beyond.hasAnswer)
    #expect(SiteFinding.Clock(now: 7).isKept == nil && SiteFinding.Clock(now: 7).lastChange == nil)
  }

  /// Explain.md: ten seconds, both families, and root servers are asked.
  @Test func aDiagnosisIsMadeOfWhatIsDocumented() {
    let configuration = DiagnosisConfiguration()
    #expect(configuration.timeout == .seconds(10) && configuration.asksBeyondRouter && configuration.history == [])
    #expect(configuration.interface == nil && configuration.family == nil)
    let hurried = DiagnosisConfiguration(timeout: .seconds(3))
    #expect(hurried.timeout == .seconds(3) && hurried.asksBeyondRouter)
  }

  @Test func aSubjectIsTheInternetOrAHost() throws {
    let any = IPAddress(ipv4: 0)
    for target in [ReachabilityTarget.internet, .localNetwork, .address(any)] {
      let subject = DiagnosisSubject(target)
      #expect(subject.goal == .internet && subject.host == nil && subject.url == nil, "\(target)")
      #expect(subject.ports == [443, 80])
    }
    let host = DiagnosisSubject(.address(Self.target, port: 22))
    #expect(host.goal == .host && host.host == .address(Self.target) && host.ports == [22])
    let pair = DiagnosisSubject(.address(Self.target, from: Self.server))
    #expect(pair.goal == .host && pair.host == .address(Self.target))
    let mapped = try #require(IPAddress("::ffff:203.0.113.10"))
    #expect(DiagnosisSubject(.address(mapped)).host == .address(Self.target))
    let site = DiagnosisSubject("https://203.0.113.10/" as SiteURL)
    #expect(site.goal == .site && site.host == .address(Self.target) && site.ports == [443] && site.url != nil)
    #expect(DiagnosisSubject("http://a.example/" as SiteURL).ports == [80])
  }

  // MARK: Names and codes

  /// IANA, DNS RCODEs (RFC 6895, 2.3).
  @Test(
    arguments: [
      (0, "NOERROR"), (1, "FORMERR"), (2, "SERVFAIL"), (3, "NXDOMAIN"), (4, "NOTIMP"), (5, "REFUSED"), (6, "code 6"),
      (15, "code 15"),
    ] as [(UInt8, String)])
  func codesOfServersHaveTheirNames(number: UInt8, name: String) {
    #expect("\(NameFinding.ResponseCode(number))" == name && NameFinding.ResponseCode(number).number == number)
  }

  @Test func codesOfServersAreThoseOfTheStandard() {
    let codes: [NameFinding.ResponseCode] = [.success, .serverFailure, .nameError, .refused]
    #expect(codes.map(\.number) == [0, 2, 3, 5])
  }

  @Test func confidenceGrows() {
    let all = DiagnosisConfidence.allCases
    for (a, first) in all.enumerated() {
      for (b, second) in all.enumerated() { #expect((first < second) == (a < b), "\(first), \(second)") }
    }
    #expect(all == [.unknown, .likely, .certain] && all.map(\.identifier) == ["unknown", "likely", "certain"])
  }

  /// A step is as sure as its proof, and gives advice if something is wrong.
  @Test func aStepIsAsSureAsItsProof() throws {
    func step(_ finding: Finding) throws -> DiagnosisStep { try #require(finding.steps.first) }
    let certain = try step(NearestCauseTests.kernel(.link(.missing("eth9"))))
    #expect(certain.confidence == .certain && certain.cause == .noInterface && certain.advice != nil)
    #expect("\(certain)" == "link: fault, there is no interface eth9" && certain.family == .ipv4)
    let likely = try step(NearestCauseTests.reset)
    #expect(likely.confidence == .likely && likely.proof == nil && likely.advice != nil)
    let fine = try step(NearestCauseTests.kernel(.link(.works("eth0"))))
    #expect(fine.confidence == nil && fine.cause == nil && fine.advice == nil && fine.outcome == .ok)
    #expect("\(fine)" == "link: ok, eth0 is up" && "\(DiagnosisStep.Kind.pathMTU)" == "path-mtu")
    #expect(DiagnosisStep.Kind.history.position == 0 && DiagnosisStep.Kind.proxy.position == 15)
  }

  // MARK: What a finding says

  /// RFC 792: own words are a firewall's, others' that it is prohibited a filter's.
  @Test(
    arguments: [
      (.answer, false, false, false), (.forged, false, false, false), (.silent, true, false, false),
      (.failed(1), false, true, true), (.failed(101), false, true, false),
      (.refused(NetworkStatement(.prohibited, by: router)), false, false, false),
      (.refused(NetworkStatement(.networkUnreachable, by: router)), true, false, false),
      (.refused(NetworkStatement(.networkUnreachable, by: router, isOwn: true)), false, true, true),
    ] as [(BeyondFinding.Outcome, Bool, Bool, Bool)])
  func aQuestionIsLostOrHeld(outcome: BeyondFinding.Outcome, isLost: Bool, isHeld: Bool, isForbidden: Bool) {
    let question = BeyondFinding.Question(Self.server, outcome)
    #expect(question.isLost == isLost && question.isHeld == isHeld && question.isForbidden == isForbidden)
    #expect(BeyondFinding([question]).hasAnswer == (outcome == .answer))
  }

  @Test func ofTriesTheFirstThatSaysSomethingCounts() {
    func outcome(_ tries: ConnectionFinding.Outcome...) -> ConnectionFinding.Outcome {
      ConnectionFinding.Attempt(Self.target, port: 443, tries: tries).outcome
    }
    #expect(outcome(.silent, .reset, .failed(1)) == .reset && outcome(.silent, .silent) == .silent)
    #expect(outcome(.reset, .accepted(milliseconds: 2)) == .accepted(milliseconds: 2) && outcome() == .silent)
  }

  private typealias Reply = NameFinding.Reply

  private static let known = Reply.answer(.success, [target])
  private static let empty = Reply.answer(.success, [])
  private static let nobody = Reply.answer(.success, [IPAddress(ipv4: 0)])
  private static let denied = Reply.answer(.nameError, [])
  private static let no = Reply.answer(.refused, [])

  /// Of each reply, whether programs have something of it, and whether the server is out of its depth.
  @Test func repliesAreOfUseOrNot() {
    let rows: [(Reply, isUseless: Bool, isHelpless: Bool)] = [
      (Self.known, false, false), (Self.empty, false, false), (Self.nobody, true, false), (Self.denied, false, false),
      (Self.no, true, false), (.answer(.serverFailure, []), true, true), (.truncated, false, false),
      (.mismatched, true, false), (.silent, true, true), (.forbidden, true, false), (.dropped, true, false),
      (.failed(101), true, false), (.refused(NetworkStatement(.prohibited, by: Self.router)), true, true),
      (.refused(NetworkStatement(.prohibited, by: Self.router, isOwn: true)), true, false),
      (.answer(.success, [IPAddress(ipv4: 0), Self.target]), false, false),
    ]
    for (reply, isUseless, isHelpless) in rows {
      #expect(reply.isUseless == isUseless && reply.isHelpless == isHelpless, "\(reply)")
    }
    #expect(Self.known.addresses == [Self.target] && Reply.silent.addresses == [] && Reply.silent.code == nil)
    #expect(Self.denied.code == .nameError)
  }

  /// Of both replies of a server, what it says in all.
  @Test func aServerIsJudgedByAllItsReplies() {
    struct Row {
      let four: Reply?
      let six: Reply?
      let says: Set<String>
    }
    let rows = [
      Row(four: nil, six: nil, says: []), Row(four: .silent, six: .silent, says: ["silent"]),
      Row(four: .silent, six: nil, says: ["silent"]), Row(four: .silent, six: Self.known, says: ["answers"]),
      Row(four: Self.known, six: Self.empty, says: ["answers"]),
      Row(four: Self.empty, six: Self.empty, says: ["answers", "unknown"]),
      Row(four: Self.denied, six: .silent, says: ["answers", "unknown"]),
      Row(four: Self.no, six: Self.no, says: ["answers", "no"]),
      // One type alone says nothing of the other (RFC 2308, 2.2).
      Row(four: Self.no, six: Self.empty, says: ["answers", "no"]),
      Row(four: .silent, six: Self.empty, says: ["answers", "no"]),
      Row(four: .truncated, six: Self.empty, says: ["answers", "TCP"]),
      Row(four: .truncated, six: Self.known, says: ["answers"]),
      Row(four: .truncated, six: nil, says: ["answers", "TCP"]),
      Row(four: .forbidden, six: .failed(101), says: []), Row(four: .mismatched, six: .dropped, says: []),
    ]
    for row in rows {
      let server = NameFinding.Server(Self.server, ipv4: row.four, ipv6: row.six)
      let said: [String: Bool] = [
        "silent": server.isSilent, "answers": server.hasAnswered, "unknown": server.saysUnknown, "no": server.saysNo,
        "TCP": server.needsTCP,
      ]
      #expect(Set(said.filter(\.value).keys) == row.says, "\(row)")
      #expect(server.reply(.ipv4) == row.four && server.reply(.ipv6) == row.six)
    }
  }

  /// One reply is of use, and another one is not; silence is no contradiction, but loss.
  @Test func aServerContradictsItself() {
    func contradicts(_ four: Reply?, _ six: Reply?, _ control: Reply? = nil) -> Bool {
      NameFinding.Server(Self.server, ipv4: four, ipv6: six, control: control).contradictsItself
    }
    #expect(contradicts(Self.known, Self.no) && contradicts(Self.no, Self.no, Self.denied))
    #expect(contradicts(Self.known, Self.empty, Self.no))
    #expect(!contradicts(Self.known, Self.empty, Self.denied) && !contradicts(Self.no, Self.no, Self.no))
    #expect(!contradicts(Self.known, .silent) && !contradicts(Self.known, Self.no, .silent) && !contradicts(nil, nil))
  }

  // MARK: Sites and clocks

  /// A clock that is a day behind what this machine has done is wrong; so is one that is three years ahead.
  @Test(
    arguments: [
      (-86_401, .behind), (-86_400, nil), (0, nil), (3 * 365 * 86_400, nil), (3 * 365 * 86_400 + 1, .ahead),
    ] as [(Int64, SiteFinding.Clock.Fault?)])
  func aClockIsWrongByADayOrYears(offset: Int64, fault: SiteFinding.Clock.Fault?) {
    let change: Int64 = 1_700_000_000
    #expect(SiteFinding.Clock(now: change + offset, isKept: false, lastChange: change).fault == fault)
    #expect(SiteFinding.Clock(now: change + offset).fault == nil)
  }

  /// What keeps the clock right is known, or it is not: then only what this machine did later tells.
  @Test(arguments: [(true, true), (false, false), (nil, false)] as [(Bool?, Bool)])
  func aClockThatIsKeptIsSure(isKept: Bool?, isSure: Bool) {
    let clock = SiteFinding.Clock(now: 100, isKept: isKept, lastChange: 50)
    #expect(clock.isSure(ofExpiry: 60) == isSure && clock.isSure(ofExpiry: nil) == isSure)
    #expect(clock.isSure(ofExpiry: 49))
  }

  /// Packets are lost only if the kernel says so of each check that stopped.
  @Test func lossIsKnownOfEachCheckOrNotAtAll() {
    func isLost(_ stalls: [SiteFinding.Stall]) -> Bool {
      SiteFinding(SiteVerdict(url: "http://a.example/", kind: .offline), stalls: stalls).hasLostPackets
    }
    #expect(isLost([.unacknowledged]) && isLost([.incomplete, .unacknowledged]))
    #expect(!isLost([]) && !isLost([.acknowledged]) && !isLost([.incomplete, .acknowledged]))
  }

  /// IANA, root hints: thirteen in each family, from a to m, and none twice.
  @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
  func rootServersHaveTheirAddresses(family: IPAddress.Family) throws {
    let texts = try #require(RootServers.addresses[family])
    let addresses = try texts.map { try #require(IPAddress($0)) }
    #expect(addresses.count == 13 && Set(addresses).count == 13 && addresses.allSatisfy { $0.family == family })
    #expect(addresses.map(\.description) == texts)
    #expect(addresses.filter(RootServers.isFirst) == [addresses[0]])
  }
}
