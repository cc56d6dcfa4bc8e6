// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import MessageBuilding
@testable import Dialtone
import Testing

@Suite(.enabled(if: LiveKernel.answers, "netlink is refused here"))
struct NetlinkClientTests {
  /// The kernel's answer to a request.
  private enum Answer: Equatable {
    case route(RouteType, UInt32?)
    case link(String?)
    case other(NetlinkMessageType)
    case error(Int32)
    case lost(NetlinkAnswer.Loss)
  }

  private func ask(
    _ client: inout NetlinkClient, _ requests: inout NetlinkRequestBuilder
  ) throws -> [(index: Int, answer: Answer)] {
    var answers: [(index: Int, answer: Answer)] = []
    try client.exchange(&requests) { index, answer, bytes in
      switch answer {
      case .message(let message):
        if let route = RouteMessage(message, in: bytes) {
          answers.append((index, .route(route.type, route.outputInterface)))
        } else if let link = LinkMessage(message, in: bytes) {
          answers.append((index, .link(link.name)))
        } else {
          answers.append((index, .other(message.type)))
        }
      case .acknowledgement(let acknowledgement): answers.append((index, .error(acknowledgement.errno)))
      case .lost(let loss): answers.append((index, .lost(loss)))
      }
    }
    return answers
  }

  @Test(.enabled(if: LiveKernel.routesLoopback, "the loopback link is down here"))
  func loopbackAddressIsLocal() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    requests.appendRouteQuery(destination: ipv4(127, 0, 0, 1), fibMatch: false)
    // SAFETY: if_nametoindex(3) reads the string only during the call.
    let loopback = unsafe if_nametoindex("lo")
    #expect(try ask(&client, &requests).map(\.answer) == [.route(.local, loopback)])
  }

  @Test func barrierIsAnsweredWithNoDevice() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    requests.appendLinkBarrier()
    #expect(try ask(&client, &requests).map(\.answer) == [.error(ENODEV)])
  }

  @Test(arguments: [0, 1, 2, 15, 16, 17, 33, 100]) func everyRequestHasOneAnswer(count: Int) throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    for index in 0..<count {
      if index % 2 == 0 {
        requests.appendGetLink(index: 1)
      } else {
        requests.appendLinkBarrier()
      }
    }
    // The second round uses the same builder.
    for _ in 0..<2 {
      let answers = try ask(&client, &requests)
      #expect(answers.map(\.index) == Array(0..<count))
      for (index, answer) in answers {
        #expect(answer == (index % 2 == 0 ? .link("lo") : .error(ENODEV)), "request \(index)")
      }
    }
  }

  @Test func staleAnswerIsSkipped() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    // Such a request has two answers, the link and an acknowledgement. The second stays in the socket.
    requests.begin(.getLink, [.request, .acknowledge])
    requests.appendLinkHeader(index: 1)
    requests.end()
    #expect(try ask(&client, &requests).map(\.answer) == [.link("lo")])
    requests.removeAll()
    requests.appendLinkBarrier()
    requests.appendRouteQuery(destination: ipv4(127, 0, 0, 1), fibMatch: false)
    let answers = try ask(&client, &requests)
    #expect(answers.map(\.index) == [0, 1])
    #expect(answers.first?.answer == .error(ENODEV))
  }

  @Test func requestWithoutAnswerIsReportedMissing() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    // A no-op has no answer: netlink(7).
    requests.begin(.noop, .request)
    requests.end()
    requests.appendLinkBarrier()
    let answers = try ask(&client, &requests)
    #expect(answers.count == 2)
    #expect(answers.contains { $0 == (0, .lost(.missing)) })
    #expect(answers.contains { $0 == (1, .error(ENODEV)) })
  }

  /// The first send takes 16 requests.
  @Test func requestsWithoutAnswersAreReportedByTheirNumbers() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    for _ in 0..<20 {
      requests.begin(.noop, .request)
      requests.end()
    }
    let answers = try ask(&client, &requests)
    #expect(answers.map(\.index) == Array(0..<20))
    #expect(answers.allSatisfy { $0.answer == .lost(.missing) })
  }

  @Test func strictCheckingAcceptsEveryQuery() throws {
    var client = try NetlinkClient()
    var requests = NetlinkRequestBuilder()
    let loopback6 = IPAddressBits(ipv6High: 0, low: 1)
    for fibMatch in [true, false] {
      requests.appendRouteQuery(
        destination: ipv4(127, 0, 0, 1), source: ipv4(127, 0, 0, 1), mark: 7, fibMatch: fibMatch)
      requests.appendRouteQuery(
        destination: loopback6, source: loopback6, outputInterface: 1, mark: 7, fibMatch: fibMatch)
    }
    requests.appendGetNexthop(id: 0x7fff_fff0)
    for (index, answer) in try ask(&client, &requests) {
      // The routes depend on the machine. What matters is that the request is well-formed.
      #expect(answer != .error(EINVAL) && answer != .error(EOPNOTSUPP), "request \(index)")
    }
  }

  @Test func dumpsLinksWithLoopbackAmongThem() throws {
    var client = try NetlinkClient()
    var names: [String] = []
    let outcome = try client.dump(.getLink) { step, bytes in
      switch step {
      case .began: names = []
      case .message(let message):
        guard let link = LinkMessage(message, in: bytes), link.isSnapshot, let name = link.name else {
          Issue.record("a dumped link is no snapshot")
          return
        }
        names.append(name)
      }
    }
    #expect(names.contains("lo"))
    #expect(outcome.attempts >= 1)
  }

  @Test(
    arguments: [
      (.getAddress, .unspecified), (.getAddress, .ipv4), (.getRoute, .ipv4), (.getRoute, .ipv6), (.getRule, .ipv4),
      (.getRule, .ipv6), (.getNexthop, .unspecified), (.getNeighbour, .ipv4),
    ] as [(NetlinkMessageType, KernelAddressFamily)])
  func everyDumpedMessageCanBeRead(type: NetlinkMessageType, family: KernelAddressFamily) throws {
    let (read, unread) = try dump(type, family: family)
    #expect(unread == 0, "\(read) others were read")
  }

  /// Counts the messages of a dump that the decoders could read, and the others.
  private func dump(
    _ type: NetlinkMessageType, family: KernelAddressFamily
  ) throws -> (read: Int, unread: Int) {
    var client = try NetlinkClient()
    var count = (read: 0, unread: 0)
    _ = try client.dump(type, family: family) { step, bytes in
      guard case .message(let message) = step else { return }
      let isRead =
        switch message.type {
        case .newAddress: AddressMessage(message, in: bytes)?.localAddress != nil
        case .newRoute: RouteMessage(message, in: bytes)?.family == family
        case .newRule: RuleMessage(message, in: bytes)?.family == family
        case .newNexthop: NexthopMessage(message, in: bytes) != nil
        case .newNeighbour: NeighbourMessage(message, in: bytes) != nil
        default: false
        }
      if isRead { count.read += 1 } else { count.unread += 1 }
    }
    return count
  }

  /// Asks for a table that does not exist. This is a function because Swift 6.3 crashes on a macro's closure that
  /// captures a noncopyable value.
  private func refusedDump(_ client: inout NetlinkClient) -> NetlinkError? {
    do throws(NetlinkError) {
      _ = try client.dump(.getRoute, family: .ipv4, table: 0x7abc_def0) { _, _ in }
      return nil
    } catch {
      return error
    }
  }

  @Test func routesOfATableThatIsNotThereAreRefused() throws {
    var client = try NetlinkClient()
    let checksStrictly = client.socket.checksStrictly
    try #require(checksStrictly)
    let error = refusedDump(&client)
    #expect(error?.code == .refusedByKernel)
    #expect(error?.errno == ENOENT)
    #expect(error?.message?.contains("table") == true)
    #expect(error?.description.hasPrefix("cannot list routes: No such file or directory (ENOENT): ") == true)
  }

  @Test func clientIsUsableAfterARefusedDump() throws {
    var client = try NetlinkClient()
    #expect(refusedDump(&client) != nil)
    var requests = NetlinkRequestBuilder()
    requests.appendGetLink(index: 1)
    #expect(try ask(&client, &requests).map(\.answer) == [.link("lo")])
  }

  @Test func genericControllerNumbersItself() throws {
    var client = try NetlinkClient(.generic)
    var requests = NetlinkRequestBuilder()
    requests.appendGetFamily(named: "nlctrl")
    var family: NetlinkMessageType?
    try client.exchange(&requests) { _, answer, bytes in
      guard case .message(let message) = answer else { return }
      family = GenericNetlinkMessage(message, in: bytes)?.familyID(in: bytes)
    }
    #expect(family == .genericController)
  }

  @Test func unknownGenericFamilyIsAnError() throws {
    var client = try NetlinkClient(.generic)
    var requests = NetlinkRequestBuilder()
    requests.appendGetFamily(named: "no-such-family")
    #expect(try ask(&client, &requests).map(\.answer) == [.error(ENOENT)])
  }
}
#endif
