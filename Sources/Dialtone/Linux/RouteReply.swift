// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// The kernel's reply to a route query.
package enum RouteReply: Equatable, Sendable {
  case route(RouteMessage)
  /// No way, as a number of errno(3).
  case refusal(CInt)
  /// Nothing came, or nothing that could be read: nothing is known.
  case lost
}

/// The kernel's two replies for one destination. Each lacks something: the matching route has all hops and their state, but no
/// source; the plain reply has the source, but names one hop that a hash chose.
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
}
