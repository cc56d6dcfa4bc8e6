// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Netlink

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

  private var client: NetlinkClient
  private var builder = NetlinkRequestBuilder()
  /// The requests of the last batch, and what they ask about. Mostly the next batch is the same: then they are only
  /// numbered anew.
  private var routeRequests = NetlinkRequestBuilder()
  private var routeDestinations: [Destination] = []

  /// How many members of a nexthop group are looked at. The kernel's own limit is larger than any real group.
  private static let groupLimit = 256

  init() throws(NetlinkError) { client = try NetlinkClient(.route) }

  /// Whether its descriptor is open: somebody else may have closed it.
  var isOpen: Bool { client.isOpen }

  // MARK: Routes

  /// Replaces `replies` with the kernel's replies for each destination; `lost` if it does not answer.
  func routes(to destinations: [Destination], _ replies: inout [RouteReplies]) {
    if routeDestinations != destinations { prepareRequests(destinations) }
    replies.removeAll(keepingCapacity: true)
    for _ in destinations { replies.append(RouteReplies()) }
    do {
      try client.exchange(&routeRequests) { index, answer, bytes in
        if index == 0 { return }  // the barrier
        let position = (index - 1) / 2
        if index % 2 == 1 {
          replies[position].match = RouteReply(answer, bytes)
        } else {
          replies[position].plain = RouteReply(answer, bytes)
        }
      }
    } catch {
      // Sending is forbidden, or there is no memory for it. What is not answered stays `lost`: nothing is known.
    }
    for position in replies.indices {
      guard case .route(let route) = replies[position].match, let id = route.nexthopID, route.outputInterface == nil,
        route.nexthops.isEmpty
      else { continue }
      replies[position].objectHops = hops(ofObject: id)
    }
  }

  private func prepareRequests(_ destinations: [Destination]) {
    routeDestinations.removeAll(keepingCapacity: true)
    routeDestinations.append(contentsOf: destinations)
    routeRequests.removeAll()
    routeRequests.appendLinkBarrier()
    for destination in destinations {
      append(destination, fibMatch: true)
      append(destination, fibMatch: false)
    }
  }

  private func append(_ destination: Destination, fibMatch: Bool) {
    routeRequests.appendRouteQuery(
      destination: destination.address, source: destination.source, outputInterface: destination.output,
      mark: destination.mark == 0 ? nil : destination.mark,
      transport: Int(destination.transport == .tcp ? IPPROTO_TCP : IPPROTO_UDP),
      destinationPort: destination.port == 0 ? nil : destination.port, fibMatch: fibMatch)
  }

  // MARK: Neighbours

  /// Returns whether each of the gateways counts as failed, or `nil` if the kernel does not say. A gateway that is no
  /// neighbour does not.
  func areFailed(_ gateways: [KernelFilter.Gateway]) -> [Bool?] {
    builder.removeAll()
    for gateway in gateways { builder.appendGetNeighbour(gateway.address, interface: gateway.interface) }
    var found = [Bool?](repeating: nil, count: gateways.count)
    do {
      try client.exchange(&builder) { index, answer, bytes in
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
    _ = try client.dump(.getNeighbour, family: .ipv6) { step, bytes in
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
      try client.exchange(&builder) { index, answer, bytes in
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
    _ = try client.dump(.getRule, family: .ipv4) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): RuleMessage(message, in: bytes).map(body)
      }
    }
  }

  /// Calls `body` with every link, after `begin` for each attempt, which makes the attempt before void. Returns whether
  /// the last attempt was not interrupted, so that nothing is missing.
  func links(begin: () -> Void, _ body: (LinkMessage) -> Void) throws(NetlinkError) -> Bool {
    try !client.dump(.getLink) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): LinkMessage(message, in: bytes).map(body)
      }
    }.wasInterrupted
  }

  /// Calls `body` with every address, after `begin` for each attempt. Returns the same as `links`.
  func addresses(begin: () -> Void, _ body: (AddressMessage) -> Void) throws(NetlinkError) -> Bool {
    try !client.dump(.getAddress) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): AddressMessage(message, in: bytes).map(body)
      }
    }.wasInterrupted
  }
}

extension RouteReply {
  fileprivate init(_ answer: NetlinkAnswer, _ bytes: RawSpan) {
    switch answer {
    case .message(let message):
      guard let route = RouteMessage(message, in: bytes) else {
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
