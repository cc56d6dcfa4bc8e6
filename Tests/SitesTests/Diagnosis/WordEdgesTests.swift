// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Words that differ with what was found, and not only in names.
struct WordEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server
  private static let second = IPAddress(ipv4: 0xC000_0236)

  private static func text(_ finding: Finding) -> String? { finding.steps.first?.text }

  // MARK: Parts

  @Test(
    arguments: [
      (0.04, "0.0 ms"), (3.14, "3.1 ms"), (9.94, "9.9 ms"), (10.4, "10 ms"), (10.6, "11 ms"), (1_234.5, "1235 ms"),
    ] as [(Double, String)])
  func timesHaveTwoDigitsAtLeast(milliseconds: Double, text: String) {
    #expect(Words.time(milliseconds) == text)
  }

  @Test func listsAreCutAfterFour() {
    #expect(Words.list([Int]()) == "" && Words.list([1]) == "1" && Words.list([1, 2, 3, 4]) == "1, 2, 3, 4")
    #expect(Words.list([1, 2, 3, 4, 5]) == "1, 2, 3, 4 and 1 more" && Words.list([1, 2, 2, 1, 3, 3]) == "1, 2, 3")
    #expect(Words.list([1, 2, 3, 4, 5, 6, 7, 1]) == "1, 2, 3, 4 and 3 more")
  }

  @Test func partsAreNamed() {
    #expect(Words.name(.ipv4) == "IPv4" && Words.name(.ipv6) == "IPv6")
    #expect(Words.endpoint(Self.target, 80) == "203.0.113.10:80")
    #expect(Words.endpoint(Self.target6, 80) == "[2001:db8::a]:80")
    #expect(Words.capitalised("the end") == "The end" && Words.capitalised("") == "")
    // A sentence goes on with it (errno(3): "No such file or directory").
    #expect(SiteError.text(errno: 2).hasPrefix("no such file"), "\(SiteError.text(errno: 2))")
    let own = NetworkStatement(.other(type: 4, code: 2), by: Self.router, isOwn: true)
    #expect(Words.who(own) == "this machine" && Words.text(own) == "ICMP type 4, code 2")
    #expect(Words.who(NetworkStatement(.tooLarge, by: Self.router)) == "the host 192.0.2.1")
  }

  // MARK: Steps

  @Test func silenceIsToldWithWhatWasSeen() {
    func text(_ sight: ConnectionFinding.Sight?) -> String? {
      let attempt = ConnectionFinding.Attempt(Self.target, port: 443, .silent, sight: sight)
      return Self.text(.connection(ConnectionFinding(.ipv4, [attempt])))
    }
    let begin = "no answer comes from 203.0.113.10:443, and nothing on the way says why; "
    let unknown = "whether this machine's own firewall drops them cannot be "
    #expect(text(nil) == begin + unknown + "seen without CAP_NET_RAW")
    #expect(text(.init(hasLeft: nil)) == begin + unknown + "told")
    #expect(text(.init(hasLeft: true, hasReturned: false)) == begin + "this machine does send its packets")
  }

  @Test func aRefusalOfThisMachineIsToldWithWhoListens() {
    func text(_ listeners: [IPAddress]?) -> String? {
      Self.text(NearestCauseTests.connection(Self.target, .reset) { ($0.isOwn, $0.listeners) = (true, listeners) })
    }
    #expect(text([]) == "nothing on this machine listens on port 443")
    let others = text([Self.server, Self.target6])
    #expect(others?.hasSuffix(" 203.0.113.10:443, but at 192.0.2.53:443, [2001:db8::a]:443") == true, "\(others ?? "")")
    #expect(text(nil)?.hasSuffix("nothing listens there, or its own firewall says so") == true)
    #expect(Self.text(NearestCauseTests.reset)?.hasPrefix("connections to 203.0.113.10:443 are refused: ") == true)
  }

  /// One that refuses has answered, too: it takes no connection.
  @Test func anAddressThatIsDeadTakesNoConnection() {
    func text(_ outcome: ConnectionFinding.Outcome, _ dead: IPAddress...) -> String? {
      let working = ConnectionFinding.Attempt(Self.target, port: 443, .accepted(milliseconds: 1))
      let attempts = dead.map { ConnectionFinding.Attempt($0, port: 443, outcome) }
      return Self.text(.connection(ConnectionFinding(.ipv4, attempts + [working])))
    }
    for outcome in [ConnectionFinding.Outcome.silent, .reset] {
      #expect(text(outcome, Self.server) == "the address 192.0.2.53 takes no connection, and 203.0.113.10 does")
      let both = text(outcome, Self.server, Self.second)
      #expect(both == "the addresses 192.0.2.53, 192.0.2.54 take no connection, and 203.0.113.10 does")
    }
  }

  @Test func serversAreCounted() {
    func text(_ addresses: [IPAddress], _ reply: NameFinding.Reply, isRootOnly: Bool = false) -> String? {
      let servers = addresses.map { NameFinding.Server($0, ipv4: reply) }
      return Self.text(.name(NameFinding(name: "a", servers: servers, isRootOnly: isRootOnly)))
    }
    #expect(text([Self.server], .silent) == "the name server 192.0.2.53 does not answer")
    #expect(text([Self.server, Self.second], .silent) == "the name servers 192.0.2.53, 192.0.2.54 do not answer")
    let root = NameFinding.Reply.answer(.success, [])
    #expect(text([Self.server], root, isRootOnly: true) == "192.0.2.53 answers")
    #expect(text([Self.server, Self.second], root, isRootOnly: true) == "192.0.2.53, 192.0.2.54 answer")
  }

  /// RFC 1035, 3.2.2, RFC 3596: the type that a server has nothing for, and whether programs wait for it.
  @Test func aTypeIsNamedByItsRecord() {
    let known = NameFinding.Reply.answer(.success, [Self.target])
    let known6 = NameFinding.Reply.answer(.success, [Self.target6])
    func text(_ four: NameFinding.Reply, _ six: NameFinding.Reply) -> String? {
      let server = NameFinding.Server(Self.server, ipv4: four, ipv6: six)
      return Self.text(.name(NameFinding(name: "a", servers: [server], addresses: server.addresses)))
    }
    let begin = "the name server 192.0.2.53 "
    #expect(text(known, .answer(.serverFailure, [])) == begin + "fails for AAAA records (SERVFAIL)")
    #expect(text(.answer(.refused, []), known6) == begin + "fails for A records (REFUSED)")
    #expect(text(.failed(101), known6) == begin + "fails for A records")
    #expect(text(.silent, known6) == begin + "does not answer for A records, so that lookups take long")
    #expect(text(known, .silent) == begin + "does not answer for AAAA records, so that lookups take long")
  }

  /// Who asks for a name, or for the Internet, knows nothing of the address that the kernel was asked about instead.
  @Test func anAddressThatStandsForAnotherIsNotNamed() throws {
    let root = try #require(IPAddress("198.41.0.4"))
    func summary(_ target: String, _ address: IPAddress) -> String {
      let finding = NearestCauseTests.kernel(.route(.missing), address)
      return DiagnosisVerdict(of: target, goal: .host, findings: [finding]).summary
    }
    #expect(summary("a.example", root) == "There is no IPv4 route to the Internet.")
    #expect(summary("198.41.0.4:53", root) == "There is no route to 198.41.0.4.")
    #expect(summary("a.example", Self.target) == "There is no route to 203.0.113.10.")
  }

  // MARK: Verdicts

  @Test func whatWorksIsListedOnce() {
    func kernel(_ result: KernelFinding.Result, _ target: IPAddress = Self.target) -> Finding {
      NearestCauseTests.kernel(result, target)
    }
    let name = NameFinding(
      name: "a.example", servers: [NameFinding.Server(Self.server, ipv4: .answer(.success, [Self.target]))],
      addresses: [Self.target])
    let site = SiteFinding(SiteVerdict(url: "https://a.example/", kind: .available, status: 200))
    let findings: [Finding] = [
      kernel(.link(.works("eth0"))), kernel(.link(.works("eth0")), Self.target6),
      kernel(.address(.works(Self.second))), kernel(.route(.leads(gateway: Self.router, interface: "eth0"))),
      kernel(.route(.leads(gateway: nil, interface: "eth0")), Self.target6), kernel(.rule(.none)),
      kernel(.neighbour(.answers(Self.router, isGateway: true))),
      kernel(.neighbour(.answers(Self.target6, isGateway: false)), Self.target6), .name(name), .site(site),
      .beyond(BeyondFinding([BeyondFinding.Question(Self.server, .answer)])), .portal(PortalFinding(status: nil)),
    ]
    let begin = ["eth0 up", "192.0.2.54", "default via 192.0.2.1", "router 192.0.2.1 answers", "the Internet answers"]
    let verdict = DiagnosisVerdict(of: "a.example", goal: .site, findings: findings)
    let end = ["the certificate proves that it is a.example", "a.example answers 200"]
    #expect(verdict.works == begin + ["a.example is 203.0.113.10"] + end && verdict.others == [])
    let internet = DiagnosisVerdict(of: "internet", goal: .internet, findings: findings)
    #expect(internet.works == begin + ["name server answers"] + end)
    // What is at fault does not work.
    let dead = DiagnosisVerdict(of: "a", goal: .host, findings: [kernel(.route(.dead)), NearestCauseTests.reset])
    #expect(dead.works == [])
  }

  /// RFC 9110, 15.5: a site that answers 4xx works, and the network does.
  @Test(arguments: [(399, ""), (400, " with the network"), (200, "")])
  func whatASiteAnswersIsNoneOfTheNetwork(status: Int, words: String) {
    let site = SiteFinding(SiteVerdict(url: "https://a.example/", kind: .available, status: status))
    let verdict = DiagnosisVerdict(of: "a.example", goal: .site, findings: [.site(site)])
    #expect(verdict.summary == "Nothing is wrong\(words): a.example answers \(status).")
  }

  /// A person asked for a name, and would have to recognise its address.
  @Test func aConnectionThatFailsIsToldWithTheNameThatLedThere() {
    func summary(_ addresses: [IPAddress], _ source: NameFinding.Source = .dns) -> String {
      let name = Finding.name(NameFinding(name: "a.example", source: source, addresses: addresses))
      let silent = NearestCauseTests.connection(Self.target, .silent)
      return DiagnosisVerdict(of: "a.example", goal: .host, findings: [name, silent]).summary
    }
    #expect(summary([Self.target6, Self.target]).contains(" from a.example (203.0.113.10:443), "))
    // No name led there.
    #expect(summary([Self.target], .literal).contains(" from 203.0.113.10:443, "))
    #expect(summary([Self.target6]).contains(" from 203.0.113.10:443, "))
  }

  /// A family that is not set up is told apart from one that is broken by whether the other one's router answers.
  @Test func aFamilyThatIsNotSetUpIsListed() {
    let router = NearestCauseTests.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    func others(_ findings: Finding...) -> [String] {
      DiagnosisVerdict(of: "a", goal: .host, findings: findings).others
    }
    let none = ["IPv6 is not set up on this machine (not counted)"]
    for result: KernelFinding.Result in [.address(.missing), .address(.linkLocal(Self.target6)), .route(.missing)] {
      let missing = NearestCauseTests.kernel(result, Self.target6)
      #expect(others(router, missing) == none && others(missing) == [], "\(result)")
      // Its own router answers: then it is a fault of its own.
      let own = NearestCauseTests.kernel(.neighbour(.answers(Self.router, isGateway: true)), Self.target6)
      #expect(others(own, missing) == [])
    }
    #expect(others(router, NearestCauseTests.kernel(.route(.dead), Self.target6)) == [])
    let link = NearestCauseTests.kernel(.link(.works("eth0")))
    #expect(others(link, NearestCauseTests.kernel(.address(.missing), Self.target6)) == [])
  }

  /// Other ports of the address that answered are told if they say nothing, and no others.
  @Test func silentPortsAreThoseOfTheAddressThatAnswers() {
    let attempts = [
      ConnectionFinding.Attempt(Self.target, port: 443, .silent),
      ConnectionFinding.Attempt(Self.target, port: 80, .accepted(milliseconds: 1)),
      ConnectionFinding.Attempt(Self.target, port: 81, .reset),
    ]
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.connection(ConnectionFinding(.ipv4, attempts))])
    #expect(verdict.details == ["Its port 443 does not answer."])
  }

  // MARK: Facts

  private static func fact(_ finding: Finding, _ key: String) -> DiagnosisEvidence.Value? {
    finding.steps.first?.evidence.first { $0.key == key }?.value
  }

  @Test func factsSayWhatWasFound() {
    func packets(_ outcome: LargePacketsFinding.Outcome?) -> DiagnosisEvidence.Value? {
      Self.fact(.largePackets(LargePacketsFinding(.ipv4, outcome)), "largeAnswered")
    }
    #expect(packets(.answered) == .flag(true) && packets(.vanished) == .flag(false) && packets(nil) == nil)
    let facts = KernelEvidence.NeighbourFacts(address: Self.router, link: "eth0", state: .stale)
    let evidence = KernelEvidence(target: Self.target, state: Reachability(.reachable), neighbour: facts)
    let rows: [(KernelFinding.Neighbour, wasProbed: Bool, hasAnswered: Bool)] = [
      (.answers(Self.router, isGateway: true), false, true), (.answered(Self.router, isGateway: true), false, false),
      (.silent(Self.router, isGateway: true, wasProbed: true), true, false),
      (.silent(Self.router, isGateway: true, wasProbed: false), false, false),
    ]
    for (neighbour, wasProbed, hasAnswered) in rows {
      let finding = Finding.kernel(KernelFinding(.neighbour(neighbour), evidence))
      #expect(Self.fact(finding, "wasProbed") == .flag(wasProbed), "\(neighbour)")
      #expect(Self.fact(finding, "hasAnswered") == .flag(hasAnswered), "\(neighbour)")
    }
  }

  /// Servers are unanswered if none has said anything, and the name has no address from elsewhere.
  @Test func unansweredServersAreListed() {
    func unanswered(_ replies: [NameFinding.Reply], _ addresses: [IPAddress] = []) -> DiagnosisEvidence.Value? {
      let servers = zip([Self.server, Self.second], replies).map { NameFinding.Server($0, ipv4: $1) }
      return Self.fact(.name(NameFinding(name: "a", servers: servers, addresses: addresses)), "unanswered")
    }
    #expect(unanswered([.silent, .silent]) == .list(["192.0.2.53", "192.0.2.54"]))
    #expect(unanswered([.silent, .answer(.nameError, [])]) == .list([]) && unanswered([]) == .list([]))
    #expect(unanswered([.silent], [Self.target]) == .list([]))
  }
}
