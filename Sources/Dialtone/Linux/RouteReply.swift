// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Netlink

/// The kernel's reply to a route query.
package enum RouteReply: Equatable, Sendable {
  case route(RouteMessage)
  /// No way, as a number of errno(3).
  case refusal(CInt)
  /// Nothing came, or nothing that could be read: nothing is known.
  case lost
}

/// The kernel's two replies for one destination. Each lacks something: the matching route has all hops and their state,
/// but no source; the plain reply has the source, but names one hop that a hash chose.
package struct RouteReplies: Equatable, Sendable {
  /// With RTM_F_FIB_MATCH: the route as it is configured.
  package var match = RouteReply.lost
  /// Without: what a packet sent now would get.
  package var plain = RouteReply.lost
  /// The hops of the nexthop object, where the matching route names nothing else (`nexthop_compat_mode` 0).
  package var objectHops: [RouteNexthop] = []

  package init(match: RouteReply = .lost, plain: RouteReply = .lost, objectHops: [RouteNexthop] = []) {
    self.match = match
    self.plain = plain
    self.objectHops = objectHops
  }

  /// The route as it is configured, as far as the kernel can tell: a route with more hops than fit into a reply (some
  /// 200) is answered with EMSGSIZE. Then the hop that was chosen is all that is known of it.
  package var configured: RouteReply { match == .refusal(EMSGSIZE) ? plain : match }

  /// The hops of the route, in the kernel's order; none where there is no route.
  package var hops: [RouteNexthop] {
    guard case .route(let route) = configured else { return [] }
    let several = route.nexthops.isEmpty ? objectHops : route.nexthops
    if !several.isEmpty { return several }
    return route.outputInterface.map {
      [RouteNexthop(flags: route.flags, weight: 1, interfaceIndex: $0, gateway: route.gateway)]
    } ?? []
  }

  /// The metric of the route; 0 where there is none, or it has none.
  package var metric: UInt32 { if case .route(let route) = configured { route.priority ?? 0 } else { 0 } }
}
