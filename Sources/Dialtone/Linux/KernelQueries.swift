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

  var client: NetlinkClient
  private var builder = NetlinkRequestBuilder()
  private var asked: [Asked] = []
  /// Its requests. Mostly the next batch is the same: then they are only numbered anew.
  private var requests = NetlinkRequestBuilder()
  /// How many destinations the kernel was asked about; each is a pair of queries.
  private(set) var destinationCount = 0

  /// How many members of a nexthop group are looked at. The kernel's own limit is larger than any real group.
  private static let groupLimit = 256

  init() throws(NetlinkError) { client = try NetlinkClient(.route) }

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
      prepare(batch)
    }
    destinationCount += count
    do throws(NetlinkError) {
      // Behind the barrier, each destination has two answers: the matching route, then the plain reply.
      try client.exchange(&requests) { index, answer, bytes in
        if index > 0 { batch[(index - 1) / 2].replies.take(answer, bytes, isMatch: index % 2 == 1) }
      }
    } catch {
      // What is not answered stays unknown: sending is forbidden, or there is no memory for it.
    }
    for position in batch.indices {
      // The route names nothing but a nexthop object.
      guard let id = batch[position].replies.bareNexthopID else { continue }
      if let hops = hops(ofObject: id) {
        batch[position].replies.severalHops = hops
      } else {
        batch[position].replies.match = .lost
      }
    }
    asked = batch
    return batch
  }

  private func prepare(_ batch: [Asked]) {
    requests.removeAll()
    requests.appendLinkBarrier()
    for asked in batch {
      append(asked.destination, fibMatch: true)
      append(asked.destination, fibMatch: false)
    }
  }

  private func append(_ destination: Destination, fibMatch: Bool) {
    requests.appendRouteQuery(
      destination: destination.address, source: destination.source, outputInterface: destination.output,
      mark: destination.mark == 0 ? nil : destination.mark,
      transport: Int(destination.transport == .tcp ? IPPROTO_TCP : IPPROTO_UDP),
      destinationPort: destination.port == 0 ? nil : destination.port, fibMatch: fibMatch)
  }

  // MARK: Neighbours

  /// Returns whether each of the gateways is failed, or `nil` if the kernel does not say. A gateway that is no
  /// neighbour is not.
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

  // MARK: Nexthop objects

  /// Returns the hops of a nexthop object; for a group, in its order. `nil` if the kernel does not answer.
  func hops(ofObject id: UInt32) -> [RouteNexthop]? {
    guard var members = nexthops([id]) else { return nil }
    if let group = members.first?.group, !group.isEmpty {
      guard let found = nexthops(group.prefix(Self.groupLimit)) else { return nil }
      members = found
    }
    return members.compactMap { member in
      guard let index = member.outputInterface, !member.isBlackhole else { return nil }
      return RouteNexthop(flags: member.flags, interfaceIndex: index, gateway: member.gateway)
    }
  }

  /// Those that are gone are left out.
  private func nexthops(_ ids: some Sequence<UInt32>) -> [NexthopMessage]? {
    builder.removeAll()
    for id in ids { builder.appendGetNexthop(id: id) }
    var found: [(Int, NexthopMessage)] = []
    var isLost = false
    do {
      try client.exchange(&builder) { index, answer, bytes in
        switch answer {
        case .message(let message): if let hop = NexthopMessage(message, in: bytes) { found.append((index, hop)) }
        case .acknowledgement: break
        case .lost: isLost = true
        }
      }
    } catch {
      return nil
    }
    return isLost ? nil : found.sorted { $0.0 < $1.0 }.map(\.1)
  }
}

extension NetlinkError {
  /// Whether the system refused, and will again.
  var isRefusal: Bool { [EPERM, EACCES, EAFNOSUPPORT, EOPNOTSUPP, ENOSYS].contains(errno) }
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
      self = RouteMessage(message, in: bytes, nexthops: &nexthops).map(RouteReply.route) ?? .lost
    case .acknowledgement(let acknowledgement): self = .refusal(acknowledgement.errno)
    case .lost: self = .lost
    }
  }
}
#endif
