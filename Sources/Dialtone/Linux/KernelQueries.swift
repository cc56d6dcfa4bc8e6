// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Asks the kernel, on a socket of its own.
///
/// A batch of route queries begins with a barrier: a request for which the kernel takes its RTNL lock. So it waits for
/// a change of links, addresses or IPv4 routes that is under way. Events are sent half-way through such a change;
/// without the barrier an IPv4 query may still find what the change is about to remove.
final class KernelQueries {
  /// A destination, and what restricts the way to it.
  struct Destination: Equatable {
    let address: IPAddressBits
    var source: IPAddressBits?
    var output: UInt32?
    let mark: UInt32
    let transport: ReachabilityConfiguration.Transport
    let port: UInt16
  }

  /// What was asked about a destination, and the kernel's replies; `lost` if it does not answer.
  struct Asked {
    let destination: Destination
    var replies = RouteReplies()
  }

  /// The socket, and the requests of the last batch. Mostly the next batch is the same: then they are only numbered
  /// anew. All in one place, so that a batch takes access to it once.
  fileprivate struct Exchange: ~Copyable {
    var client: NetlinkClient
    var requests = NetlinkRequestBuilder()
    /// How many destinations were asked about.
    var destinationCount = 0
  }

  private var exchange: Exchange
  private var builder = NetlinkRequestBuilder()
  /// The last batch.
  private var asked: [Asked] = []

  /// How many members of a nexthop group are looked at. The kernel's own limit is larger than any real group.
  private static let groupLimit = 256

  init() throws(NetlinkError) { exchange = try Exchange(client: NetlinkClient(.route)) }

  /// Whether its descriptor is open: somebody else may have closed it.
  var isOpen: Bool { exchange.client.isOpen }

  /// How many destinations the kernel was asked about; each is a pair of queries.
  var destinationCount: Int { exchange.destinationCount }

  // MARK: Routes

  /// Returns the kernel's replies for `count` destinations.
  func routes(_ count: Int, to destination: (_ position: Int) -> Destination) -> [Asked] {
    // In the same memory as the last batch.
    var batch = asked
    asked = []
    if batch.count == count, batch.indices.allSatisfy({ batch[$0].destination == destination($0) }) {
      for position in batch.indices { batch[position].replies = RouteReplies() }
    } else {
      batch = (0..<count).map { Asked(destination: destination($0)) }
      exchange.prepare(batch)
    }
    exchange.ask(count) { index, answer, bytes in
      batch[index / 2].replies.take(answer, bytes, isMatch: index % 2 == 0)
    }
    for position in batch.indices {
      // The route names nothing but a nexthop object.
      if let id = batch[position].replies.bareNexthopID { batch[position].replies.severalHops = hops(ofObject: id) }
    }
    asked = batch
    return batch
  }

  // MARK: Neighbours

  /// Returns whether each of the gateways is failed, or `nil` if the kernel does not say. A gateway that is no
  /// neighbour is not.
  func areFailed(_ gateways: [KernelFilter.Gateway]) -> [Bool?] {
    builder.removeAll()
    for gateway in gateways { builder.appendGetNeighbour(gateway.address, interface: gateway.interface) }
    var found = [Bool?](repeating: nil, count: gateways.count)
    do {
      try exchange.client.exchange(&builder) { index, answer, bytes in
        switch answer {
        case .message(let message):
          found[index] = NeighbourMessage(message, in: bytes).map { $0.state.contains(.failed) }
        case .acknowledgement(let acknowledgement): if acknowledgement.errno == ENOENT { found[index] = false }
        case .lost: break
        }
      }
    } catch {
      // As for routes: nothing is known.
    }
    return found
  }

  /// Calls `body` with every IPv6 neighbour.
  func ipv6Neighbours(_ body: (NeighbourMessage) -> Void) throws(NetlinkError) {
    _ = try exchange.client.dump(.getNeighbour, family: .ipv6) { step, bytes in
      if case .message(let message) = step { NeighbourMessage(message, in: bytes).map(body) }
    }
  }

  // MARK: Nexthop objects

  /// Returns the hops of a nexthop object; for a group, in its order.
  func hops(ofObject id: UInt32) -> [RouteNexthop] {
    guard let object = nexthops([id]).first else { return [] }
    let members = object.group.isEmpty ? [object] : nexthops(object.group.prefix(Self.groupLimit).map(\.id))
    return members.compactMap { member in
      guard let index = member.outputInterface, !member.isBlackhole else { return nil }
      return RouteNexthop(flags: member.flags, weight: 1, interfaceIndex: index, gateway: member.gateway)
    }
  }

  private func nexthops(_ ids: [UInt32]) -> [NexthopMessage] {
    builder.removeAll()
    for id in ids { builder.appendGetNexthop(id: id) }
    var found: [(Int, NexthopMessage)] = []
    do {
      try exchange.client.exchange(&builder) { index, answer, bytes in
        if case .message(let message) = answer, let nexthop = NexthopMessage(message, in: bytes) {
          found.append((index, nexthop))
        }
      }
    } catch {
      // As above: no hop is known.
    }
    return found.sorted { $0.0 < $1.0 }.map(\.1)
  }

  // MARK: Tables

  /// Calls `body` with every routing rule of IPv4, after `begin` for each attempt. A change meanwhile is announced.
  func ipv4Rules(begin: () -> Void, _ body: (RuleMessage) -> Void) throws(NetlinkError) {
    _ = try exchange.client.dump(.getRule, family: .ipv4) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): if let message = RuleMessage(message, in: bytes) { body(message) }
      }
    }
  }

  /// Calls `body` with every link, after `begin` for each attempt, which makes the attempt before void. Returns whether
  /// the last attempt was not interrupted, so that nothing is missing.
  func links(begin: () -> Void, _ body: (LinkMessage) -> Void) throws(NetlinkError) -> Bool {
    try !exchange.client.dump(.getLink) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): if let message = LinkMessage(message, in: bytes) { body(message) }
      }
    }.wasInterrupted
  }

  /// Calls `body` with every address, after `begin` for each attempt. Returns the same as `links`.
  func addresses(begin: () -> Void, _ body: (AddressMessage) -> Void) throws(NetlinkError) -> Bool {
    try !exchange.client.dump(.getAddress) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): if let message = AddressMessage(message, in: bytes) { body(message) }
      }
    }.wasInterrupted
  }
}

extension KernelQueries.Exchange {
  /// Calls `body` with the kernel's answers: for each destination the matching route, then the plain reply. What is not
  /// answered stays unknown: sending is forbidden, or there is no memory for it.
  fileprivate mutating func ask(_ count: Int, _ body: (_ index: Int, NetlinkAnswer, RawSpan) -> Void) {
    destinationCount += count
    do throws(NetlinkError) {
      // The first is the barrier.
      try client.exchange(&requests) { index, answer, bytes in if index > 0 { body(index - 1, answer, bytes) } }
    } catch {
      // See above.
    }
  }

  fileprivate mutating func prepare(_ batch: [KernelQueries.Asked]) {
    requests.removeAll()
    requests.appendLinkBarrier()
    for asked in batch {
      append(asked.destination, fibMatch: true)
      append(asked.destination, fibMatch: false)
    }
  }

  private mutating func append(_ destination: KernelQueries.Destination, fibMatch: Bool) {
    requests.appendRouteQuery(
      destination: destination.address, source: destination.source, outputInterface: destination.output,
      mark: destination.mark == 0 ? nil : destination.mark,
      transport: Int(destination.transport == .tcp ? IPPROTO_TCP : IPPROTO_UDP),
      destinationPort: destination.port == 0 ? nil : destination.port, fibMatch: fibMatch)
  }
}

extension NetlinkError {
  /// Whether the system refused, and will again.
  var isRefusal: Bool {
    switch errno {
    case EPERM, EACCES, EAFNOSUPPORT, EOPNOTSUPP, ENOSYS: true
    default: false
    }
  }
}

extension RouteReplies {
  /// Takes in one of the two answers.
  fileprivate mutating func take(_ answer: NetlinkAnswer, _ bytes: RawSpan, isMatch: Bool) {
    if isMatch {
      match = RouteReply(answer, bytes, &severalHops)
    } else {
      // A plain reply names one hop.
      var none: [RouteNexthop] = []
      plain = RouteReply(answer, bytes, &none)
    }
  }

  /// The nexthop object of the matching route, if that names neither an interface nor hops.
  fileprivate var bareNexthopID: UInt32? {
    guard case .route(let route) = match, let id = route.nexthopID, route.outputInterface == nil, severalHops.isEmpty
    else { return nil }
    return id
  }
}

extension RouteReply {
  fileprivate init(_ answer: NetlinkAnswer, _ bytes: RawSpan, _ nexthops: inout [RouteNexthop]) {
    switch answer {
    case .message(let message):
      guard let route = RouteMessage(message, in: bytes, nexthops: &nexthops) else {
        self = .lost
        return
      }
      self = .route(route)
    case .acknowledgement(let acknowledgement): self = .refusal(acknowledgement.errno)
    case .lost: self = .lost
    }
  }
}
#endif
