// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// `ip nexthop add id ID [via GATEWAY] dev DEV`.
  package func addNexthop(_ id: UInt32, via gateway: String? = nil, dev: String, family: LabFamily? = nil) throws {
    try nexthop(.add, id, via: gateway, dev: dev, family: family)
  }

  /// `ip nexthop del id ID`. The kernel deletes the routes that use it, and announces this for IPv6 only.
  package func deleteNexthop(_ id: UInt32) throws { try nexthop(.delete, id) }

  /// `ip nexthop VERB id ID …`: a gateway and a device, a group of other nexthops, or a black hole.
  package func nexthop(
    _ verb: LabVerb, _ id: UInt32, via gateway: String? = nil, dev: String? = nil, group: [UInt32] = [],
    blackhole: Bool = false, onLink: Bool = false, family: LabFamily? = nil
  ) throws {
    let via = try gateway.map { text throws(LabError) in try LabAddress(text) }
    let isSingle = verb != .delete && group.isEmpty
    let family = isSingle ? (family ?? via?.family ?? .v4).rawValue : 0
    var message = LabMessage(verb == .delete ? RTM_DELNEXTHOP : RTM_NEWNEXTHOP, flags: verb.flags)
    // struct nhmsg: family, scope, protocol, reserved, flags
    let origin = UInt8(verb == .delete ? 0 : RTPROT_BOOT)
    message.append(family, UInt8(0), origin, UInt8(0), UInt32(onLink ? RTNH_F_ONLINK : 0))
    message.attribute(NHA_ID, id)
    if let dev { message.attribute(NHA_OIF, try index(of: dev)) }
    if let via { message.attribute(NHA_GATEWAY, via.bytes) }
    if blackhole { message.attribute(NHA_BLACKHOLE, []) }
    if !group.isEmpty {
      // struct nexthop_grp: id, weight less one, two unused
      message.attribute(NHA_GROUP, group.flatMap { LabMessage.integers($0, UInt8(0), UInt8(0), UInt16(0)) })
    }
    try writer.send(message, "ip nexthop \(verb) id \(id)")
  }
}
#endif
