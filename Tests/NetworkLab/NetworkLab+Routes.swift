// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// `ip route add DESTINATION …`; see
  /// ``route(_:_:via:dev:metric:table:kind:source:nexthop:hops:onLink:scope:family:)``.
  package func addRoute(
    _ destination: String, via gateway: String? = nil, dev: String? = nil, metric: UInt32? = nil,
    table: UInt32 = LabTable.main, kind: LabRouteKind = .unicast, source: String? = nil, nexthop: UInt32? = nil,
    hops: [LabHop] = [], onLink: Bool = false, scope: LabScope? = nil, family: LabFamily? = nil
  ) throws {
    try route(
      .add, destination, via: gateway, dev: dev, metric: metric, table: table, kind: kind, source: source,
      nexthop: nexthop, hops: hops, onLink: onLink, scope: scope, family: family)
  }

  /// `ip route del DESTINATION …`: deletes the first route that matches.
  package func deleteRoute(
    _ destination: String, via gateway: String? = nil, dev: String? = nil, metric: UInt32? = nil,
    table: UInt32 = LabTable.main, kind: LabRouteKind? = nil, family: LabFamily? = nil
  ) throws {
    try route(
      .delete, destination, via: gateway, dev: dev, metric: metric, table: table, kind: kind, family: family)
  }

  /// `ip route VERB [KIND] DESTINATION [via GATEWAY] [dev DEV] …`.
  ///
  /// The destination is a prefix, an address or `default`. The family is that of the first address given, else
  /// `family`, else IPv4.
  package func route(
    _ verb: LabVerb, _ destination: String, via gateway: String? = nil, dev: String? = nil, metric: UInt32? = nil,
    table: UInt32 = LabTable.main, kind: LabRouteKind? = nil, source: String? = nil, nexthop: UInt32? = nil,
    hops: [LabHop] = [], onLink: Bool = false, scope: LabScope? = nil, family: LabFamily? = nil
  ) throws {
    let prefix = destination == "default" ? nil : try LabAddress(destination)
    let via = try gateway.map { text throws(LabError) in try LabAddress(text) }
    let hopFamily = try hops.first?.gateway.map { text throws(LabError) in try LabAddress(text).family }
    let family = family ?? prefix?.family ?? via?.family ?? hopFamily ?? .v4
    let scope = scope ?? Self.usualScope(verb, kind, family, isDirect: via == nil && nexthop == nil && hops.isEmpty)

    var message = LabMessage(verb == .delete ? RTM_DELROUTE : RTM_NEWROUTE, flags: verb.flags)
    // struct rtmsg: family, destination and source length, tos, table (see RTA_TABLE), protocol, scope, type, flags
    message.append(family.rawValue, prefix?.prefix ?? 0, UInt8(0), UInt8(0), UInt8(0))
    message.append(UInt8(verb == .delete ? 0 : RTPROT_BOOT), scope.rawValue)
    message.append((kind ?? (verb == .delete ? nil : .unicast))?.rawValue ?? 0)
    message.append(UInt32(onLink ? RTNH_F_ONLINK : 0))
    message.attribute(RTA_TABLE, table)
    if let prefix { message.attribute(RTA_DST, prefix.bytes) }
    if let via { message.gateway(via, in: family) }
    if let dev { message.attribute(RTA_OIF, try index(of: dev)) }
    if let metric { message.attribute(RTA_PRIORITY, metric) }
    if let source { message.attribute(RTA_PREFSRC, try LabAddress(source).bytes) }
    if let nexthop { message.attribute(RTA_NH_ID, nexthop) }
    if !hops.isEmpty {
      try message.nested(RTA_MULTIPATH) { message in
        for hop in hops {
          let index = try hop.dev.map { try self.index(of: $0) } ?? 0
          let flags = UInt8(hop.onLink ? RTNH_F_ONLINK : 0)
          try message.hop(index: index, weight: hop.weight, flags: flags) { message in
            if let gateway = hop.gateway { message.gateway(try LabAddress(gateway), in: family) }
          }
        }
      }
    }
    try writer.send(message, Self.words(verb, kind, destination, gateway, dev, metric, table))
  }

  /// Adds `count` IPv4 routes out of `dev`, fast: consecutive prefixes from `first`, such as `100.64.0.0/28`.
  ///
  /// 20,000 routes take some 60 ms, a million some 4 s.
  package func addRoutes(from first: String, count: Int, dev: String, table: UInt32 = LabTable.main) throws {
    try routes(RTM_NEWROUTE, first, count, dev, table)
  }

  /// Deletes the routes of ``addRoutes(from:count:dev:table:)``.
  package func deleteRoutes(from first: String, count: Int, dev: String, table: UInt32 = LabTable.main) throws {
    try routes(RTM_DELROUTE, first, count, dev, table)
  }

  private func routes(_ type: Int, _ first: String, _ count: Int, _ dev: String, _ table: UInt32) throws {
    let address = try LabAddress(first)
    guard address.family == .v4 else { throw LabError("many routes: IPv4 only") }
    let number = address.bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let result = writer.routes(
      Int32(type), first: number, prefix: address.prefix, count: UInt32(count), index: try index(of: dev), table: table)
    try check(result, "\(type == RTM_NEWROUTE ? "adding" : "deleting") \(count) routes from \(first) dev \(dev)")
  }

  /// The scope that `ip` chooses: on-link IPv4 routes have the scope link; a deletion names none.
  private static func usualScope(
    _ verb: LabVerb, _ kind: LabRouteKind?, _ family: LabFamily, isDirect: Bool
  ) -> LabScope {
    if verb == .delete { return .nowhere }
    return family == .v4 && isDirect && (kind ?? .unicast) == .unicast ? .link : .universe
  }

  private static func words(
    _ verb: LabVerb, _ kind: LabRouteKind?, _ destination: String, _ gateway: String?, _ dev: String?,
    _ metric: UInt32?, _ table: UInt32
  ) -> String {
    var words = ["ip route \(verb)"]
    if let kind, kind != .unicast { words.append("\(kind)") }
    words.append(destination)
    if let gateway { words.append("via \(gateway)") }
    if let dev { words.append("dev \(dev)") }
    if let metric { words.append("metric \(metric)") }
    if table != LabTable.main { words.append("table \(table)") }
    return words.joined(separator: " ")
  }
}

extension LabMessage {
  fileprivate mutating func attribute(_ type: rtattr_type_t, _ value: some Collection<UInt8>) {
    attribute(Int(type.rawValue), value)
  }

  fileprivate mutating func attribute(_ type: rtattr_type_t, _ value: some FixedWidthInteger) {
    attribute(Int(type.rawValue), value)
  }

  fileprivate mutating func nested(_ type: rtattr_type_t, _ body: (inout LabMessage) throws -> Void) rethrows {
    try nested(Int(type.rawValue), body)
  }

  /// Appends RTA_GATEWAY, or RTA_VIA if an IPv4 route has an IPv6 gateway.
  fileprivate mutating func gateway(_ gateway: LabAddress, in family: LabFamily) {
    if gateway.family == family {
      attribute(RTA_GATEWAY, gateway.bytes)
    } else {
      attribute(RTA_VIA, LabMessage.integers(UInt16(gateway.family.rawValue)) + gateway.bytes)
    }
  }
}
#endif
