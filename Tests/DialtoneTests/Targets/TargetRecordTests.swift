// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Which queries a target needs by its configuration, and what their answers make of it, without an engine.
struct TargetRecordTests {
  private static let address = ip("2001:db8::1")
  private static let ipv4 = ip("192.0.2.1")
  private static let roots = [ip("198.41.0.4"), ip("2001:503:ba3e::2:30")]
  private static let reachable = Reachability(status: .reachable, interface: interface("wlan0", 2))
  private static let noRoute = Reachability(status: .unreachable, reason: .noRoute)

  private func record(
    _ target: ReachabilityTarget, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) -> TargetRecord {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    return TargetRecord(TargetQuestion(target, configuration))
  }

  private func nodes(_ answers: [Reachability?]) -> [QueryNode] {
    answers.enumerated().map { position, answer in
      let node = QueryNode(RouteQuery(.address(IPAddress(ipv4: UInt32(position)))))
      node.answer = answer
      return node
    }
  }

  // MARK: Queries

  private static let detailed: @Sendable (inout ReachabilityConfiguration) -> Void = {
    $0.interface = "eth0"
    $0.mark = 7
    $0.transport = .udp
    $0.port = 53
  }

  @Test func aPlainTargetHasAPlainQuery() {
    #expect(record(.address(Self.address)).initialQueries == [RouteQuery(.address(Self.address))])
    #expect(record(.internet).initialQueries == Self.roots.map { RouteQuery(.address($0)) })
    #expect(record(.localNetwork).initialQueries == [RouteQuery(.localNetwork(nil, nil))])
    let plain = RouteQuery(.address(Self.address))
    #expect(plain.source == nil && plain.interface == nil && plain.mark == 0 && plain.transport == .tcp)
    #expect(plain.port == 0 && plain.address == Self.address && RouteQuery(.localNetwork(nil, nil)).address == nil)
  }

  @Test func aConfigurationGoesIntoEveryQuery() throws {
    func query(_ address: IPAddress, source: IPAddress? = nil, port: UInt16) -> RouteQuery {
      RouteQuery(
        .address(address), source: source, interface: LinkName("eth0"), mark: 7, transport: .udp, port: port)
    }
    #expect(record(.address(Self.address), Self.detailed).initialQueries == [query(Self.address, port: 53)])
    // The target's own port comes first.
    #expect(record(.address(Self.address, port: 443), Self.detailed).initialQueries == [query(Self.address, port: 443)])
    let pair = record(.address(Self.address, from: ip("2001:db8::2"), port: 443), Self.detailed)
    #expect(pair.initialQueries == [query(Self.address, source: ip("2001:db8::2"), port: 443)])
    #expect(record(.internet, Self.detailed).initialQueries == Self.roots.map { query($0, port: 53) })
    let local = record(.localNetwork(.wifi)) {
      Self.detailed(&$0)
      $0.family = .ipv6
    }
    #expect(local.initialQueries == [RouteQuery(.localNetwork(.wifi, .ipv6), interface: LinkName("eth0"))])
    // The port belongs to the host, not to the roots.
    let host = record(try .host("name.example:443"), Self.detailed)
    #expect(host.initialQueries.isEmpty && host.initialPathQueries == Self.roots.map { query($0, port: 0) })
    #expect(host.query(Self.address) == query(Self.address, port: 443))
  }

  @Test func anIPv4MappedAddressIsAskedAboutAsIPv4() {
    let mapped = ip("::ffff:192.0.2.1")
    #expect(record(.address(mapped)).initialQueries == [RouteQuery(.address(Self.ipv4))])
    let pair = record(.address(mapped, from: ip("::ffff:192.0.2.2")))
    #expect(pair.initialQueries == [RouteQuery(.address(Self.ipv4), source: ip("192.0.2.2"))])
    let all = [mapped, Self.ipv4, Self.address]
    #expect(record(.internet).allowed(all) == all)
    #expect(record(.internet) { $0.family = .ipv4 }.allowed(all) == [mapped, Self.ipv4])
    #expect(record(.internet) { $0.family = .ipv6 }.allowed(all) == [Self.address])
  }

  @Test func aPairThatIsComparedIsAskedAboutTwice() {
    let source = ip("2001:db8::2")
    let pair = record(.address(Self.address, from: source, port: 443)) { $0.comparesSources = true }
    let expected = [
      RouteQuery(.address(Self.address), source: source, port: 443), RouteQuery(.address(Self.address), port: 443),
    ]
    #expect(pair.initialQueries == expected)
  }

  @Test func onlyAnIPv4AddressElsewhereIsLookedForBehindATranslator() {
    #expect(record(.address(Self.ipv4)).initialPathQueries == [RouteQuery(.address(Self.roots[1]))])
    for text in ["0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "2001:db8::1", "::"] {
      #expect(record(.address(ip(text))).initialPathQueries.isEmpty, "\(text)")
      #expect(!record(.address(ip(text))).isTranslatable, "\(text)")
    }
    #expect(record(.address(Self.ipv4)) { $0.usesNAT64 = false }.initialPathQueries.isEmpty)
    #expect(record(.address(Self.ipv4)) { $0.family = .ipv4 }.initialPathQueries.isEmpty)
    #expect(record(.address(Self.ipv4, from: Self.ipv4)).initialPathQueries.isEmpty)
    #expect(record(.internet).initialPathQueries.isEmpty && record(.localNetwork).initialPathQueries.isEmpty)
  }

  @Test func onlyAnAddressIsAskedAboutByOneQuery() throws {
    func query(_ target: ReachabilityTarget, _ family: IPAddress.Family? = nil) -> RouteQuery? {
      var configuration = ReachabilityConfiguration()
      configuration.family = family
      return TargetRecord.onlyQuery(target, configuration)
    }
    let expected = RouteQuery(.address(Self.ipv4))
    #expect(query(.address(Self.ipv4)) == expected && query(.address(Self.ipv4), .ipv4) == expected)
    #expect(query(.address(ip("::ffff:192.0.2.1")), .ipv4) == expected && query(.address(Self.ipv4), .ipv6) == nil)
    let others: [ReachabilityTarget] = [
      .internet, .localNetwork, try .host("name.example"), .address(Self.ipv4, from: Self.ipv4),
      .address(ip("0.0.0.0")), .address(ip("::")), .address(ip("::ffff:0.0.0.0")),
    ]
    for target in others { #expect(query(target) == nil, "\(target)") }
  }

  @Test func queriesThatDifferInTheirSourceAloneStandTogether() {
    let query = RouteQuery(.address(Self.address), source: Self.address)
    #expect(query.hasQuestion(of: RouteQuery(.address(Self.address))))
    #expect(query.hasQuestion(of: RouteQuery(.address(Self.address), source: ip("2001:db8::2"))))
    for other in [
      RouteQuery(.address(Self.ipv4)), RouteQuery(.localNetwork(nil, nil)),
      RouteQuery(.address(Self.address), interface: LinkName("eth0")), RouteQuery(.address(Self.address), mark: 1),
      RouteQuery(.address(Self.address), transport: .udp), RouteQuery(.address(Self.address), port: 1),
    ] {
      #expect(!query.hasQuestion(of: other) && query != other)
    }
  }

  // MARK: Decisions

  @Test func aNodeTakesAnAnswerInIfItIsNew() {
    let node = QueryNode(RouteQuery(.address(Self.address)))
    var later = Self.reachable
    later.realtime = 9
    var moved = Self.reachable
    moved.source = Self.address
    let taken = [Self.reachable, Self.reachable, later, moved, Self.noRoute].map(node.take)
    #expect(taken == [true, false, false, true, true] && node.answer == Self.noRoute)
    #expect(QueryNode(RouteQuery(.localNetwork(nil, nil))).address == IPAddressBits(ipv4: 0))
    #expect(!node.isUsed && !node.isStale && !node.isOfPaths)
    node.isOfPaths = true
    #expect(node.isUsed)
  }

  @Test func theFirstOfTheBestAnswersIsTold() {
    let denied = Reachability.denied
    let prohibited = Reachability(status: .unreachable, reason: .prohibited)
    #expect(TargetRecord.best(of: [Reachability]()) == nil)
    #expect(TargetRecord.best(of: [Self.noRoute, prohibited, Self.noRoute]) == prohibited)
    #expect(TargetRecord.best(of: [prohibited, denied, Self.noRoute]) == denied)
    var second = Self.reachable
    second.interface = interface("eth0", 3)
    #expect(TargetRecord.best(of: [denied, Self.reachable, second]) == Self.reachable)
    #expect(TargetRecord.best(nodes([denied, Self.reachable, second])) == Self.reachable)
    #expect(TargetRecord.best(nodes([Self.reachable, nil])) == nil)
  }

  @Test func aTargetWithoutAQueryIsUnreachable() {
    let none = record(.address(Self.address)) { $0.family = .ipv4 }
    #expect(none.decide() == Self.noRoute)
    let waiting = record(.internet)
    waiting.nodes = nodes([Self.reachable, nil])
    #expect(waiting.decide() == nil)
  }

  @Test func aComparedPairTellsByWhatTheRemoteAddressCouldBeReached() {
    func decide(_ answers: [Reachability?]) -> Reachability? {
      let pair = record(.address(Self.address, from: Self.address)) { $0.comparesSources = true }
      pair.nodes = nodes(answers)
      return pair.decide()
    }
    #expect(decide([]) == Self.noRoute && decide([Self.reachable]) == Self.noRoute)
    #expect(decide([Self.reachable, nil]) == nil && decide([nil, Self.reachable]) == nil)
    let three = Reachability(status: .reachable, interface: interface("eth0", 3))
    #expect(decide([Self.reachable, three])?.freeInterface == 3)
    #expect(decide([Self.noRoute, three])?.freeInterface == 3)
    #expect(decide([Self.noRoute, three])?.status == .unreachable)
    #expect(decide([Self.reachable, Self.noRoute])?.freeInterface == 0)
    #expect(decide([Self.reachable, Reachability(status: .reachable)])?.freeInterface == .max, "some interface")
    // What is not known says nothing.
    #expect(decide([Self.reachable, .denied]) == .denied)
  }

  @Test func someFailuresOfAnAddressAreWorthATranslator() {
    func needs(_ own: Reachability?, _ path: Reachability?) -> Bool {
      let record = record(.address(Self.ipv4))
      record.nodes = nodes([own])
      record.pathNodes = nodes([path])
      return record.needsTranslation
    }
    let useful: [Reachability.Reason] = [.noRoute, .noAddress, .noCarrier, .linkDown]
    for reason in Reachability.Reason.all {
      let own = Reachability(status: .unreachable, reason: reason)
      #expect(needs(own, Self.reachable) == useful.contains(reason), "\(reason)")
      for path in [nil, Self.noRoute, .denied] { #expect(!needs(own, path), "\(reason)") }
    }
    #expect(!needs(Self.reachable, Self.reachable) && !needs(nil, Self.reachable) && !needs(.denied, Self.reachable))
    #expect(!needs(Reachability(status: .unreachable), Self.reachable))
  }

  @Test func anAnswerIsEnoughIfNoTranslatorCouldHelp() {
    func isEnough(
      _ address: IPAddress, _ answer: Reachability, _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
    ) -> Bool {
      var configuration = ReachabilityConfiguration()
      change(&configuration)
      return TargetRecord.isEnough(answer, for: RouteQuery(.address(address)), configuration)
    }
    #expect(isEnough(Self.ipv4, Self.reachable) && isEnough(Self.ipv4, .denied) && !isEnough(Self.ipv4, Self.noRoute))
    #expect(isEnough(Self.address, Self.noRoute) && isEnough(Self.ipv4, Self.noRoute) { $0.usesNAT64 = false })
    let local = RouteQuery(.localNetwork(nil, nil))
    #expect(TargetRecord.isEnough(Self.noRoute, for: local, ReachabilityConfiguration()))
  }
}
