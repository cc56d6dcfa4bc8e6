// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The IPv6 gateways of the answers, and those that are known not to answer.
///
/// In IPv6 the kernel passes over a route while its gateway's neighbour entry is failed. It takes another one: of the
/// same prefix with any metric, or of a shorter prefix (rt6_check_neigh, find_rr_leaf, net/ipv6/route.c). Neither that
/// nor the return is a change of a route; only the neighbour is announced. Invariant: there are at most
/// ``KernelFilter/gatewayLimit``.
struct GatewayTable {
  private(set) var gateways: [KernelFilter.Gateway] = []
  /// Whether there was no room for a gateway of an answer.
  private(set) var isOverfull = false

  var isEmpty: Bool { gateways.isEmpty }

  var failed: [KernelFilter.Gateway] { gateways.filter(\.isFailed) }

  /// Takes in a gateway of an answer, or a failed neighbour. Returns whether it was added.
  mutating func add(_ address: IPAddressBits, on interface: UInt32, isFailed: Bool) -> Bool {
    guard address.isIPv6, position(address, interface) == nil else { return false }
    if gateways.count == KernelFilter.gatewayLimit {
      isOverfull = isOverfull || !isFailed
      return false
    }
    gateways.append(.init(address: address, interface: interface, isFailed: isFailed))
    return true
  }

  /// Takes in the state of a neighbour. Returns whether that changes a gateway.
  mutating func update(_ address: IPAddressBits, on interface: UInt32, isFailed: Bool) -> Bool {
    guard let position = position(address, interface), gateways[position].isFailed != isFailed else { return false }
    gateways[position].isFailed = isFailed
    return true
  }

  private func position(_ address: IPAddressBits, _ interface: UInt32) -> Int? {
    gateways.firstIndex { $0.address == address && $0.interface == interface }
  }
}

#if os(Linux)
/// Follows the IPv6 gateways of the answers: has the kernel announce when one begins or ceases to count as failed.
///
/// One change is not announced: a packet to a failed gateway makes its entry incomplete (__neigh_event_send,
/// net/core/neighbour.c), and the kernel prefers that gateway again until its probes go unanswered once more. A health
/// check does that several times a second. So failed gateways are looked at again and again: soon after a change, then
/// ever less often, but at least every ``longestSpacing``.
final class GatewayWatch {
  /// What a change of a gateway touches: all of IPv6, as a change of a default route does.
  static let touched = IPPrefix(IPAddressBits(ipv6High: 0, low: 0), length: 0)
  /// If there is no room, all gateways are forgotten, but at most once in this time.
  private static let resetSpacing: Int64 = 60_000_000_000
  /// The time until failed gateways are looked at again: after a change, and when nothing has changed for long.
  private static let shortestSpacing: Int64 = 25_000_000
  static let longestSpacing: Int64 = 500_000_000

  private let time: TimeSource
  private var table = GatewayTable()
  private var spacing = GatewayWatch.shortestSpacing
  /// When to look at the failed gateways again; `nil` if there are none.
  private(set) var nextLook: Int64?
  /// Whether a route has changed since the failed neighbours were read: it may have a gateway that was not watched.
  private var areRoutesNew = false
  /// When all gateways were last forgotten for lack of room.
  private var lastReset: Int64?

  init(_ time: TimeSource) { self.time = time }

  /// Has changes of the replies' gateways announced. Returns whether all of IPv6 has to be asked again, since a change
  /// before the announcements begin may have been missed.
  func note(
    _ replies: some Collection<RouteReplies>, _ queries: KernelQueries, _ events: KernelEvents, now: Int64
  ) -> Bool {
    var isNew = false
    for reply in replies where reply.mayHaveIPv6Gateway {
      for hop in reply.hops {
        if let gateway = hop.gateway { isNew = table.add(gateway, on: hop.interfaceIndex, isFailed: false) || isNew }
      }
    }
    if isNew {
      settle(queries, events, addingFailed: true)
      return true
    }
    guard table.isOverfull else { return false }
    if let lastReset, now < lastReset.addingClamped(Self.resetSpacing) { return false }
    // Some may not be used any more. All are forgotten; when the queries are asked again, those in use come back.
    lastReset = now
    table = GatewayTable()
    nextLook = nil
    return true
  }

  /// Takes in that an IPv6 route may have changed. A failed gateway that no answer has gone by may matter now.
  func routesHaveChanged() {
    if table.isEmpty { return }
    areRoutesNew = true
    nextLook = min(nextLook ?? .max, time.now())
  }

  /// Looks at the failed gateways, if it is time. Returns whether one does not count as failed any more, or another one
  /// has been found.
  func look(_ queries: KernelQueries?, _ events: KernelEvents?, now: Int64) -> Bool {
    guard let nextLook, nextLook <= now else { return false }
    guard let queries, let events else {
      // Without sockets nothing can be seen. `refresh` looks once they are there again.
      self.nextLook = nil
      return false
    }
    if areRoutesNew {
      let before = table.gateways
      settle(queries, events, addingFailed: true)
      return table.gateways != before
    }
    let failed = table.failed
    var hasChanged = false
    for (gateway, isFailed) in zip(failed, queries.areFailed(failed)) where isFailed == false {
      hasChanged = table.update(gateway.address, on: gateway.interface, isFailed: false) || hasChanged
    }
    if hasChanged {
      settle(queries, events, addingFailed: false)
    } else {
      spacing = min(2 * spacing, Self.longestSpacing)
      self.nextLook = failed.isEmpty ? nil : now.addingClamped(spacing)
    }
    return hasChanged
  }

  /// Takes in a neighbour that was announced. Returns whether that changes a gateway.
  func apply(_ message: NeighbourMessage, isGone: Bool, _ queries: KernelQueries?, _ events: KernelEvents) -> Bool {
    let isFailed = !isGone && message.state.contains(.failed)
    guard let address = message.address, table.update(address, on: message.interfaceIndex, isFailed: isFailed)
    else { return false }
    if let queries { settle(queries, events, addingFailed: isFailed) }
    return true
  }

  /// Reads the gateways' states anew, after the kernel's tables were read anew.
  func refresh(_ queries: KernelQueries, _ events: KernelEvents) {
    if !table.isEmpty { settle(queries, events, addingFailed: true) }
  }

  /// Forgets all gateways, and ends the announcements of neighbours.
  func forget(_ events: KernelEvents?) {
    if table.isEmpty { return }
    table = GatewayTable()
    nextLook = nil
    _ = events?.announceNeighbours([])
  }

  /// Has the kernel announce each gateway whose state differs from the known one.
  ///
  /// The filter drops what happens between the reading of an announcement and the change of the filter. So the kernel
  /// is asked afterwards, until its answer agrees with the filter.
  private func settle(_ queries: KernelQueries, _ events: KernelEvents, addingFailed: Bool) {
    defer {
      spacing = Self.shortestSpacing
      nextLook = table.failed.isEmpty ? nil : time.now().addingClamped(spacing)
    }
    for _ in 0..<4 {
      // If listening is forbidden, a changed choice of gateway is noticed with the next event of another kind.
      guard events.announceNeighbours(table.gateways) else { return }
      var isSettled = true
      for (gateway, isFailed) in zip(table.gateways, queries.areFailed(table.gateways)) {
        guard let isFailed else { continue }
        if table.update(gateway.address, on: gateway.interface, isFailed: isFailed) { isSettled = false }
      }
      if isSettled { break }
    }
    if addingFailed { addFailed(queries, events) }
  }

  /// Watches the failed neighbours, too: the kernel passes over their routes, so no answer names them.
  private func addFailed(_ queries: KernelQueries, _ events: KernelEvents) {
    areRoutesNew = false
    var isNew = false
    do throws(NetlinkError) {
      _ = try queries.client.list(.getNeighbour, family: .ipv6, NeighbourMessage.init) { neighbour in
        guard neighbour.state.contains(.failed), let address = neighbour.address else { return }
        isNew = table.add(address, on: neighbour.interfaceIndex, isFailed: true) || isNew
      }
    } catch {
      // No memory: the gateways in use are watched.
    }
    if isNew { settle(queries, events, addingFailed: false) }
  }
}
#endif
