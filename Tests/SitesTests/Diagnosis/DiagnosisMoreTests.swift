// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import Glibc
import NIOCore
import NIOPosix
import SiteLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// More of what sockets of a diagnosis do: which addresses are connected to, and how often, by what the kernel is said
/// to know of the way.
extension DiagnosisSocketTests {
  static func listener() async throws -> (channel: any Channel, port: UInt16) {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    return (channel, UInt16(channel.localAddress?.port ?? 0))
  }

  /// send(2): an empty datagram is one, and what an earlier call left in errno(3) is none of its own.
  @Test func anEmptyDatagramIsSent() {
    let socket = ProbeSocket(Self.loopback, port: 9, isStream: false, interface: nil)
    errno = EBADF
    #expect(socket.send([]) == 0)
  }

  /// connect(2), ECONNREFUSED: so a first segment is refused. After a reset that comes later, a connection was made.
  @Test func aConnectionThatIsResetWasMade() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        // Then close(2) resets (socket(7), SO_LINGER).
        guard let socket = channel as? any SocketOptionProvider else { return channel.close() }
        return socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).flatMap { channel.close() }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = UInt16(server.localAddress?.port ?? 0)
    let socket = ProbeSocket(Self.loopback, port: port, isStream: true, interface: nil)
    let events = Self.patience().wait([(socket.descriptor, wantsWriting: false)], until: .max)
    #expect(events?.first?.hasError == true && socket.takeError() == 0)
    try await server.close()
  }

  // MARK: Datagrams and neighbours

  @Test func whoTakesOrRefusesIsThere() async throws {
    let (channel, port) = try await Self.listener()
    let closed = try ClosedPort()
    func hasAnswered(_ port: UInt16, until deadline: Int64) -> Bool {
      let socket = ProbeSocket(Self.loopback, port: port, isStream: true, interface: nil)
      _ = Self.patience().wait([(socket.descriptor, wantsWriting: true)], until: deadline)
      return DatagramProbe.hasAnswered(socket, Self.loopback)
    }
    #expect(hasAnswered(port, until: .max) && hasAnswered(closed.number, until: .max))
    #expect(!hasAnswered(UInt16(closed.deaf.port), until: 0))
    // It has been sent nothing.
    let silent = ProbeSocket(Self.loopback, port: closed.number, isStream: false, interface: nil)
    #expect(!DatagramProbe.hasAnswered(silent, Self.loopback))
    #expect(!DatagramProbe.isForbidden(Self.loopback, port: closed.number, interface: nil))
    try await channel.close()
    withExtendedLifetime(closed) {}
  }

  /// arp(7): a neighbour that was asked for and did not answer is FAILED, and INCOMPLETE before.
  @Test func aNeighbourThatNobodyAskedForIsNotLost() throws {
    let witness = try KernelWitness()
    let target = NearestCauseTests.target
    var evidence = KernelEvidence(target: target, state: Reachability(.reachable))
    #expect(!evidence.isNeighbourLost(witness))
    evidence.link = KernelEvidence.LinkFacts(name: "lo", index: 1)
    #expect(!evidence.isNeighbourLost(witness))
    evidence.neighbour = KernelEvidence.NeighbourFacts(address: target, link: "lo", state: .failed)
    #expect(!evidence.isNeighbourLost(witness))
    for state in [NeighbourState.failed, .incomplete] { #expect(state.isUnanswered, "\(state)") }
    for state in [NeighbourState.reachable, .stale, .delay, .probe, []] { #expect(!state.isUnanswered, "\(state)") }
  }

  /// proc_pid_status(5): "Seccomp: 0" is no filter, as is a kernel without any.
  @Test func aFilterOfCallsIsKnown() throws {
    let status = try #require(SystemFile.text(at: "/proc/thread-self/status"))
    let isNone = status.contains("\nSeccomp:\t0\n") || !status.contains("\nSeccomp:")
    #expect(ConnectionProbe.hasCallFilter == !isNone)
  }

  // MARK: Ways

  /// A way to this machine, as the kernel's route has it, or to somebody else.
  static func evidence(
    _ target: IPAddress = NearestCauseTests.target, _ link: KernelEvidence.LinkFacts? = nil, route: RouteType? = nil
  ) -> KernelEvidence {
    let flags: ReachabilityFlags = target.isLoopback ? [.reachable, .isLocalAddress] : .reachable
    return KernelEvidence(
      target: target, state: Reachability(status: .reachable, flags: flags), link: link,
      route: route.map { KernelEvidence.RouteFacts(type: $0) })
  }

  static func findings(
    _ addresses: [IPAddress], _ port: UInt16?, _ evidence: KernelEvidence..., rest: Int64 = 3_600 * second,
    url: SiteURL? = nil, servers: [NameFinding.Server] = []
  ) throws -> [Finding] {
    let subject =
      try url.map { DiagnosisSubject($0) } ?? DiagnosisSubject(.address(try #require(addresses.first), port: port))
    let name = NameFinding(name: "a", source: .literal, servers: servers, addresses: addresses)
    let deadline = TimeSource.system.now() + rest
    let inquiry = DiagnosisInquiry(
      subject: subject, configuration: DiagnosisConfiguration(),
      findings: [.name(name)] + evidence.map { .kernel(KernelFinding(.link(.works("lo")), $0)) }, deadline: deadline)
    return ConnectionProbe(inquiry: inquiry, patience: Patience(until: deadline)).findings(try KernelWitness())
  }

  static func connection(_ findings: [Finding]) throws -> ConnectionFinding {
    try #require(findings.lazy.compactMap { if case .connection(let found) = $0 { found } else { nil } }.first)
  }

  /// Explain.md: up to six addresses of a family. What this machine itself refuses is tried once.
  @Test func thisMachineIsAskedOnce() throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    let link = KernelEvidence.LinkFacts(name: "lo", index: 1)
    let found = try Self.findings(Self.own, port.number, Self.evidence(Self.own[0], link))
    let finding = try Self.connection(found)
    #expect(found.count == 1 && finding.attempts.map(\.address) == Array(Self.own.prefix(6)))
    #expect(finding.attempts.allSatisfy { $0.tries == [.reset] && $0.port == port.number })
    #expect(finding.isOwn && !finding.isAnyPort && !finding.isHurried && !finding.isDatagramForbidden)
    #expect(finding.listeners == [] && finding.gateway == nil && finding.tunnel == nil && !finding.isNeighbourFailed)
  }

  /// Of those that fail three are tried again, twice.
  @Test func threeOfOthersAreTriedAgain() throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    let found = try Self.findings(Array(Self.own.prefix(4)), port.number, Self.evidence())
    let finding = try Self.connection(found)
    #expect(finding.attempts.map(\.tries.count) == [3, 3, 3, 1])
    #expect(finding.attempts.allSatisfy { $0.outcome == .reset })
    #expect(found.count == 1 && !finding.isOwn && finding.listeners == nil)
  }

  /// Explain.md: 20 questions at most to the target. Of two ports, and of two families, each has its part.
  @Test func portsAndFamiliesShareTheQuestions() throws {
    let other = IPAddress(IPAddressBits(ipv6High: 0, low: 1))
    let addresses = Array(Self.own.prefix(6)) + [other]
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    let both = try Self.findings(addresses, port.number, Self.evidence(), Self.evidence(NearestCauseTests.target6))
    #expect(try Self.connection(both).attempts.map(\.tries.count) == [3, 3, 1, 1, 1, 1])
    let anyPort = try Self.connection(try Self.findings(Self.own, nil, Self.evidence()))
    #expect(anyPort.attempts.map(\.address) == Self.own.prefix(3).flatMap { [$0, $0] })
  }

  /// A host that is somebody else's, and takes connections, is sent large packets; a site is asked, and so is this
  /// machine.
  @Test(
    arguments: [
      (NearestCauseTests.target, false, true), (NearestCauseTests.target, true, false), (own[0], false, false),
    ])
  func largePacketsAreTriedWithOthers(target: IPAddress, isSite: Bool, isTried: Bool) async throws {
    let (channel, port) = try await Self.listener()
    let link = KernelEvidence.LinkFacts(name: "lo", index: 1, mtu: 1_400)
    let url = isSite ? try SiteURL("http://127.0.0.1:\(port)/") : nil
    let found = try Self.findings([Self.own[0]], port, Self.evidence(target, link), url: url)
    let finding = try Self.connection(found)
    #expect(finding.attempts.map(\.isAccepted) == [true] && finding.attempts.map(\.tries.count) == [1])
    #expect(finding.isOwn == (target == Self.own[0]) && finding.listeners == nil && finding.tunnel == nil)
    let sizes = found.compactMap { if case .largePackets(let packets) = $0 { packets.byteCount } else { nil } }
    #expect(sizes == (isTried ? [1_400] : []) && found.count == 1 + sizes.count)
    try await channel.close()
  }

  /// ip-route(8): TCP connects to one host, and neither to all nor to a group.
  @Test(
    arguments: [(.broadcast, true), (.multicast, true), (.unicast, false), (.local, false), (nil, false)]
      as [(RouteType?, Bool)])
  func manyAreNotConnectedTo(route: RouteType?, areMany: Bool) throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    let found = try Self.findings([Self.own[0]], port.number, Self.evidence(route: route))
    #expect((found == [.unasked(.connect, .ipv4, .leadsToMany)]) == areMany && found.count == 1)
  }

  /// ip(7), ipv6(7): IP_TTL is 2 at the level 0, IPV6_UNICAST_HOPS is 16 at the level 41.
  @Test(arguments: [("127.0.0.1", 0, 2), ("::1", 41, 16)] as [(String, CInt, CInt)])
  func packetsPassSoManyRouters(text: String, level: CInt, name: CInt) throws {
    let address = try #require(IPAddress(text))
    let socket = ProbeSocket(address, port: 9, isStream: true, interface: nil, hops: 7)
    // A machine without IPv6 has no such socket.
    guard socket.descriptor >= 0 else { return }
    var (value, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    // The call writes a number of that size.
    #expect(unsafe getsockopt(socket.descriptor, level, name, &value, &length) == 0 && value == 7)
  }

  @Test func timesAreToldInMilliseconds() async throws {
    let (channel, port) = try await Self.listener()
    let deaf = try DeafListener()
    let before = TimeSource.system.now()
    let connector = Connector([Self.loopback], ports: [port, UInt16(deaf.port)], interface: nil, Self.patience())
    let begun = TimeSource.system.now()
    while TimeSource.system.now() < begun + 10_000_000 {}
    let late = TimeSource.system.now()
    connector.wait(upTo: 60_000) { connector.isConnected(.ipv4) }
    let waited = TimeSource.system.now()
    let elapsed = connector.elapsed
    let end = TimeSource.system.now()
    // In between, no matter what else the machine does.
    #expect(elapsed >= (waited - begun) / 1_000_000 && elapsed <= (end - before) / 1_000_000)
    guard case .accepted(let time)? = connector.results(.ipv4).first?.outcome else {
      Issue.record("\(connector.results(.ipv4))")
      return
    }
    #expect(time >= Double(late - begun) / 1_000_000 && time <= Double(waited - before) / 1_000_000)
    try await channel.close()
    withExtendedLifetime(deaf) {}
  }

  /// RFC 791, RFC 8200: 20 and 40 bytes, and 8 of UDP (RFC 768). What is hardly larger than a small one tells nothing,
  /// and lo takes more than any other link.
  @Test(arguments: [(128, "127.0.0.1", 128), (148, "::1", 148), (0, "127.0.0.1", 0)] as [(UInt32, String, Int)])
  func smallLinksAreNotTried(mtu: UInt32, text: String, byteCount: Int) throws {
    let address = try #require(IPAddress(text))
    let finding = DatagramProbe.largePackets(to: address, mtu: mtu, interface: nil, Self.patience())
    #expect(finding == LargePacketsFinding(address.family, nil, byteCount: byteCount))
    let over = DatagramProbe.largePackets(to: address, mtu: 65_536, interface: nil, Self.patience(-1))
    #expect(over == LargePacketsFinding(address.family, nil, byteCount: 9_000))
  }

  /// A further try takes up to 1.3 s: with less there is none.
  @Test func nothingIsTriedAgainWithoutTime() throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    func count(_ rest: Int64) throws -> Int? {
      let found = try Self.findings([Self.own[0]], port.number, Self.evidence(), rest: rest)
      return try Self.connection(found).attempts.first?.tries.count
    }
    #expect(try count(1_290_000_000) == 1)
    // A machine that is busy for most of it has no time left either.
    var counts: [Int?] = []
    for _ in 0..<5 where counts.last != 3 { counts.append(try count(2 * Self.second)) }
    #expect(counts.last == 3, "\(counts)")
  }

  /// proc_net_tcp.rst: another address of this machine has a service on the port, which takes no connection just now.
  @Test func whoListensElsewhereIsTold() throws {
    let deaf = try DeafListener()
    defer { withExtendedLifetime(deaf) {} }
    let found = try Self.findings([Self.own[1]], UInt16(deaf.port), Self.evidence(Self.own[1]))
    let finding = try Self.connection(found)
    #expect(finding.attempts.map(\.tries) == [[.reset]] && finding.listeners == [Self.own[0]])
  }

  /// A tunnel has answered if a name server that is reached through it has.
  @Test func aTunnelIsNamed() throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    let link = KernelEvidence.LinkFacts(name: "tun7", index: 1, kind: .tunnel, mtu: nil)
    let answer = NameFinding.Reply.answer(.success, [])
    for reply in [answer, .silent] {
      let servers = [NameFinding.Server(Self.own[0], ipv4: reply)]
      let found = try Self.findings([Self.own[0]], port.number, Self.evidence(Self.own[0], link), servers: servers)
      let finding = try Self.connection(found)
      // Its packets go another way.
      #expect(finding.tunnel == "tun7" && !finding.hasTunnelAnswered)
    }
  }
}

/// What is asked after 1.2 s, and what is told without time: each of these waits for as long.
extension DiagnosisAskingTests {
  /// What an address is called needs nobody, and the way is that to it: both are told without time. Nothing else is.
  @Test func withoutTimeTheWayToAnAddressIsTold() async throws {
    let source = Self.script(Self.name, Self.way, Self.accepted)
    let verdict = try await Diagnosis(
      of: .address(Self.target, port: 443), configuration: DiagnosisConfiguration(timeout: .zero), environment: source
    ).verdict()
    #expect(source.counts.value == [.names: 1, .way: 2] && !verdict.isFine)
    // The portal is asked about beside what lies beyond the router, and may be given up before that is told.
    let kinds: [DiagnosisStep.Kind] = [.neighbour, .tunnel, .beyond, .connect]
    #expect(verdict.findings.contains(Self.name) && verdict.findings.contains(Self.way))
    for kind in kinds {
      #expect(verdict.findings.filter { $0 == .unasked(kind, nil, .timeIsUp) }.count == 1, "\(kind)")
    }
  }

  /// Over http a portal is asked for beside the site, and not again with what is beyond.
  @Test func aPortalIsAskedForOnce() async throws {
    let source = Self.script(Self.name, Self.way, NearestCauseTests.reset, Self.beyond)
    let verdict = try await Diagnosis(of: "http://a.example/" as SiteURL, environment: source).verdict()
    #expect(source.counts.value[.portal] == 1 && source.counts.value[.beyond] == 1)
    #expect(source.counts.value[.exchange] == 1 && verdict.cause == .refused)
  }
}

/// More of verdicts.
extension VerdictPartsTests {
  /// What the router says of the way to a name server, in its place.
  @Test func aRouterThatHasNoHostToHandOnToIsThisMachines() {
    func cause(_ meaning: NetworkStatement.Meaning, _ gateways: Set<IPAddress>) -> DiagnosisCause? {
      let servers = [NameFinding.Server(Self.server, ipv4: .refused(Self.says(meaning)))]
      return NameRules.read(NameFinding(name: "a", servers: servers), gateways: gateways).charge?.cause
    }
    #expect(cause(.hostUnreachable, [Self.router]) == .routerNoRoute)
    #expect(cause(.hostUnreachable, [Self.router6]) == .nameServerSilent)
    #expect(cause(.prohibited, [Self.router]) == .prohibited && cause(.lifetimeEnded, [Self.router]) == .routingLoop)
  }

  /// The first, the last and one between them; each has its own words.
  @Test func causesHaveTheirWords() {
    #expect("\(DiagnosisCause.noInterface)" == "there is no such interface")
    #expect("\(DiagnosisCause.gatewaySilent)" == "the gateway does not answer")
    #expect("\(DiagnosisCause.proxyRefuses)" == "the proxy does not lead to the target")
    let all = DiagnosisCause.all
    #expect(all.first == .noInterface && all.last == .proxyRefuses && Set(all.map { "\($0)" }).count == all.count)
  }
}
#endif
