// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// The rule about names, on findings made by hand, and what it reads of files and servers.
struct NameRulesTests {
  typealias Reply = NameFinding.Reply

  private static let address = IPAddress(ipv4: 0xCB00_710A)
  private static let first = IPAddress(ipv4: 0xC000_0235)
  private static let second = IPAddress(ipv4: 0xC000_0236)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let outcome: DiagnosisStep.Outcome
    let cause: DiagnosisCause?
    /// What each server says of A and AAAA, and of the name that cannot exist.
    let servers: [(Reply, Reply, Reply?)]
  }

  private static let known = Reply.answer(.success, [address])
  private static let empty = Reply.answer(.success, [])
  private static let unknown = Reply.answer(.nameError, [])
  private static let no = Reply.answer(.refused, [])
  private static let failing = Reply.answer(.serverFailure, [])
  private static let formatError = Reply.answer(NameFinding.ResponseCode(1), [])
  private static let notAuthoritative = Reply.answer(NameFinding.ResponseCode(9), [])
  private static let referral = Reply.answer(.referral, [])

  private static let router = IPAddress(ipv4: 0xC000_0201)
  private static let closed = Reply.refused(NetworkStatement(.portUnreachable, by: first))
  private static let prohibited = Reply.refused(NetworkStatement(.prohibited, by: router))
  private static let unreachable = Reply.refused(NetworkStatement(.networkUnreachable, by: router))
  private static let absent = Reply.refused(NetworkStatement(.hostUnreachable, by: router))
  private static let address6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  private static let noWay = Reply.noWay(KernelFinding(.route(.missing), target: first))

  private static let rows: [Row] = [
    Row(testDescription: "known", outcome: .ok, cause: nil, servers: [(known, empty, unknown)]),
    Row(testDescription: "unknown", outcome: .fault, cause: .nameUnknown, servers: [(unknown, unknown, unknown)]),
    Row(testDescription: "no address", outcome: .fault, cause: .nameUnknown, servers: [(empty, empty, unknown)]),
    Row(testDescription: "silent", outcome: .fault, cause: .nameServerSilent, servers: [(.silent, .silent, .silent)]),
    Row(testDescription: "refused", outcome: .fault, cause: .nameServerRefuses, servers: [(no, no, no)]),
    Row(testDescription: "failing", outcome: .fault, cause: .nameServerRefuses, servers: [(failing, failing, failing)]),
    Row(
      testDescription: "nothing listens", outcome: .fault, cause: .nameServerRefuses,
      servers: [(closed, closed, .silent)]),
    Row(
      testDescription: "a router prohibits", outcome: .fault, cause: .prohibited,
      servers: [(prohibited, prohibited, .silent)]),
    Row(
      testDescription: "a router has no way", outcome: .fault, cause: .routerNoRoute,
      servers: [(unreachable, unreachable, .silent)]),
    Row(
      testDescription: "nobody has the server's address", outcome: .fault, cause: .nameServerSilent,
      servers: [(absent, absent, .silent)]),
    Row(
      testDescription: "AAAA fails", outcome: .doubtful, cause: .nameServerRefuses,
      servers: [(known, failing, unknown)]),
    Row(
      testDescription: "hijacked in both families", outcome: .fault, cause: .nameHijacked,
      servers: [(known, .answer(.success, [address6]), known)]),
    Row(
      testDescription: "a name that cannot exist has another address", outcome: .doubtful, cause: nil,
      servers: [(known, empty, .answer(.success, [second]))]),
    Row(
      testDescription: "this machine has no way", outcome: .fault, cause: .noRoute,
      servers: [(noWay, noWay, nil)]),
    Row(
      testDescription: "answers of another question", outcome: .fault, cause: .nameServerRefuses,
      servers: [(.mismatched, .mismatched, .silent)]),
    Row(
      testDescription: "this machine drops the answers", outcome: .fault, cause: .localFirewall,
      servers: [(.dropped, .dropped, .silent)]),
    Row(
      testDescription: "the local firewall", outcome: .fault, cause: .localFirewall,
      servers: [(.forbidden, .forbidden, .forbidden)]),
    Row(testDescription: "hijacked", outcome: .fault, cause: .nameHijacked, servers: [(known, empty, known)]),
    Row(
      testDescription: "blocked", outcome: .fault, cause: .nameWrong,
      servers: [(.answer(.success, [IPAddress(ipv4: 0)]), empty, unknown)]),
    Row(
      testDescription: "TCP leads to nothing", outcome: .fault, cause: .nameServerSilent,
      servers: [(.truncated, empty, unknown)]),
    Row(
      testDescription: "the first is silent", outcome: .doubtful, cause: .nameServerSilent,
      servers: [(.silent, .silent, .silent), (known, empty, unknown)]),
    Row(
      testDescription: "AAAA is dropped", outcome: .doubtful, cause: .nameServerSilent,
      servers: [(known, .silent, unknown)]),
    Row(
      testDescription: "only the second knows it", outcome: .fault, cause: .nameUnknown,
      servers: [(unknown, unknown, unknown), (known, empty, unknown)]),
    // After these libc asks nobody else (res_send.c: it does after SERVFAIL, NOTIMP, REFUSED and a referral).
    Row(
      testDescription: "the first answers FORMERR", outcome: .fault, cause: .nameServerRefuses,
      servers: [(formatError, formatError, formatError), (known, empty, unknown)]),
    Row(
      testDescription: "the first answers NOTAUTH", outcome: .fault, cause: .nameServerRefuses,
      servers: [(notAuthoritative, notAuthoritative, notAuthoritative), (known, empty, unknown)]),
    Row(
      testDescription: "the first refuses", outcome: .ok, cause: nil, servers: [(no, no, no), (known, empty, unknown)]),
    Row(
      testDescription: "the first fails", outcome: .ok, cause: nil,
      servers: [(failing, failing, failing), (known, empty, unknown)]),
    Row(
      testDescription: "the first refers", outcome: .ok, cause: nil,
      servers: [(referral, referral, referral), (known, empty, unknown)]),
    Row(
      testDescription: "the only one is silent about it, and not about others", outcome: .fault,
      cause: .nameServerRefuses, servers: [(.silent, .silent, unknown)]),
    Row(
      testDescription: "the only one refers", outcome: .fault, cause: .nameServerRefuses,
      servers: [(referral, referral, referral)]),
  ]

  @Test("the name's fault follows from what the servers say", arguments: rows)
  func theFaultFollows(row: Row) {
    var finding = NameFinding(name: "site.example")
    finding.servers = zip([Self.first, Self.second], row.servers).map { address, replies in
      NameFinding.Server(address, ipv4: replies.0, ipv6: replies.1, control: replies.2)
    }
    finding.addresses = finding.servers.flatMap(\.addresses)
    let reading = NameRules.read(finding)
    #expect(reading.outcome == row.outcome && reading.charge?.cause == row.cause, "\(reading.meaning)")
  }

  /// Silence says nothing if the time was up before.
  @Test func aHurriedLookupHasNoFault() {
    var finding = NameFinding(name: "site.example")
    finding.isHurried = true
    finding.servers = [NameFinding.Server(Self.first, ipv4: .silent, ipv6: .silent)]
    let reading = NameRules.read(finding)
    #expect(reading.outcome == .skipped && reading.meaning == .name(.hurried))
  }

  /// getaddrinfo(3) is what programs ask: a server's answer that they never get is no answer.
  @Test func whatProgramsDoNotGetIsAFault() {
    var finding = NameFinding(name: "site.example", servers: [NameFinding.Server(Self.first, ipv4: Self.known)])
    finding.addresses = [Self.address]
    // What is said at once is this machine's own word (nsswitch.conf(5), resolv.conf(5)).
    finding.system = .failed
    #expect(NameRules.read(finding).charge == Charge(.nameWrong, nil))
    finding.system = .silent
    #expect(NameRules.read(finding).charge?.cause == .nameServerSilent)
    // Who is asked first says seldom that nobody listens there, and programs wait for it.
    finding.servers.insert(NameFinding.Server(Self.second, ipv4: Self.closed), at: 0)
    #expect(NameRules.read(finding).meaning == .name(.foundBehind(silent: Self.second)))
    finding.system = .addresses([Self.address])
    #expect(NameRules.read(finding).outcome == .ok)
  }

  /// Programs ask for both types (getaddrinfo(3)), and take the addresses of the other one. They wait for silence
  /// alone.
  @Test(arguments: [(failing, false), (failing, true), (.silent, false), (.silent, true)] as [(Reply, Bool)])
  func theTypeThatIsLackingIsNamed(reply: Reply, lacksIPv6: Bool) {
    let other = lacksIPv6 ? Self.known : Reply.answer(.success, [Self.address6])
    let server = NameFinding.Server(Self.first, ipv4: lacksIPv6 ? other : reply, ipv6: lacksIPv6 ? reply : other)
    let finding = NameFinding(name: "site.example", servers: [server], addresses: other.addresses)
    #expect(
      NameRules.read(finding).meaning == .name(.foundInPart(server: Self.first, reply, lacksIPv6: lacksIPv6)))
    let address = lacksIPv6 ? Self.address : Self.address6
    let accepted = ConnectionFinding(
      address.family, [ConnectionFinding.Attempt(address, port: 443, .accepted(milliseconds: 3))])
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.name(finding), .connection(accepted)])
    #expect((verdict.cause == nil) == (reply != .silent), "\(verdict)")
  }

  /// A server that fails at one time only is unreliable, no matter which one it is.
  @Test func whatDiffersFromTimeToTimeIsUnreliable() {
    let servers = [NameFinding.Server(Self.first, ipv4: Self.known, ipv6: Self.failing)]
    #expect(servers[0].contradictsItself)
    var finding = NameFinding(name: "site.example", servers: servers, addresses: [Self.address])
    finding.unsteady = NameFinding.Unsteady(Self.first, failures: 2, tries: 3)
    let reading = NameRules.read(finding)
    #expect(reading.outcome == .fault && reading.charge == Charge(.unreliable, nil))
    #expect(DiagnosisVerdict(of: "a", goal: .host, findings: [.name(finding)]).summary.contains("2 of 3 times"))
  }

  /// What a file of this machine says is certain; what a server says is not.
  @Test func filesProveWhatServersDoNot() {
    let nobody = IPAddress(ipv4: 0)
    let hosts = NameRules.read(NameFinding(name: "site.example", source: .hosts, addresses: [nobody]))
    #expect(hosts.charge?.cause == .nameWrong && hosts.charge?.proof?.witness == .configuration)
    let never = NameRules.read(NameFinding(name: "site.example", source: .none))
    #expect(never.charge?.cause == .nameWrong && never.charge?.proof?.witness == .configuration)
    // What is in a file that programs get nothing of, whatever the reason is.
    let lost = NameFinding(name: "site.example", source: .hosts, addresses: [Self.address], system: .failed)
    let unread = NameRules.read(lost)
    #expect(unread.charge?.cause == .nameWrong && unread.charge?.proof == nil && unread.isFault)
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.name(lost)])
    #expect(verdict.summary.contains("/etc/hosts knows site.example, but the system's resolver gives programs no"))
    let unknown = NameRules.read(
      NameFinding(name: "site.example", servers: [NameFinding.Server(Self.first, ipv4: Self.unknown)]))
    #expect(unknown.charge?.cause == .nameUnknown && unknown.charge?.proof == nil)
  }

  /// The root exists: a server that denies it fails for all names.
  @Test func whoDeniesTheRootFails() {
    func cause(_ reply: NameFinding.Reply) -> DiagnosisCause? {
      let servers = [NameFinding.Server(Self.first, ipv4: reply)]
      return NameRules.read(NameFinding(name: "the root", servers: servers, isRootOnly: true)).charge?.cause
    }
    #expect(cause(.answer(.nameError, [])) == .nameServerRefuses)
    #expect(cause(.answer(.success, [])) == nil)
  }

  /// IANA's root hints: a.root-servers.net is 198.41.0.4 and 2001:503:ba3e::2:30. Who says otherwise has no names
  /// of the Internet, though a root server answers.
  @Test func aRootServersNameIsKnownByHeart() throws {
    let right = try #require(IPAddress("198.41.0.4"))
    let right6 = try #require(IPAddress("2001:503:ba3e::2:30"))
    let root = Finding.beyond(BeyondFinding([BeyondFinding.Question(right, .answer)]))
    func verdict(_ reply: Reply, _ system: NameFinding.SystemReply, source: NameFinding.Source = .dns)
      -> DiagnosisVerdict
    {
      let servers = [NameFinding.Server(Self.first, ipv4: reply, ipv6: Self.empty, control: Self.unknown)]
      let finding = NameFinding(
        name: "a.root-servers.net", source: source, servers: servers, addresses: reply.addresses, system: system)
      return DiagnosisVerdict(of: "internet", goal: .internet, findings: [root, .name(finding)])
    }
    let works = verdict(.answer(.success, [right]), .addresses([right]))
    #expect(works.cause == nil && works.confidence == .certain && works.works.contains("name server answers"))
    #expect(verdict(.answer(.success, [right6]), .addresses([right6]), source: .system).cause == nil)
    let rows: [(Reply, NameFinding.SystemReply, NameFinding.Source, DiagnosisCause)] = [
      (Self.known, .addresses([Self.address]), .dns, .nameHijacked),
      (Self.known, .addresses([Self.address]), .system, .nameHijacked),
      (.answer(.success, [IPAddress(ipv4: 0)]), .failed, .dns, .nameHijacked),
      (Self.no, .failed, .dns, .nameServerRefuses), (.answer(.success, [right]), .silent, .dns, .nameServerSilent),
      (.answer(.success, [right]), .failed, .dns, .nameWrong),
    ]
    for (reply, system, source, cause) in rows {
      let verdict = verdict(reply, system, source: source)
      #expect(verdict.cause == cause && verdict.confidence == .likely, "\(reply) \(system)")
      let words = cause == .nameHijacked ? "Names lead astray: " : "Names of the Internet cannot be looked up: "
      #expect(verdict.summary.hasPrefix(words) && !verdict.details.isEmpty, "\(verdict.summary)")
    }
    // It may have names of a network's own.
    for reply in [Self.empty, Self.unknown] { #expect(verdict(reply, .failed).confidence == .unknown, "\(reply)") }
  }

  // MARK: Files

  #if os(Linux)
  /// resolv.conf(5): the last list of domains counts, and a name with enough dots is asked for first.
  @Test func readsResolverFiles() {
    let configuration = ResolverConfiguration(
      resolver: "nameserver 192.0.2.53\ndomain old.example\nsearch a.example b.example\noptions ndots:2 rotate\n",
      switching: "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns # a comment\n",
      hosts: "127.0.0.1 localhost\n203.0.113.10 Site.example site # a comment\n2001:db8::10 site.example\n")
    #expect(configuration.servers == [IPAddress(ipv4: 0xC000_0235)])
    #expect(configuration.candidates(for: "www.x") == ["www.x.a.example", "www.x.b.example", "www.x"])
    #expect(configuration.candidates(for: "a.b.c") == ["a.b.c", "a.b.c.a.example", "a.b.c.b.example"])
    #expect(configuration.candidates(for: "www.") == ["www"])
    #expect(configuration.asksServers)
    #expect(!ResolverConfiguration(resolver: "", switching: "hosts: files\n").asksServers)
    #expect(configuration.hostsAddresses(of: "SITE.example").map(\.description) == ["203.0.113.10", "2001:db8::10"])
    // libc compares the whole name (getent hosts site.example.).
    #expect(configuration.hostsAddresses(of: "other").isEmpty && configuration.hostsAddresses(of: "site.").isEmpty)
    #expect(configuration.rotates && !configuration.options.contains("single-request-reopen"))
    #expect(!ResolverConfiguration(resolver: "").rotates)
    #expect(!configuration.usesTCP && ResolverConfiguration(resolver: "options ndots:2 use-vc").usesTCP)
  }

  /// nsswitch.conf(5): what ends the search for a name that is not found, and who is asked first.
  @Test func readsTheOrderOfSources() {
    func configuration(_ sources: String) -> ResolverConfiguration {
      ResolverConfiguration(resolver: "", switching: "hosts: \(sources)\n")
    }
    for ending in ["[NOTFOUND=return]", "[notfound=RETURN]", "[!UNAVAIL=return]", "[!SUCCESS=return]"] {
      #expect(configuration("files \(ending) dns").sources == ["files"] as [String], "\(ending)")
    }
    for going in ["[SUCCESS=continue]", "[UNAVAIL=return]", "[SUCCESS=return TRYAGAIN=continue]", "[!NOTFOUND=return]"]
    {
      #expect(configuration("files \(going) dns").sources == ["files", "dns"] as [String], "\(going)")
    }
    #expect(configuration("files [UNAVAIL=return NOTFOUND=return] dns").sources == ["files"] as [String])
    #expect(configuration("dns [NOTFOUND=return] files").sources == ["dns"] as [String])
    #expect(configuration("dns [!UNAVAIL=return] files").sources == ["dns"] as [String])
    // With these, `getent ahosts` of glibc 2.36 finds no name, wherever it is; the last one is no source that there is.
    for typo in ["[NOTFOUND=retrun]", "[NOTFOUND]", "[]", "[!!UNAVAIL=return]", "[SUCCESS=merge]"] {
      #expect(configuration("files \(typo) dns").sources == ["files"] as [String], "\(typo)")
    }
    #expect(configuration("FILES dns").sources == ["FILES", "dns"] as [String])
    // Of names that are not its own it says that it is not there (nss-mdns).
    let mdns = ["files", "mdns4_minimal", "dns"]
    #expect(configuration("files mdns4_minimal [NOTFOUND=return] dns").sources == mdns)
    #expect(configuration("files dns").asksHostsFirst && configuration("mymachines files dns").asksHostsFirst)
    #expect(configuration("resolve [!UNAVAIL=return] files dns").asksHostsFirst)
    #expect(!configuration("dns files").asksHostsFirst)
  }
  #endif

  // MARK: Messages

  /// RFC 1035, 4.1.1 and 4.1.2.
  @Test func asksAsTheStandardSays() throws {
    let question = try #require(DNSMessage.question("a.bc", .aaaa, id: 0x1234))
    #expect(question == [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 2, 98, 99, 0, 0, 28, 0, 1])
    #expect(DNSMessage.question(String(repeating: "a", count: 64), .a, id: 1) == nil)
    #expect(DNSMessage.question("", .nameServer, id: 1)?.count == 17)
  }

  /// RFC 1035, 4.1.3 and 4.1.4: the answer's name is a pointer to the question's.
  @Test func readsAnswers() throws {
    let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]
    let alias: [UInt8] = [0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 3, 1, 98, 0]
    let address: [UInt8] = [0xC0, 31, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 10]
    let whole = head + alias + address
    // The name is an alias of b, whose address follows.
    let answer = try #require(DNSMessage.answer(whole, to: "A", .a))
    #expect(answer.id == 0x1234 && answer.code == .success && answer.addresses == [Self.address])
    #expect(answer.isToQuestion && answer.isAlias)
    for count in 0..<whole.count {
      #expect(DNSMessage.answer(Array(whole.prefix(count)), to: "a", .a) == nil, "\(count) bytes")
    }
    // RFC 5452, 9.1: another name or type is no answer to the question.
    for (name, type) in [("c", DNSMessage.RecordType.a), ("a", .aaaa), ("", .a)] {
      #expect(DNSMessage.answer(whole, to: name, type)?.isToQuestion == false)
    }
    // An address of somebody else does not count.
    let stray = try #require(DNSMessage.answer(head + alias + [0xC0, 12] + address.dropFirst(2), to: "a", .a))
    #expect(stray.isToQuestion && stray.addresses.isEmpty)
    // What is not NOERROR has no address for libc (res_query.c).
    var failed = whole
    failed[3] |= 3
    let denied = try #require(DNSMessage.answer(failed, to: "a", .a))
    #expect(denied.code == .nameError && denied.addresses.isEmpty && denied.isAlias)
  }

  /// RFC 1035, 3.3.11: only a name server of the root itself is one.
  @Test func tellsAnAnswerWithoutNameServers() {
    let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 1]
    func hasNameServer(_ owner: [UInt8], _ type: UInt8, _ data: [UInt8]) -> Bool? {
      let record = owner + [0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
      return DNSMessage.answer(head + record, to: "", .nameServer)?.hasNameServer
    }
    #expect(hasNameServer([0], 2, [1, 97, 0]) == true)
    #expect(hasNameServer([0], 1, [203, 0, 113, 77]) == false && hasNameServer([1, 98, 0], 2, [1, 97, 0]) == false)
  }

  /// RFC 1035, 4.1.1: TC says that records were left out, and no other flag does, such as AA beside it.
  @Test func aTruncatedAnswerSaysSo() {
    let question: [UInt8] = [0, 1, 0, 1, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]
    let truncated = DNSMessage.answer([0x12, 0x34, 0x83, 0x80] + question, to: "a", .a)
    #expect(truncated?.isTruncated == true && truncated?.isToQuestion == true && truncated?.addresses == [])
    #expect(DNSMessage.answer([0x12, 0x34, 0x85, 0x80] + question, to: "a", .a) == nil)
    let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 10]
    let whole = DNSMessage.answer([0x12, 0x34, 0x85, 0x80] + question + record, to: "a", .a)
    #expect(whole?.isTruncated == false && whole?.addresses == [Self.address])
  }

  /// RFC 1035, 4.1.1: a server that cannot read a question answers with a format error (1), and need not repeat it.
  /// Any other answer without it may be one to somebody else's (RFC 5452, 9.1).
  @Test func anAnswerWithoutTheQuestionIsAnError() {
    func answer(code: UInt8) -> DNSMessage.Answer? {
      DNSMessage.answer([0x12, 0x34, 0x81, 0x80 | code, 0, 0, 0, 0, 0, 0, 0, 0], to: "a", .a)
    }
    #expect(answer(code: 1)?.isToQuestion == true)
    #expect(answer(code: 0)?.isToQuestion == false)
    // Two questions are not what was asked.
    let question: [UInt8] = [1, 97, 0, 0, 1, 0, 1]
    let two = DNSMessage.answer([0x12, 0x34, 0x81, 0x81, 0, 2, 0, 0, 0, 0, 0, 0] + question + question, to: "a", .a)
    #expect(two?.isToQuestion == false)
  }

  /// A name that points to itself, or ahead, ends; no byte is read twice for ever.
  @Test func followsNoCircle() {
    let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]
    for pointer: [UInt8] in [[0xC0, 12], [0xC0, 14], [0xFF, 0xFF], [1, 97, 0xC0, 12]] {
      #expect(DNSMessage.answer(head + pointer + [0, 1, 0, 1], to: "a", .a) == nil)
    }
  }

  /// RFC 9609: an answer of a root server has authority, no recursion, and the zone's own time to live.
  @Test func tellsARootServerFromACache() {
    func answer(flags: [UInt8], lifetime: UInt32) -> [UInt8] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: lifetime >> (24 - 8 * $0)) }
      return [0x12, 0x34] + flags + [0, 1, 0, 1, 0, 0, 0, 0] + [0, 0, 2, 0, 1] + [0, 0, 2, 0, 1] + bytes + [
        0, 3, 1, 97, 0,
      ]
    }
    #expect(DNSMessage.isOfRoot(answer(flags: [0x84, 0], lifetime: 518_400), id: 0x1234) == true)
    #expect(DNSMessage.isOfRoot(answer(flags: [0x84, 0x80], lifetime: 518_400), id: 0x1234) == false)
    #expect(DNSMessage.isOfRoot(answer(flags: [0x80, 0], lifetime: 518_400), id: 0x1234) == false)
    #expect(DNSMessage.isOfRoot(answer(flags: [0x84, 0], lifetime: 518_399), id: 0x1234) == false)
    #expect(DNSMessage.isOfRoot(answer(flags: [0x84, 0], lifetime: 518_400), id: 0x1235) == nil)
    let whole = answer(flags: [0x84, 0], lifetime: 518_400)
    for count in 0..<whole.count { #expect(DNSMessage.isOfRoot(Array(whole.prefix(count)), id: 0x1234) != true) }
  }
}
