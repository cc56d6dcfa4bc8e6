// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

enum RouteReply: Equatable, Sendable, BitwiseCopyable {
  case route(RouteMessage)
  /// There is no way; this is the errno(3).
  case refusal(CInt)
  /// No reply came, or none that could be read: nothing is known.
  case lost
}

/// The kernel's two replies for one destination. Each lacks something. The matching route has every hop and its state,
/// but no source. The plain reply has the source, but only one hop, which a hash chose.
struct RouteReplies: Equatable, Sendable {
  /// With RTM_F_FIB_MATCH: the route as it is configured.
  var match = RouteReply.lost
  /// Without RTM_F_FIB_MATCH: what a packet sent now would get.
  var plain = RouteReply.lost
  /// The hops of the matching route, if it has several, or those of its nexthop object, if it names nothing else
  /// (`nexthop_compat_mode` 0).
  var severalHops: [RouteNexthop] = []

  /// Whether it is the route that has the source: it names one, or makes addresses this machine's.
  var namesSource: Bool {
    guard case .route(let route) = match else { return false }
    return route.type == .local || route.preferredSource != nil
  }

  /// The route as it is configured, as far as the kernel can tell.
  ///
  /// - If a route has more hops than fit into a reply (some 200), the kernel answers EMSGSIZE. Then only the chosen hop
  ///   is known.
  /// - An IPv4 packet to a multicast or broadcast address needs no route if it has a source or an interface
  ///   (ip_route_output_key_hash_rcu, net/ipv4/route.c). Then there is no entry to show: EHOSTUNREACH.
  var configured: RouteReply {
    switch match {
    case .refusal(EMSGSIZE): return plain
    case .refusal(EHOSTUNREACH):
      guard case .route(let route) = plain, route.type == .multicast || route.type == .broadcast else { return match }
      return plain
    default: return match
    }
  }

  /// Calls `body` with the hops of the route, in the kernel's order, until it returns something. A single hop needs no
  /// array.
  func firstHop<Result>(_ body: (RouteNexthop) -> Result?) -> Result? {
    guard case .route(let route) = configured else { return nil }
    if severalHops.isEmpty {
      guard let index = route.outputInterface else { return nil }
      return body(RouteNexthop(flags: route.flags, interfaceIndex: index, gateway: route.gateway))
    }
    for hop in severalHops { if let result = body(hop) { return result } }
    return nil
  }

  /// The hops of the route, in the kernel's order; empty if there is no route.
  var hops: [RouteNexthop] {
    if !severalHops.isEmpty, case .route = configured { return severalHops }
    return firstHop { $0 }.map { [$0] } ?? []
  }

  /// Whether a hop may have an IPv6 gateway. A copy of the route is not made for that.
  var mayHaveIPv6Gateway: Bool {
    switch match {
    case .route(let route): route.gateway?.isIPv6 ?? !severalHops.isEmpty
    case .refusal(let errno): errno == EMSGSIZE
    case .lost: false
    }
  }

  /// Whether the route ends at a known time. A copy of the route is not made for that.
  var expires: Bool { if case .route(let route) = match { route.expiry > 0 } else { false } }

  /// The metric of the route; 0 if there is no route, or it has none.
  var metric: UInt32 { if case .route(let route) = configured { route.priority ?? 0 } else { 0 } }
}
