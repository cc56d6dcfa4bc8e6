// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import NetworkLab
import SiteLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// How long name servers are waited for, and who says what in their place; what files of this machine lead to.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisServerTests {
  private typealias Server = NameServerTests.Server

  private static let first = IPAddress(ipv4: 0x7F00_0001)
  private static let second = IPAddress(ipv4: 0x7F00_0002)
  private static let millisecond: Int64 = 1_000_000

  private static func patience(_ rest: Int64 = 3_600_000 * millisecond) -> Patience {
    Patience(until: TimeSource.system.now() + rest)
  }

  private static func inquiry(
    _ servers: IPAddress..., search: String = "", flags: ReachabilityFlags = .isLocalAddress,
    neighbour: NeighbourState? = nil, patience: Patience = patience()
  ) -> NameInquiry {
    let resolver = servers.map { "nameserver \($0)\n" }.joined() + search
    let configuration = ResolverConfiguration(resolver: resolver, switching: "hosts: dns\n")
    return NameInquiry(configuration: configuration, patience: patience) { server in
      KernelEvidence(
        target: server, state: Reachability(status: .reachable, flags: flags),
        neighbour: neighbour.map { KernelEvidence.NeighbourFacts(address: server, link: "v0", state: $0) })
    }
  }

  // MARK: Options

  /// resolv.conf(5), single-request-reopen: for servers that answer one question of a socket, each has one.
  @Test(arguments: [("", 1), ("options single-request-reopen\n", 3)])
  func questionsMayHaveSocketsOfTheirOwn(options: String, count: Int) async throws {
    let lab = try NetworkLab()
    let ports = Box<Set<Int?>>([])
    let server = try await Server(in: lab, at: Self.first) { question in
      ports.update { $0.insert(question.port) }
      return question.known
    }
    let found = try lab.run {
      Self.inquiry(Self.first, search: options).evidence("www.example.", families: [.ipv4, .ipv6])
    }
    #expect(ports.value.count == count && found.addresses.count == 2)
    withExtendedLifetime(server) {}
  }

  /// resolv.conf(5), no-aaaa: programs are not kept waiting by a server that drops those questions.
  @Test(
    arguments: [("", [.ipv4, .ipv6], 2), ("options no-aaaa\n", [.ipv4, .ipv6], 1), ("options no-aaaa\n", [.ipv6], 1)]
      as [(String, [IPAddress.Family], Int)])
  func noIPv6AddressIsAskedFor(options: String, families: [IPAddress.Family], count: Int) async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { $0.known }
    let found = try lab.run { Self.inquiry(Self.first, search: options).evidence("www.example.", families: families) }
    #expect(found.addresses.count == count)
    #expect((found.servers.first?.ipv6 == nil) == (!options.isEmpty && families.contains(.ipv4)))
    withExtendedLifetime(server) {}
  }

  /// resolv.conf(5), rotate: programs begin with any server, so that each has to say its word.
  @Test(arguments: [("", nil), ("options rotate\n", .silent)] as [(String, NameFinding.Reply?)])
  func ofServersInTurnEachIsWaitedFor(options: String, reply: NameFinding.Reply?) async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { $0.known }
    let deaf = try await Server(in: lab, at: Self.second) { _ in nil }
    let found = try lab.run {
      Self.inquiry(Self.first, Self.second, search: options).evidence("www.example.", families: [.ipv4])
    }
    #expect(found.servers.last?.ipv4 == reply && found.rotates == !options.isEmpty && found.addresses.count == 1)
    withExtendedLifetime((server, deaf)) {}
  }

  // MARK: Times

  /// RFC 1035, 4.2.1: datagrams get lost, so that a question is sent again, after a second. Its answer took as long, of
  /// whatever else was answered before. A machine that is busy for another second is asked again.
  @Test func anAnswerIsTimedFromTheFirstQuestion() async throws {
    let lab = try NetworkLab()
    let seen = Box<Set<[UInt8]>>([])
    let server = try await Server(in: lab, at: Self.first) { question in
      let isNew = !seen.value.contains(question.id)
      seen.update { $0.insert(question.id) }
      return isNew && !question.isControl ? nil : question.known
    }
    var times: [Double] = []
    for _ in 0..<5 where times.allSatisfy({ $0 >= 2_000 }) {
      let found = try lab.run { Self.inquiry(Self.first).evidence("www.example.", families: [.ipv4, .ipv6]) }
      times.append(try #require(found.servers.first?.milliseconds))
    }
    #expect(times.allSatisfy { $0 >= 1_000 } && times.contains { $0 < 2_000 }, "\(times)")
    withExtendedLifetime(server) {}
  }

  /// resolv.conf(5): programs believe the first server. Once it has said all, nobody else is waited for; it has 0.4 s
  /// for the name that cannot exist.
  @Test(arguments: [(true, 0..<400), (false, 400..<800)] as [(Bool, Range<Int64>)])
  func whoHasSaidAllIsNotWaitedFor(answersControl: Bool, time: Range<Int64>) async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { question in
      question.isControl && !answersControl ? nil : question.known
    }
    let deaf = try await Server(in: lab, at: Self.second) { _ in nil }
    var times: [Int64] = []
    for _ in 0..<5 where !times.contains(where: time.contains) {
      let start = TimeSource.system.now()
      let found = try lab.run {
        Self.inquiry(Self.first, Self.second).evidence("www.example.", families: [.ipv4])
      }
      times.append((TimeSource.system.now() - start) / Self.millisecond)
      #expect(found.servers.map(\.control) == [answersControl ? .answer(.nameError, []) : .silent, nil])
      #expect(found.servers.map { $0.ipv4 != nil } == [true, false] && !found.isHurried)
    }
    #expect(times.contains(where: time.contains) && times.allSatisfy { $0 >= time.lowerBound }, "\(times)")
    withExtendedLifetime((server, deaf)) {}
  }

  /// The time was up while a server had its own: its silence says nothing.
  @Test func aTimeThatEndsMeanwhileIsNoSilence() async throws {
    let lab = try NetworkLab()
    let deaf = try await Server(in: lab, at: Self.first) { _ in nil }
    let found = try lab.run {
      Self.inquiry(Self.first, patience: Self.patience(50 * Self.millisecond)).evidence("www.", families: [.ipv4])
    }
    #expect(found.isHurried && found.servers == [] && found.tried == ["www"])
    withExtendedLifetime(deaf) {}
  }

  // MARK: Who says what

  /// What is said of the name itself counts, whatever is said of it with a search domain before.
  @Test func theNameItselfSaysMoreThanItsDomains() async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { question in
      // A domain of the list (RFC 1035, 3.1), or the name that cannot exist.
      let isSearched = question.bytes.indices.contains { question.bytes[$0...].starts(with: [7] + "example".utf8) }
      return question.answer(isSearched || question.isControl ? 3 : 5)
    }
    let found = try lab.run {
      Self.inquiry(Self.first, search: "search a.example b.example\n").evidence("www", families: [.ipv4])
    }
    #expect(found.tried == ["www.a.example", "www.b.example", "www"] && found.foundAs == nil)
    #expect(found.servers.map(\.ipv4) == [.answer(.refused, [])])
    withExtendedLifetime(server) {}
  }

  /// RFC 1122, 3.2.2.1: only that a host is unreachable may be the kernel's word for a neighbour that does not answer.
  @Test func theOwnWordOfAHostIsSilenceIfTheNeighbourIsGone() throws {
    let closed = try NetworkLab().run {
      Self.inquiry(Self.first, neighbour: .failed).evidence("www.", families: [.ipv4])
    }
    let word = NetworkStatement(.portUnreachable, by: Self.first, isOwn: true)
    #expect(closed.servers.map(\.ipv4) == [.refused(word)])
    // Nobody has that address; the kernel asks three times (arp(7)), here in quick succession.
    let cable = try LabCable()
    try cable.client.sysctl("ipv4/neigh/v0/retrans_time_ms", 50)
    let absent = IPAddress(ipv4: 0x0A00_0063)
    for (state, reply) in [(.failed, .silent), (nil, .forbidden)] as [(NeighbourState?, NameFinding.Reply)] {
      let found = try cable.client.run {
        Self.inquiry(absent, flags: [], neighbour: state).evidence("www.", families: [.ipv4])
      }
      #expect(found.servers.map(\.ipv4) == [reply], "\(found)")
    }
  }

  /// netfilter(8): send(2) fails with EPERM for a datagram, and connect(2) goes on though nothing leaves.
  @Test(.enabled(if: NetworkLab.hasFirewall, "nftables is needed"))
  func whatThisMachineForbidsIsTold() throws {
    let lab = try NetworkLab()
    try lab.nft(
      "table inet own { chain out { type filter hook output priority 0; udp dport 53 drop; tcp dport 443 drop; }; }")
    try lab.run {
      let found = Self.inquiry(Self.first).evidence("www.", families: [.ipv4, .ipv6])
      #expect(found.servers == [NameFinding.Server(Self.first, ipv4: .forbidden, ipv6: .forbidden)])
      #expect(DatagramProbe.isForbidden(Self.first, port: 53, interface: nil))
      #expect(!DatagramProbe.isForbidden(Self.first, port: 54, interface: nil))
      let deaf = try DeafListener()
      for (port, isHeld) in [(HopTrace.sitePort, true), (UInt16(deaf.port), false)] {
        let packets = try #require(PacketWitness())
        var trace = HopTrace(to: Self.first, port: port, interface: nil, gateway: nil)
        let isLed = trace.leadsBeyond(Self.patience(), upTo: 1)
        #expect(!isLed && trace.isHeld(packets) == isHeld, "\(port)")
      }
    }
  }

  /// nft(8): a rule may let out a limited number in a second. What it did not let out is asked again.
  @Test(.enabled(if: NetworkLab.hasFirewall, "nftables is needed"))
  func whatIsTooMuchAtOnceIsNotForbidden() async throws {
    let lab = try NetworkLab()
    let limit = "limit rate over 2/second burst 2 packets drop"
    try lab.nft("table inet own { chain out { type filter hook output priority 0; udp dport 53 \(limit); }; }")
    let server = try await Server(in: lab, at: Self.first) { $0.known }
    let found = try lab.run { Self.inquiry(Self.first).evidence("www.example.", families: [.ipv4, .ipv6]) }
    #expect(found.addresses.count == 2 && found.servers.allSatisfy { !$0.contradictsItself }, "\(found)")
    withExtendedLifetime(server) {}
  }

  /// RFC 792: a router says that it has no way, or that a packet's time to live ended with it. packet(7) sees what
  /// leaves and what comes in.
  @Test func whatARouterSaysIsTold() async throws {
    let cable = try LabCable()
    try cable.server.sysctl("ipv4/ip_forward", 1)
    try cable.server.sysctl("ipv4/icmp_ratelimit", 0)
    try cable.server.addRoute("203.0.113.7", kind: .unreachable)
    try cable.server.addRoute("203.0.113.8", dev: "far")
    try cable.client.run {
      let router = IPAddress(ipv4: 0x0A00_0002)
      func tries(_ address: IPAddress, _ port: UInt16) -> (Connector, [ConnectionFinding.Attempt]) {
        let connector = Connector([address], ports: [port], interface: nil, Self.patience())
        connector.wait(upTo: 60_000)
        return (connector, connector.results(.ipv4))
      }
      let far = IPAddress(ipv4: 0xCB00_7107)
      let refusal = ConnectionFinding.Outcome.refused(NetworkStatement(.hostUnreachable, by: router))
      let (refused, attempts) = tries(far, 443)
      #expect(attempts.map(\.tries) == [[refusal]] && !refused.isSilent(.ipv4))
      var trace = HopTrace(to: far, hops: [64], interface: nil, gateway: router)
      let isLed = trace.leadsBeyond(Self.patience(), upTo: 60_000)
      #expect(!isLed && trace.stop == refusal && trace.barrier == refusal && !trace.hasDiedAtRouter)
      var near = HopTrace(to: IPAddress(ipv4: 0xCB00_7108), hops: [1], interface: nil, gateway: router)
      let isLedNear = near.leadsBeyond(Self.patience(), upTo: 60_000)
      #expect(!isLedNear && near.hasDiedAtRouter && !near.hasDiedBeyond && near.stop == .silent && near.barrier == nil)
      let sight = try #require(tries(router, 1).1.first?.sight)
      #expect(sight == ConnectionFinding.Sight(hasLeft: true, hasReturned: true))
    }
  }

  // MARK: Files

  /// nsswitch.conf(5): a source without a module is passed over; `files` and `dns` are libc's own (glibc 2.34).
  @Test(.enabled(if: SystemFile.text(at: "/etc/nsswitch.conf") != nil, "the file is needed"))
  func sourcesWithoutAModuleArePassedOver() throws {
    let lab = try NetworkLab(ownMounts: true)
    let folder = try TemporaryFolder()
    let path = folder.path + "/nsswitch.conf"
    defer { _ = unsafe unlink(path) }
    let line = "hosts: nosuchmodule dns files\n"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    // The call reads this many bytes.
    #expect(unsafe write(descriptor, line, line.utf8.count) == line.utf8.count && close(descriptor) == 0)
    try lab.bindMount(path, over: "/etc/nsswitch.conf")
    let configuration = try lab.run { ResolverConfiguration() }
    #expect(configuration.sources == ["dns", "files"] as [String] && !configuration.asksHostsFirst)
  }
}
#endif
