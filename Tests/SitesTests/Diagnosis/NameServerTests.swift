// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore
import NIOPosix
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What name servers on this machine's own loopback interface are asked, and what is made of their answers. Each
/// answers at once, so that nothing is waited for.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct NameServerTests {
  private static let four = IPAddress(ipv4: 0xCB00_710A)
  private static let six = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  private static let first = IPAddress(ipv4: 0x7F00_0001)
  private static let second = IPAddress(ipv4: 0x7F00_0002)

  /// A question as it came (RFC 1035, 4.1): its number, whether it is for a name that cannot exist, and its type.
  struct Question: Sendable {
    let bytes: [UInt8]
    /// The port that it came from.
    var port: Int?

    var id: [UInt8] { Array(bytes.prefix(2)) }
    var type: UInt8 { bytes.count > 16 ? bytes[bytes.count - 3] : 0 }
    var isControl: Bool {
      bytes.indices.contains { bytes[$0...].starts(with: [7] + Array("invalid".utf8)) }
    }

    /// An answer with a code, flags beside it, and records that point to the question's name.
    func answer(_ code: UInt8 = 0, flags: UInt8 = 0x81, _ data: [[UInt8]] = []) -> [UInt8] {
      let head = id + [flags, 0x80 | code, 0, 1, 0, UInt8(data.count), 0, 0, 0, 0] + bytes[12...]
      return data.reduce(head) { $0 + [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8($1.count)] + $1 }
    }

    /// What a server says that knows both addresses of each name but those that cannot exist.
    var known: [UInt8] {
      if isControl { return answer(3) }
      let six = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [10]
      return answer(0, [type == 1 ? [203, 0, 113, 10] : six])
    }
  }

  /// A server on port 53 of a lab; it says nothing to what it has no answer for.
  final class Server: Sendable {
    private let channel: any Channel

    init(in lab: NetworkLab, at host: IPAddress, _ answer: @escaping @Sendable (Question) -> [UInt8]?) async throws {
      let host = host.description
      // Made here: its threads have the network of who asks for it first, and other tests use them.
      let group = MultiThreadedEventLoopGroup.singleton
      channel = try await lab.run {
        DatagramBootstrap(group: group)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answers(answer)) }
          }
          .bind(host: host, port: 53)
      }.get()
    }

    deinit { channel.close(promise: nil) }

    private final class Answers: ChannelInboundHandler {
      typealias InboundIn = AddressedEnvelope<ByteBuffer>
      typealias OutboundOut = AddressedEnvelope<ByteBuffer>

      private let answer: @Sendable (Question) -> [UInt8]?

      init(_ answer: @escaping @Sendable (Question) -> [UInt8]?) { self.answer = answer }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let question = unwrapInboundIn(data)
        let asked = Question(bytes: Array(question.data.readableBytesView), port: question.remoteAddress.port)
        guard let bytes = answer(asked) else { return }
        let envelope = AddressedEnvelope(remoteAddress: question.remoteAddress, data: ByteBuffer(bytes: bytes))
        context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
      }
    }
  }

  private static func inquiry(
    _ servers: [IPAddress], flags: ReachabilityFlags = .isLocalAddress, lines: String = ""
  ) -> NameInquiry {
    let patience = Patience(until: TimeSource.system.now() + 3_600_000_000_000)
    let resolver = servers.map { "nameserver \($0)\n" }.joined() + lines
    let configuration = ResolverConfiguration(resolver: resolver, switching: "hosts: dns\n")
    return NameInquiry(configuration: configuration, patience: patience) { server in
      KernelEvidence(target: server, state: Reachability(status: .reachable, flags: flags))
    }
  }

  private func names(
    in lab: NetworkLab, _ servers: [IPAddress], families: [IPAddress.Family] = [.ipv4, .ipv6]
  ) throws -> NameFinding {
    try lab.run { Self.inquiry(servers).evidence("www.example.", families: families) }
  }

  private static let both = NameFinding.Reply.answer(.success, [four])
  private static let both6 = NameFinding.Reply.answer(.success, [six])
  private static let denied = NameFinding.Reply.answer(.nameError, [])

  // MARK: One server

  /// getaddrinfo(3): the types of the families that count; the name that cannot exist is asked for by one of them.
  @Test(
    arguments: [([.ipv4, .ipv6], [1, 1, 28]), ([.ipv4], [1, 1]), ([.ipv6], [28, 28])]
      as [([IPAddress.Family], [UInt8])])
  func eachTypeIsAskedForOnce(families: [IPAddress.Family], types: [UInt8]) async throws {
    let lab = try NetworkLab()
    let asked = Box<[[UInt8]: Question]>([:])
    let server = try await Server(in: lab, at: Self.first) { question in
      // What is sent again has the same number.
      asked.update { $0[question.id] = question }
      return question.known
    }
    let start = TimeSource.system.now()
    let found = try names(in: lab, [Self.first], families: families)
    let elapsed = Double(TimeSource.system.now() - start) / 1_000_000
    let questions = asked.value.values
    #expect(questions.map(\.type).sorted() == types && questions.count(where: \.isControl) == 1)
    #expect(questions.filter(\.isControl).map(\.type) == [families.contains(.ipv4) ? 1 : 28])
    let answer = try #require(found.servers.first)
    #expect(answer.ipv4 == (families.contains(.ipv4) ? Self.both : nil))
    #expect(answer.ipv6 == (families.contains(.ipv6) ? Self.both6 : nil) && answer.control == Self.denied)
    #expect(found.addresses == [Self.four, Self.six].filter { families.contains($0.family) })
    #expect(found.tried == ["www.example"] && found.foundAs == "www.example" && !found.isHurried)
    let time = try #require(answer.milliseconds)
    #expect(time >= 0 && time <= elapsed && !answer.isBeyond && !answer.deniesRoot)
    withExtendedLifetime(server) {}
  }

  /// resolv.conf(5), search: however many names there are, they cost few questions. Explain.md has the bound.
  @Test func furtherNamesCostFewQuestions() async throws {
    let lab = try NetworkLab()
    let asked = Box<Set<[UInt8]>>([])
    let places = [Self.first, Self.second, IPAddress(ipv4: 0x7F00_0003)]
    var servers: [Server] = []
    for place in places {
      servers.append(
        try await Server(in: lab, at: place) { question in
          asked.update { _ = $0.insert(question.id + [UInt8(place.bits.low & 0xFF)]) }
          return question.answer(3)
        })
    }
    let domains = (1...20).map { "d\($0).example" }.joined(separator: " ")
    let found = try lab.run {
      Self.inquiry(places, lines: "search \(domains)\noptions ndots:5\n")
        .evidence("www.example", families: [.ipv4, .ipv6])
    }
    #expect(found.tried.first == "www.example.d1.example" && found.tried.last == "www.example")
    #expect(asked.value.count <= 24 && found.tried.count == 6, "\(asked.value.count)")
    #expect(found.servers.map(\.address) == places && found.servers.first?.control == Self.denied)
    withExtendedLifetime(servers) {}
  }

  /// RFC 2181, 9: what comes with TC is dropped, and asked for over TCP.
  @Test func anAnswerThatIsCutCountsForNothing() async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { question in
      if question.isControl { return question.answer(3) }
      return question.type == 1
        ? question.answer(0, flags: 0x83, [[203, 0, 113, 10]]) : question.answer(0, flags: 0x83)
    }
    let found = try names(in: lab, [Self.first])
    #expect(found.servers.map(\.ipv4) == [.truncated] && found.servers.map(\.ipv6) == [.truncated])
    #expect(found.addresses == [])
    withExtendedLifetime(server) {}
  }

  /// RFC 5452, 9.1: an answer to another question is none, whatever it says.
  @Test func anAnswerToAnotherQuestionIsTold() async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { question in
      var other = question.known
      other[13] ^= 1
      return other
    }
    let found = try names(in: lab, [Self.first])
    #expect(found.servers.map(\.ipv4) == [.mismatched] && found.servers.map(\.ipv6) == [.mismatched])
    #expect(found.addresses == [] && found.servers.first?.control == .mismatched)
    withExtendedLifetime(server) {}
  }

  /// RFC 1122, 4.1.3.1: this machine says that nothing listens at an address of its own. Of another's, its filter says
  /// so.
  @Test(arguments: [true, false])
  func whatThisMachineSaysOfAnotherIsItsFilters(isLocal: Bool) throws {
    let lab = try NetworkLab()
    let found = try lab.run {
      Self.inquiry([Self.first], flags: isLocal ? .isLocalAddress : []).evidence("a.", families: [.ipv4, .ipv6])
    }
    let refused = NameFinding.Reply.refused(NetworkStatement(.portUnreachable, by: Self.first, isOwn: true))
    #expect(found.servers.map(\.ipv4) == [isLocal ? refused : .forbidden])
    #expect(found.servers.map(\.ipv6) == [isLocal ? refused : .forbidden] && !found.isHurried)
  }

  // MARK: Several

  /// resolv.conf(5): programs believe the first that answers. Once it has said all, nobody else is waited for, and who
  /// has not answered by then is not silent.
  @Test func theFirstThatAnswersIsEnough() async throws {
    let lab = try NetworkLab()
    let server = try await Server(in: lab, at: Self.first) { $0.known }
    let deaf = try await Server(in: lab, at: Self.second) { _ in nil }
    let found = try names(in: lab, [Self.first, Self.second])
    #expect(found.servers.map(\.ipv4) == [Self.both, nil] && found.servers.map(\.ipv6) == [Self.both6, nil])
    #expect(found.servers.map(\.control) == [Self.denied, nil] && found.addresses == [Self.four, Self.six])
    withExtendedLifetime((server, deaf)) {}
  }

  /// A server that refuses has others asked (resolv.conf(5)).
  @Test func whoRefusesHasOthersWaitedFor() async throws {
    let lab = try NetworkLab()
    let refusing = try await Server(in: lab, at: Self.first) { $0.answer(5) }
    let server = try await Server(in: lab, at: Self.second) { $0.known }
    let found = try names(in: lab, [Self.first, Self.second])
    #expect(found.servers.map(\.ipv4) == [.answer(.refused, []), Self.both])
    #expect(found.servers.map(\.ipv6) == [.answer(.refused, []), Self.both6])
    #expect(found.addresses == [Self.four, Self.six])
    withExtendedLifetime((refusing, server)) {}
  }

  // MARK: Asking again

  /// What fails at one time alone is unsteady, and what fails each time is as it is.
  @Test(arguments: [(false, 1), (true, nil)] as [(Bool, Int?)])
  func whatFailsAtOneTimeIsUnsteady(isLasting: Bool, failures: Int?) async throws {
    let lab = try NetworkLab()
    let failing = Box<[UInt8]?>(nil)
    let server = try await Server(in: lab, at: Self.first) { question in
      guard question.type == 28, !question.isControl else { return question.known }
      failing.update { $0 = $0 ?? question.id }
      return isLasting || failing.value == question.id ? question.answer(2) : question.known
    }
    let found = try names(in: lab, [Self.first])
    #expect(found.servers.map(\.ipv6) == [.answer(.serverFailure, [])] && found.addresses == [Self.four])
    let unsteady = try lab.run {
      Self.inquiry([Self.first]).unsteady(found, families: [.ipv4, .ipv6]) { .failed }
    }
    #expect(unsteady == failures.map { NameFinding.Unsteady(Self.first, failures: $0, tries: 3) })
    withExtendedLifetime(server) {}
  }
}
#endif
