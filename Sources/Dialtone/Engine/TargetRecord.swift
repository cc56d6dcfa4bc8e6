// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A name, and the targets that depend on it.
typealias TargetName = NameRecord<TargetRecord>

/// What the engine keeps for one monitor: the queries its target needs, and how their answers make its state. Used
/// under the engine's lock.
final class TargetRecord {
  private let question: TargetQuestion
  /// Where the states go; `nil` for a question that is answered once. If the monitor has been given another target
  /// since, or was paused, they are not stored.
  var publication: Publication<Reachability>?
  /// Whether the engine watches it: not before it was added, nor after it was withdrawn or replaced.
  var isWatched = false
  /// Whether its state is to be decided in this turn.
  var isStale = false
  /// Whether it is an IPv4 address that is looked for behind the network's NAT64 if it has no path of its own.
  let isTranslatable: Bool

  /// The queries whose best answer is the state. If a pair is compared with other sources, the second one is for its
  /// remote address alone.
  var nodes: [QueryNode] = []
  /// The Internet's queries, if the state also depends on whether there is any path; otherwise empty.
  var pathNodes: [QueryNode] = []
  /// A host's name; for an IPv4 address, the name that reveals the network's NAT64.
  var name: TargetName?
  /// For an IPv4 address: the queries for it behind the network's NAT64.
  var translatedNodes: [QueryNode] = []
  /// For a host that is not found without a path to the Internet: the queries for the name servers; `nil` while they
  /// are not asked.
  var serverNodes: [QueryNode]?

  init(_ question: TargetQuestion) {
    self.question = question
    isTranslatable =
      if case .address(let address) = question.target.storage {
        Self.usesTranslation(address, question.configuration)
      } else { false }
  }

  convenience init(_ question: TargetQuestion, _ cell: StateCell<Reachability>, _ epoch: Epoch) {
    self.init(question)
    publication = Publication(cell, epoch, settling: question.configuration.settling)
  }

  /// The key of this record in the engine: its monitor's cell.
  var identifier: ObjectIdentifier { publication.map { ObjectIdentifier($0.cell) } ?? ObjectIdentifier(self) }
  var target: ReachabilityTarget { question.target }
  var configuration: ReachabilityConfiguration { question.configuration }

  /// The command that makes another engine watch the same.
  var command: EngineCommand? {
    publication.map { .watch(.target(question, $0.cell), $0.epoch) }
  }

  /// A query for an address with this target's interface, mark and source.
  func query(_ address: IPAddress) -> RouteQuery { Self.query(address, target, configuration) }

  private static func query(
    _ address: IPAddress, _ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration
  ) -> RouteQuery {
    var source: IPAddress?
    if case .pair(let local, _) = target.storage { source = local }
    return RouteQuery(address, from: source, port: target.port ?? configuration.port, configuration)
  }

  /// The query for a target that is one address, or `nil` if it is none, or not of the family that counts. Whether it
  /// is enough depends on the answer; see ``isEnough(_:for:_:)``.
  static func onlyQuery(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> RouteQuery? {
    guard case .address(let remote) = target.storage, !remote.unmapped.isUnspecified,
      configuration.family == nil || configuration.family == remote.unmapped.family
    else { return nil }
    return query(remote, target, configuration)
  }

  /// The queries that need no name.
  var initialQueries: [RouteQuery] {
    switch target.storage {
    case .internet: internetQueries
    case .localNetwork(let kind):
      [RouteQuery(.localNetwork(kind, configuration.family), interface: configuration.interface.map { LinkName($0) })]
    case .host: []
    case .pair(_, let remote) where configuration.comparesSources:
      allowed([remote]).flatMap { remote in
        [query(remote), Self.query(remote, .address(remote, port: target.port), configuration)]
      }
    case .address(let remote), .pair(_, let remote):
      allowed([remote.unmapped.isUnspecified ? .rootServer(remote.unmapped.family) : remote]).map(query)
    }
  }

  /// The Internet's queries, if the state also depends on whether there is any path.
  var initialPathQueries: [RouteQuery] {
    switch target.storage {
    case .host: internetQueries
    case .address where isTranslatable:
      internetQueries.filter { $0.address?.family == .ipv6 }
    case .internet, .localNetwork, .address, .pair: []
    }
  }

  /// The queries for these name servers, which the system's resolver asks by UDP first (RFC 7766, 5), and not as the
  /// configuration says. It is not known which servers one on this machine asks.
  func serverQueries(_ servers: [IPAddress]) -> [RouteQuery] {
    servers.filter { !$0.isLoopback }.map {
      RouteQuery(.address($0), interface: configuration.interface.map { LinkName($0) }, transport: .udp, port: 53)
    }
  }

  /// The Internet, over the families that count.
  var internetQueries: [RouteQuery] {
    // The configured port belongs to a target that you ask about. For other targets these queries have none.
    let port = target.storage == .internet ? configuration.port : nil
    return allowed([.rootServer(.ipv4), .rootServer(.ipv6)]).map { RouteQuery($0, port: port, configuration) }
  }

  func allowed(_ addresses: [IPAddress]) -> [IPAddress] {
    guard let family = configuration.family else { return addresses }
    return addresses.filter { $0.unmapped.family == family }
  }
}

extension IPAddress {
  /// Returns the address that stands for the Internet: one of a.root-servers.net. They have not changed since 2004
  /// (IPv4) and 2016 (IPv6; IANA root hints). Any address far away would do; nothing is sent to it.
  package static func rootServer(_ family: Family) -> IPAddress {
    switch family {
    case .ipv4: IPAddress(ipv4: 0xC629_0004)  // 198.41.0.4
    // 2001:503:ba3e::2:30.
    case .ipv6: IPAddress(IPAddressBits(ipv6High: 0x2001_0503_ba3e_0000, low: 0x0000_0000_0002_0030))
    }
  }
}
