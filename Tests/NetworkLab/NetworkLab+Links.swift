// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// `ip link add NAME type veth peer name PEER [netns OF_LAB]`.
  package func addVeth(_ name: String, _ peer: String, peerIn lab: NetworkLab? = nil) throws {
    let namespace = try lab?.openNamespace()
    defer { if let namespace { lab_close(namespace) } }
    try writer.send(Self.veth(name, peer, namespace: namespace), "ip link add \(name) type veth peer \(peer)")
  }

  /// Adds `count` pairs `PREFIX0`/`PREFIX0p`, `PREFIX1`/`PREFIX1p`, … with few system calls.
  package func addVeths(_ prefix: String, count: Int) throws {
    let messages = (0..<count).map { number in
      Self.veth("\(prefix)\(number)", "\(prefix)\(number)p", namespace: nil, group: Self.manyVeths)
    }
    try writer.send(messages, "adding \(count) veth pairs")
  }

  /// Deletes all pairs of ``addVeths(_:count:)`` at once. Deleted one by one, each would wait some 16 ms for the
  /// kernel.
  package func deleteVeths() throws {
    var message = Self.link(RTM_DELLINK)
    message.attribute(IFLA_GROUP, Self.manyVeths)
    try writer.send(message, "ip link del group \(Self.manyVeths)")
  }

  private static let manyVeths: UInt32 = 77

  package func addBridge(_ name: String) throws { try addLink(name, kind: "bridge") }

  /// Makes a macvlan in bridge mode, so that several on one parent reach each other.
  package func addMacvlan(_ name: String, on parent: String) throws { try addLink(name, kind: "macvlan", on: parent) }

  package func addIfb(_ name: String) throws { try addLink(name, kind: "ifb") }

  /// `ip link add NAME [link PARENT] type KIND`, for kinds that need no more.
  package func addLink(_ name: String, kind: String, on parent: String? = nil) throws {
    var message = Self.link(RTM_NEWLINK, flags: LabVerb.add.flags)
    message.attribute(IFLA_IFNAME, name)
    if let parent { message.attribute(IFLA_LINK, try index(of: parent)) }
    message.nested(IFLA_LINKINFO) { message in
      message.attribute(IFLA_INFO_KIND, kind)
      guard kind == "macvlan" else { return }
      message.nested(IFLA_INFO_DATA) { $0.attribute(IFLA_MACVLAN_MODE, UInt32(4)) }  // MACVLAN_MODE_BRIDGE
    }
    try writer.send(message, "ip link add \(name) type \(kind)")
  }

  package func deleteLink(_ name: String) throws {
    try writer.send(Self.link(RTM_DELLINK, index: try index(of: name)), "ip link del \(name)")
  }

  /// `ip link set NAME up`, for each.
  package func up(_ names: String...) throws {
    for name in names { try setFlag(name, up: true) }
  }

  /// Returns once the kernel counts the interface as running: it looks at a new carrier a moment after `up(_:)`.
  package func waitUntilRunning(_ name: String) throws {
    // The name is only read, during the call.
    _ = try run { try check(unsafe lab_wait_until_running(name), "waiting for the carrier of \(name)") }
  }

  package func down(_ names: String...) throws {
    for name in names { try setFlag(name, up: false) }
  }

  package func rename(_ name: String, to new: String) throws {
    try set(name, "name \(new)") { $0.attribute(IFLA_IFNAME, new) }
  }

  /// Makes the link a port of a bridge or the like; `nil` ends that.
  package func setMaster(_ name: String, _ master: String?) throws {
    let index = try master.map { try self.index(of: $0) } ?? 0
    try set(name, master.map { "master \($0)" } ?? "nomaster") { $0.attribute(IFLA_MASTER, index) }
  }

  /// `ip link set NAME mode dormant state dormant`, or both back to normal. On a link that is up, the mode alone
  /// changes nothing.
  package func setDormant(_ name: String, _ dormant: Bool = true) throws {
    try setLinkMode(name, dormant ? 1 : 0)  // IF_LINK_MODE_DORMANT, IF_LINK_MODE_DEFAULT (linux/if.h)
    try setOperationalState(name, dormant ? 5 : 6)  // IF_OPER_DORMANT, IF_OPER_UP
  }

  /// IFLA_LINKMODE: 0 default, 1 dormant.
  package func setLinkMode(_ name: String, _ mode: UInt8) throws {
    try set(name, "mode \(mode)") { $0.attribute(IFLA_LINKMODE, mode) }
  }

  /// IFLA_OPERSTATE, a value of RFC 2863: 5 dormant, 6 up.
  package func setOperationalState(_ name: String, _ state: UInt8) throws {
    try set(name, "state \(state)") { $0.attribute(IFLA_OPERSTATE, state) }
  }

  package func setMTU(_ name: String, _ mtu: UInt32) throws {
    try set(name, "mtu \(mtu)") { $0.attribute(IFLA_MTU, mtu) }
  }

  /// For example `02:00:00:00:00:01`.
  package func setHardwareAddress(_ name: String, _ text: String) throws {
    let bytes = text.split(separator: ":").compactMap { UInt8($0, radix: 16) }
    try set(name, "address \(text)") { $0.attribute(IFLA_ADDRESS, bytes) }
  }

  /// Moves the interface into the namespace of another lab.
  package func move(_ name: String, to lab: NetworkLab) throws {
    let namespace = try lab.openNamespace()
    defer { lab_close(namespace) }
    try set(name, "netns …") { $0.attribute(IFLA_NET_NS_FD, namespace) }
  }

  /// The kernel's number of the interface.
  package func index(of name: String) throws -> Int32 { try writer.index(of: name) }

  private func setFlag(_ name: String, up: Bool) throws {
    let flag = UInt32(1)  // IFF_UP, netdevice(7)
    let message = Self.link(RTM_NEWLINK, index: try index(of: name), set: up ? flag : 0, of: flag)
    try writer.send(message, "ip link set \(name) \(up ? "up" : "down")")
  }

  private func set(_ name: String, _ what: String, _ body: (inout LabMessage) -> Void) throws {
    var message = Self.link(RTM_NEWLINK, index: try index(of: name))
    body(&message)
    try writer.send(message, "ip link set \(name) \(what)")
  }

  /// Makes a message with a `struct ifinfomsg`.
  private static func link(
    _ type: Int, flags: Int32 = 0, index: Int32 = 0, set: UInt32 = 0, of change: UInt32 = 0
  ) -> LabMessage {
    var message = LabMessage(type, flags: flags)
    message.append(UInt8(0), UInt8(0), UInt16(0), index, set, change)
    return message
  }

  private static func veth(_ name: String, _ peer: String, namespace: Int32?, group: UInt32 = 0) -> LabMessage {
    var message = link(RTM_NEWLINK, flags: LabVerb.add.flags)
    message.attribute(IFLA_IFNAME, name)
    message.attribute(IFLA_GROUP, group)
    message.nested(IFLA_LINKINFO) { message in
      message.attribute(IFLA_INFO_KIND, "veth")
      message.nested(IFLA_INFO_DATA) { message in
        message.nested(VETH_INFO_PEER) { message in
          message.append(UInt8(0), UInt8(0), UInt16(0), Int32(0), UInt32(0), UInt32(0))
          message.attribute(IFLA_IFNAME, peer)
          if let namespace { message.attribute(IFLA_NET_NS_FD, namespace) }
        }
      }
    }
    return message
  }
}
#endif
