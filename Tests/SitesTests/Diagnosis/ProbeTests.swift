// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NetworkLab
import SiteLab
import TestSupport
import Testing

@testable import DialtoneDiagnosis

/// What a diagnosis finds at the other end of a cable. `Scripts/faults` plays what may stand in between.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct ProbeTests {
  private static let server = IPAddress(ipv4: 0x0A00_0002)
  private static let server6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 2))
  private static let second: Int64 = 1_000_000_000

  private static func patience() -> Patience { Patience(until: TimeSource.system.now() + 3_600 * second) }

  // MARK: Waiting

  @Test func patienceHasAnEnd() {
    let over = Patience(until: TimeSource.system.now() - 1)
    #expect(over.rest == 0 && over.isOver)
    let patience = Self.patience()
    #expect((1...3_600 * Self.second).contains(patience.rest) && !patience.isOver)
    #expect(patience.moment(in: .max / 1_000_000) <= TimeSource.system.now() + 3_600 * Self.second)
    patience.cancel()
    #expect(patience.rest > 0 && patience.isOver)
    #expect(patience.wait([], until: .max) == nil)
  }

  /// poll(2): a socket that ICMP has refused has POLLERR; one that was answered is readable.
  @Test func aWaitTellsAnAnswerFromARefusal() async throws {
    let lab = try NetworkLab()
    let echo = try await Datagrams(in: lab, at: "127.0.0.1") { $0 }
    for (port, isAnswered) in [(echo.port, true), (1, false)] as [(UInt16, Bool)] {
      try lab.run {
        let socket = ProbeSocket(IPAddress(ipv4: 0x7F00_0001), port: port, isStream: false, interface: nil)
        #expect(socket.send([1, 2, 3]) == 0)
        let events = Self.patience().wait([(socket.descriptor, wantsWriting: false)], until: .max)
        #expect(events?.map { $0.position } == [0])
        #expect(events?.first?.hasError == !isAnswered)
        #expect(socket.receive() == (isAnswered ? [1, 2, 3] : nil))
        #expect(socket.takeRefusal()?.statement.meaning == (isAnswered ? nil : .portUnreachable))
      }
    }
  }

  // MARK: Connections

  @Test func tellsWhatListensOnThisMachine() throws {
    let listener = try DeafListener()
    let found = LocalListeners.listeners(port: UInt16(listener.port))
    #expect(found?.contains { $0.address == IPAddress(ipv4: 0x7F00_0001) } == true)
    // What is connected to it from its port does not listen (ESTABLISHED, 01), and another port is another's.
    let table = """
        sl  local_address rem_address st
         0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000
         1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:9C40 01 00000000:00000000
         2: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000
         3: 0100007F:1F92 00000000:0000 0A 00000000:00000002
      """
    #if _endian(little)  // the words of an address are printed as this machine's numbers
    func listeners(_ port: UInt16) -> [LocalListeners.Listener] {
      LocalListeners.listeners(in: table, port: port)
    }
    let own = IPAddress(IPAddressBits(ipv6High: 0, low: 1))
    #expect(listeners(8_080) == [LocalListeners.Listener(address: own, isBehind: false)])
    // Two connections wait for it.
    #expect(listeners(8_082) == [LocalListeners.Listener(address: IPAddress(ipv4: 0x7F00_0001), isBehind: true)])
    #endif
  }

  /// What came of connecting to an address, as of any other.
  private func outcome(_ address: IPAddress, port: UInt16, in lab: NetworkLab) throws -> ConnectionFinding.Outcome {
    try lab.run {
      let connector = Connector([address], ports: [port], interface: nil, Self.patience())
      connector.wait(upTo: 60_000)
      #expect(!connector.isHurried)
      return try #require(connector.results(address.family).first?.outcome)
    }
  }

  /// RFC 9293, 3.5.2: a closed port answers with a reset. ip-route(8): what each type of route gives to local senders.
  @Test func tellsWhatCameOfConnecting() async throws {
    let cable = try LabCable()
    for (address, host) in [(Self.server, "10.0.0.2"), (Self.server6, "2001:db8::2")] {
      let open = try await Listener(in: cable.server, at: host)
      guard case .accepted(let time) = try outcome(address, port: open.port, in: cable.client) else {
        Issue.record("\(host) is not connected")
        continue
      }
      #expect(time >= 0)
      #expect(try outcome(address, port: 1, in: cable.client) == .reset)
    }
    let none = IPAddress(ipv4: 0xC633_6407)
    for (kind, errno) in [(.unreachable, EHOSTUNREACH), (.prohibit, EACCES), (.blackhole, EINVAL)]
      as [(LabRouteKind, Int32)]
    {
      try cable.client.addRoute("198.51.100.0/24", kind: kind)
      #expect(try outcome(none, port: 1, in: cable.client) == .failed(errno), "\(kind)")
      try cable.client.deleteRoute("198.51.100.0/24", kind: kind)
    }
  }

  /// tcp(7): after the last SYN that nobody has answered, ETIMEDOUT. That is silence, and no fault of the system's.
  @Test func aConnectionThatTimesOutIsSilent() throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv4/tcp_syn_retries", 1)
    let deaf = try lab.run { try DeafListener() }
    #expect(try outcome(IPAddress(ipv4: 0x7F00_0001), port: UInt16(deaf.port), in: lab) == .silent)
  }

  /// What the diagnosis finds of an address, and of a port at it.
  private func connection(_ port: UInt16, in lab: NetworkLab) throws -> ConnectionFinding {
    try lab.run {
      let name = Finding.name(NameFinding(name: "10.0.0.2", source: .literal, addresses: [Self.server]))
      func findings(_ question: DiagnosisQuestion, _ known: [Finding]) -> [Finding] {
        let patience = Self.patience()
        let inquiry = DiagnosisInquiry(
          subject: DiagnosisSubject(.address(Self.server, port: port)), configuration: DiagnosisConfiguration(),
          findings: known, deadline: TimeSource.system.now() + patience.rest)
        return SystemQuestion(inquiry: inquiry, patience: patience).findings(for: question)
      }
      let found = findings(.connections, [name] + findings(.way, [name]))
      return try #require(found.lazy.compactMap { if case .connection(let found) = $0 { found } else { nil } }.first)
    }
  }

  /// What has failed is tried again, twice: what fails at one time only is unreliable. What has succeeded is not.
  @Test func whatFailsIsTriedAgain() async throws {
    let cable = try LabCable()
    let open = try await Listener(in: cable.server, at: "10.0.0.2")
    let accepted = try connection(open.port, in: cable.client)
    #expect(accepted.attempts.map(\.tries.count) == [1] && accepted.attempts.allSatisfy(\.isAccepted), "\(accepted)")
    #expect(try connection(1, in: cable.client).attempts.map(\.tries) == [[.reset, .reset, .reset]])
  }

  // MARK: Beyond

  /// What the diagnosis finds beyond the router over IPv4.
  private func beyond(in lab: NetworkLab) throws -> BeyondFinding {
    try lab.run {
      var configuration = DiagnosisConfiguration()
      configuration.family = .ipv4
      let patience = Self.patience()
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(.internet), configuration: configuration, findings: [],
        deadline: TimeSource.system.now() + patience.rest)
      let found = SystemQuestion(inquiry: inquiry, patience: patience).findings(for: .beyond)
      return try #require(found.lazy.compactMap { if case .beyond(let found) = $0 { found } else { nil } }.first)
    }
  }

  /// Datagrams get lost (RFC 1035, 4.2.1): each of two servers is asked three times, a second apart.
  @Test func asksASilentServerThreeTimes() async throws {
    let cable = try LabCable()
    // ip-route(8): all addresses are the server's.
    try cable.server.addRoute("0.0.0.0/0", dev: "lo", kind: .local, scope: .host)
    let questions = NIOLockedValueBox<[[UInt8]]>([])
    let server = try await Datagrams(in: cable.server, at: "0.0.0.0", port: 53) { question in
      questions.withLockedValue { $0.append(question) }
      return []
    }
    // A thread that gets no processor for a second leaves one out.
    for _ in 0..<5 where questions.withLockedValue(\.count) != 6 {
      questions.withLockedValue { $0 = [] }
      let found = try beyond(in: cable.client)
      #expect(found.questions.map(\.outcome) == [.silent, .silent])
    }
    let asked = questions.withLockedValue { $0 }
    // The number of a question is the same each time (RFC 1035, 4.1.1).
    #expect(asked.count == 6 && Set(asked.map { $0.prefix(2) }).count == 2)
    withExtendedLifetime(server) {}
  }

  /// What netfilter drops at the output, the sender learns by EPERM: nobody else has refused it.
  @Test(.enabled(if: NetworkLab.hasFirewall, "nftables is needed"))
  func tellsWhatTheOwnFirewallForbids() throws {
    let cable = try LabCable()
    try cable.client.nft(
      "table inet own { chain out { type filter hook output priority 0; udp dport 53 drop; }; }")
    #expect(try beyond(in: cable.client).questions.map(\.outcome) == [.failed(EPERM), .failed(EPERM)])
  }

  /// What netfilter rejects, this machine says by ICMP. No router is lost: it was not even asked.
  @Test(.enabled(if: NetworkLab.hasFirewall, "nftables is needed"))
  func tellsWhatTheOwnFirewallRejects() throws {
    let cable = try LabCable()
    try cable.client.nft(
      "table ip own { chain out { type filter hook output priority 0; "
        + "udp dport 53 reject with icmp type host-unreachable; }; }")
    let outcomes = try beyond(in: cable.client).questions.map(\.outcome)
    let refusals = outcomes.compactMap { if case .refused(let statement) = $0 { statement } else { nil } }
    #expect(refusals.count == 2 && refusals.allSatisfy { $0.isOwn && $0.meaning == .hostUnreachable }, "\(outcomes)")
  }

  // MARK: Names

  private static let resolver = "nameserver 10.0.0.2\nsearch a.example b.example\n"

  /// What a name server says of a name.
  private func names(_ name: String, in lab: NetworkLab) throws -> NameFinding {
    try lab.run {
      let witness = try KernelWitness()
      let configuration = ResolverConfiguration(resolver: Self.resolver, switching: "hosts: dns\n", hosts: "")
      let inquiry = NameInquiry(configuration: configuration, patience: Self.patience()) { server in
        var path = ReachabilityConfiguration()
        path.transport = .udp
        return witness.evidence(server, path)
      }
      return inquiry.evidence(name, families: [.ipv4])
    }
  }

  /// resolv.conf(5): the domains of the list are tried one after the other, as long as a server answers.
  @Test func triesOneDomainAfterTheOther() async throws {
    let cable = try LabCable()
    let known = IPAddress(ipv4: 0xCB00_710A)
    // Only www.b.example has an address (RFC 1035, 4.1).
    let server = try await Datagrams(in: cable.server, at: "10.0.0.2", port: 53) { question in
      let answer = question.prefix(2) + [0x81, 0x80] + question[4..<6]
      let isKnown = question.dropFirst(12).starts(with: [3] + "www".utf8 + [1] + "b".utf8)
      if !isKnown { return answer.prefix(3) + [0x83] + question[4...] }
      return answer + [0, 1, 0, 0, 0, 0] + question[12...] + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 10]
    }
    let found = try names("www", in: cable.client)
    #expect(found.tried == ["www.a.example", "www.b.example"] && found.foundAs == "www.b.example", "\(found)")
    #expect(found.addresses == [known] && found.servers.first?.control == .answer(.nameError, []))
    let unknown = try names("other", in: cable.client)
    #expect(unknown.tried == ["other.a.example", "other.b.example", "other"] && unknown.addresses.isEmpty)
    #expect(unknown.servers.first?.ipv4 == .answer(.nameError, []))
    withExtendedLifetime(server) {}
  }

  /// A server that answers everything with nothing, and one that refuses (RFC 1035, 4.1.1), which says nothing of it.
  @Test(arguments: [(0x80, true), (0x85, false)] as [(UInt8, Bool)])
  func aServerMayDenyThatTheRootHasNameServers(code: UInt8, denies: Bool) async throws {
    let cable = try LabCable()
    let server = try await Datagrams(in: cable.server, at: "10.0.0.2", port: 53) { question in
      question.prefix(2) + [0x81, code] + question[4...]
    }
    #expect(try names("", in: cable.client).servers.map(\.deniesRoot) == [denies])
    withExtendedLifetime(server) {}
  }

  /// RFC 1122, 4.1.3.1: a host on whose port nobody listens says so. It is asked no second time.
  @Test func aServerThatIsNotThereIsAskedOnce() throws {
    let cable = try LabCable()
    let closed = try names("www", in: cable.client)
    #expect(closed.servers.map(\.ipv4) == [.refused(NetworkStatement(.portUnreachable, by: Self.server))])
    #expect(closed.tried == ["www.a.example"])
    try cable.client.addRoute("10.0.0.2", kind: .unreachable)
    let none = try #require(try names("www", in: cable.client).servers.first?.ipv4)
    guard case .noWay(let fault) = none else {
      Issue.record("\(none)")
      return
    }
    #expect(fault.isFault)
  }

  /// hosts(5) and getaddrinfo(3): every system knows itself.
  @Test(arguments: [.ipv4, nil] as [IPAddress.Family?])
  func programsGetAnAddressOfLocalhost(family: IPAddress.Family?) async throws {
    var configuration = DiagnosisConfiguration()
    configuration.family = family
    let inquiry = DiagnosisInquiry(
      subject: DiagnosisSubject(try .host("localhost")), configuration: configuration, findings: [],
      deadline: TimeSource.system.now() + 3_600 * Self.second)
    let found = await SystemEvidence().findings(for: .names, in: inquiry)
    guard case .name(let name)? = found.first, case .addresses(let addresses)? = name.system else {
      Issue.record("\(found)")
      return
    }
    #expect(addresses.contains(IPAddress(ipv4: 0x7F00_0001)) || family == nil)
    #expect(addresses.allSatisfy { $0.isLoopback && ($0.family == .ipv4 || family == nil) }, "\(addresses)")
  }
}

/// Listens on a port of a lab, and takes every connection.
private final class Listener: Sendable {
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel
  let port: UInt16

  init(in lab: NetworkLab, at host: String) async throws {
    // A socket belongs to the namespace of the thread that makes it, which is the one that calls bind.
    channel = try await lab.run { ServerBootstrap(group: Self.group).bind(host: host, port: 0) }.get()
    port = UInt16(channel.localAddress?.port ?? 0)
  }

  deinit { channel.close(promise: nil) }
}

/// Answers each datagram to a port of a lab.
private final class Datagrams: Sendable {
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel
  let port: UInt16

  init(
    in lab: NetworkLab, at host: String, port: Int = 0, _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) async throws {
    channel = try await lab.run {
      DatagramBootstrap(group: Self.group)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Answers(answer))
          }
        }
        .bind(host: host, port: port)
    }.get()
    self.port = UInt16(channel.localAddress?.port ?? 0)
  }

  deinit { channel.close(promise: nil) }

  private final class Answers: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let answer: @Sendable ([UInt8]) -> [UInt8]

    init(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let question = unwrapInboundIn(data)
      let bytes = answer(Array(question.data.readableBytesView))
      let envelope = AddressedEnvelope(remoteAddress: question.remoteAddress, data: ByteBuffer(bytes: bytes))
      context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
    }
  }
}
#endif
