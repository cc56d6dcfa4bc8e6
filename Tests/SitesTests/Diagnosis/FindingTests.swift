// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneDiagnosis

/// What a finding says by itself, before a rule compares it with others.
struct FindingTests {
  private static let four = IPAddress(ipv4: 0xCB00_710A)
  private static let six = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  private static let router = IPAddress(ipv4: 0xC000_0201)
  private static let server = IPAddress(ipv4: 0xC000_0235)

  // MARK: Sites

  private static func verdict(
    _ kind: SiteVerdict.Kind, _ stage: SiteVerdict.Stage?, _ code: SiteError.Code = .timedOut,
    after total: Duration? = nil
  ) -> SiteVerdict {
    SiteVerdict(
      url: "https://site.example/", kind: kind, status: 302, stage: stage, error: SiteError(code, "words"),
      timings: SiteVerdict.Timings(total: total))
  }

  /// A site may take three seconds: who waited for less has seen nothing of it.
  @Test func onlySilenceThatWasWaitedForIsSilence() {
    func isHurried(_ first: Duration, _ later: Duration...) -> Bool {
      SiteFinding(
        Self.verdict(.failed, .response, after: first),
        later: later.map { Self.verdict(.failed, .tls, after: $0) }
      ).isHurried
    }
    #expect(isHurried(.seconds(1)) && isHurried(.seconds(1), .milliseconds(2_899)))
    #expect(!isHurried(.milliseconds(2_900)) && !isHurried(.seconds(1), .seconds(3)))
    // One that got a reset has seen something.
    let reset = Self.verdict(.failed, .response, .connectionLost, after: .seconds(1))
    #expect(!SiteFinding(reset).isHurried && !SiteFinding.isStalled(reset))
  }

  @Test func aNameThatTakesLongIsNotOneThatFails() {
    func isSlow(_ kind: SiteVerdict.Kind, _ stage: SiteVerdict.Stage?, _ total: Duration) -> Bool {
      SiteFinding(Self.verdict(kind, stage, .nameNotResolved, after: total)).isSlowName
    }
    #expect(isSlow(.offline, nil, .seconds(1)) && isSlow(.failed, .name, .seconds(1)))
    #expect(!isSlow(.failed, .name, .milliseconds(800)) && !isSlow(.failed, .connect, .seconds(1)))
  }

  @Test func whatFailsInTLSIsNamed() {
    func meanings(_ verdict: SiteVerdict) -> [Reading.Meaning] {
      SiteRules.read(SiteFinding(verdict)).filter { $0.charge != nil }.map(\.meaning)
    }
    #expect(meanings(Self.verdict(.failed, .tls, .trustUnreadable)) == [.site(.trustUnreadable)])
    #expect(meanings(Self.verdict(.failed, .tls, .connectionLost)) == [.site(.tlsFails)])
    #expect(meanings(Self.verdict(.failed, .tls)) == [.site(.tlsStalled)])
  }

  /// A page that was not expected is only odd if something is said to be wrong with it.
  @Test func anAnswerThatWasNotExpectedIsOddIfItHasAnError() {
    func meaning(_ error: SiteError?) -> Reading.Meaning? {
      let verdict = SiteVerdict(url: "http://site.example/", kind: .unexpectedResponse, status: 302, error: error)
      return SiteRules.read(SiteFinding(verdict)).last?.meaning
    }
    #expect(meaning(nil) == .site(.answers(status: 302)))
    #expect(meaning(SiteError(.malformedResponse, "words")) == .site(.unexpected))
  }

  /// How often it failed is counted over all tries of the kind that can tell.
  @Test func saysHowOftenItFailed() {
    let answer = SiteVerdict(url: "https://site.example/", kind: .available, status: 200)
    let silence = Self.verdict(.failed, .tls)
    func first(_ finding: SiteFinding) -> (Reading.Meaning, DiagnosisStep.Outcome)? {
      SiteRules.read(finding).first.map { ($0.meaning, $0.outcome) }
    }
    let once = first(SiteFinding(silence, small: [answer, answer], later: [answer]))
    #expect(once?.0 == .site(.unreliable(failures: 1, of: 2)) && once?.1 == .doubtful)
    let twice = first(SiteFinding(silence, small: [answer, silence]))
    #expect(twice?.0 == .site(.unreliable(failures: 2, of: 3)) && twice?.1 == .fault)
  }

  /// RFC 9110, 15.5.2; RFC 6585, 6.
  @Test func tellsWhatPortalsAnswer() {
    let statuses: [Int?] = [nil, 199, 200, 299, 300, 399, 400, 401, 404, 502, 511]
    #expect(statuses.filter { PortalFinding(status: $0).isPortal } == [200, 299, 300, 399, 401, 511])
    #expect(statuses.filter { PortalFinding(status: $0).demandsLogin } == [300, 399, 401, 511])
  }

  /// A date that is the same as the last change had not passed before.
  @Test func aDateHasPassedIfAFileIsNewer() {
    let clock = SiteFinding.Clock(now: 2_000, isKept: false, lastChange: 1_000)
    #expect(clock.isSure(ofExpiry: 999) && !clock.isSure(ofExpiry: 1_000))
  }

  // MARK: Names

  private static func name(
    _ four: NameFinding.Reply?, _ six: NameFinding.Reply?, _ change: (inout NameFinding) -> Void = { _ in }
  ) -> NameFinding {
    let servers = [NameFinding.Server(server, ipv4: four, ipv6: six)]
    var finding = NameFinding(name: "site.example", servers: servers, addresses: servers[0].addresses)
    change(&finding)
    return finding
  }

  private static let known = NameFinding.Reply.answer(.success, [four])

  /// What nobody has denied may exist.
  @Test func aNameIsPartlyKnownUnlessTheRestIsDenied() {
    let none = NameFinding.Reply.answer(.success, [])
    #expect(!Self.name(Self.known, none).isPartial(beside: .ipv4))
    #expect(Self.name(Self.known, .silent).isPartial(beside: .ipv4))
    #expect(Self.name(.silent, .answer(.success, [Self.six])).isPartial(beside: .ipv6))
    let nobodys = NameFinding.Reply.answer(.success, [IPAddress(IPAddressBits(ipv6High: 0, low: 0))])
    #expect(Self.name(Self.known, nobodys).isPartial(beside: .ipv4))
    // Who has no address at all is not known in part, nor is what no server was asked for.
    #expect(!Self.name(.silent, .silent).isPartial(beside: .ipv4))
    #expect(!Self.name(Self.known, nil).isPartial(beside: .ipv4))
    for source in [NameFinding.Source.literal, .hosts] {
      #expect(!Self.name(Self.known, .silent) { $0.source = source }.isPartial(beside: .ipv4))
    }
    let unsteady = NameFinding.Unsteady(Self.server, failures: 1, tries: 3)
    #expect(Self.name(Self.known, none) { $0.unsteady = unsteady }.isPartial(beside: .ipv4))
    // Programs get less than servers know.
    #expect(Self.name(Self.known, none) { $0.system = .failed }.isPartial(beside: .ipv6))
    // A second server in a family that this machine does not use says nothing of the name.
    let missing = NameFinding.Reply.noWay(KernelFinding(.address(.missing), target: Self.six))
    let second = NameFinding.Server(Self.six, ipv4: missing, ipv6: missing)
    #expect(!Self.name(Self.known, none) { $0.servers.append(second) }.isPartial(beside: .ipv4))
    // Programs believe the first server that answers (resolver(3)), and the rest of another one is not waited for.
    let sixAlone = Self.name(none, .answer(.success, [Self.six]))
    let late = NameFinding.Server(Self.server, ipv6: .answer(.success, [Self.six]))
    let dead = NameFinding.Server(Self.server, ipv4: .silent, ipv6: .silent)
    for servers in [sixAlone.servers + [late], [dead] + sixAlone.servers, [late] + sixAlone.servers] {
      var finding = sixAlone
      finding.servers = servers
      #expect(finding.isPartial(beside: .ipv6) == (servers.first == late), "\(servers)")
    }
    // A machine without IPv4 asks for no IPv4 address (AI_ADDRCONFIG, getaddrinfo(3)): that is no other family.
    #expect(!Self.name(Self.known, none) { $0.system = .failed }.isPartial(beside: .ipv4))
    #expect(Self.name(Self.known, .silent).isPartial(beside: .ipv4))
    #expect(!Self.name(Self.known, .silent).isPartial(beside: .ipv6))
    #expect(!Self.name(Self.known, none) { $0.system = .silent }.isPartial(beside: .ipv4))
    #expect(!Self.name(Self.known, none) { $0.system = .addresses([Self.four]) }.isPartial(beside: .ipv4))
  }

  /// Netfilter's verdict is proof if it is the same of each question.
  @Test func eachQuestionHasToBeForbiddenForAProof() {
    func charge(_ four: NameFinding.Reply, _ six: NameFinding.Reply?) -> Charge? {
      NameRules.read(Self.name(four, six)).charge
    }
    #expect(charge(.forbidden, .forbidden)?.proof?.witness == .kernel)
    #expect(charge(.forbidden, nil)?.proof?.witness == .kernel)
    #expect(charge(.forbidden, .silent) == Charge(.localFirewall, nil))
  }

  // MARK: Connections, and what lies beyond

  /// Of tries that ended differently, a word counts more than a reset, that more than what this machine could not send,
  /// and all of them more than silence, in any order.
  @Test func whatSaysMoreCounts() {
    let word = NetworkStatement(.prohibited, by: Self.router)
    let outcomes: [ConnectionFinding.Outcome] = [.refused(word), .reset, .failed(97), .silent]
    let causes: [DiagnosisCause] = [.prohibited, .refused, .denied, .silent]
    for first in outcomes.indices {
      for second in outcomes.indices where first != second {
        let attempts = [(Self.four, first), (Self.server, second)].map { address, outcome in
          ConnectionFinding.Attempt(address, port: 443, outcomes[outcome])
        }
        let reading = ConnectionRules.read(ConnectionFinding(.ipv4, attempts))
        #expect(reading.charge?.cause == causes[min(first, second)], "\(outcomes[first]), \(outcomes[second])")
      }
    }
  }

  @Test func anAddressThatIsDeadOnEachPortIsNamedOnce() {
    let other = IPAddress(ipv4: 0xCB00_710B)
    let silent = [(Self.four, UInt16(443)), (Self.four, 80), (other, 443), (other, 80)].map { address, port in
      ConnectionFinding.Attempt(address, port: port, .silent)
    }
    let working = ConnectionFinding.Attempt(Self.server, port: 443, .accepted(milliseconds: 1))
    let reading = ConnectionRules.read(ConnectionFinding(.ipv4, silent + [working]))
    guard case .connection(.addressesDead(_, let dead), _) = reading.meaning else {
      Issue.record("\(reading.meaning)")
      return
    }
    #expect(dead == [Self.four, other])
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [reading.finding])
    #expect(verdict.summary.hasPrefix("The addresses \(Self.four), \(other) take no connection, and "))
  }

  /// A filter of questions is no dead family; a router without a way is.
  @Test func aRouterWithoutAWayIsADeadFamily() {
    func verdict(_ meaning: NetworkStatement.Meaning) -> DiagnosisVerdict {
      let refused = BeyondFinding.Outcome.refused(NetworkStatement(meaning, by: Self.router))
      let beyond = BeyondFinding(
        [BeyondFinding.Question(Self.four, refused), BeyondFinding.Question(Self.six, .answer)],
        connection: .answered)
      return DiagnosisVerdict(of: "internet", goal: .internet, findings: [.beyond(beyond)])
    }
    #expect(verdict(.networkUnreachable).cause == .familyBroken && verdict(.prohibited).isFine)
  }

  /// A host is asked on the ports of sites, unless one is named.
  @Test func aHostIsAskedOnThePortsOfSites() throws {
    #expect(DiagnosisSubject(try .host("site.example")).ports == [443, 80])
    #expect(DiagnosisSubject("http://site.example:8080/" as SiteURL).ports == [8_080])
  }
}
