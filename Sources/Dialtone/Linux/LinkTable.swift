// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// The links there are, by index.
///
/// Invariant: `indices` has every name of every link. If the kernel's messages give one name to two links for a moment,
/// it leads to the link that was told of last.
package struct LinkTable: Sendable {
  /// How far a link above links is looked through: deeper than anybody stacks them, and an end where the kernel's
  /// messages make a circle for a moment.
  private static let depthLimit = 8

  /// What a change of a link can touch.
  package enum Effect {
    case nothing
    /// Only targets that are not reachable.
    case idle
    case everything
  }

  private var links: [UInt32: Link] = [:]
  private var indices: [LinkName: UInt32] = [:]

  package init() {}

  package subscript(index: UInt32) -> Link? { links[index] }

  /// The links in the order of their indices.
  package var all: [Link] { links.values.sorted { $0.index < $1.index } }

  /// The link of this name, its own or an alternative one; if none has it, the link whose index the text is.
  package func link(named name: LinkName) -> Link? {
    if let index = indices[name] { return links[index] }
    return UInt32(name.text).flatMap { links[$0] }
  }

  /// The loopback interface.
  package var loopback: Link? {
    // LOOPBACK_IFINDEX (include/net/flow.h): the first of every namespace.
    if let first = links[1], first.flags.contains(.loopback) { return first }
    return links.values.first { $0.flags.contains(.loopback) }
  }

  package mutating func removeAll() { self = LinkTable() }

  package mutating func update(_ link: Link) -> Effect {
    let old = links.updateValue(link, forKey: link.index)
    if old == link { return .nothing }
    let namesDiffer = old.map { $0.name != link.name || $0.alternativeNames != link.alternativeNames } ?? true
    if namesDiffer {
      if let old { forgetNames(of: old) }
      for name in link.names { indices[name] = link.index }
    }
    // What carried packets or does now can be on the way to any target; so can what such a link is made of. And what
    // was asked for over the link by a name that it no longer has can be reachable though the link carries nothing.
    let isRenamed = old != nil && namesDiffer
    return old?.isOperating ?? false || link.isOperating || isRenamed ? .everything : .idle
  }

  package mutating func remove(_ index: UInt32) -> Effect {
    guard let old = links.removeValue(forKey: index) else { return .nothing }
    forgetNames(of: old)
    return old.isOperating ? .everything : .idle
  }

  private mutating func forgetNames(of link: Link) {
    // A name that another link has taken meanwhile is that link's.
    for name in link.names where indices[name] == link.index { indices[name] = nil }
  }

  // MARK: Looking through links

  /// Whether packets pass: the link operates, and so does something below it where it is made of others. A bridge that
  /// never had a port looks as if it operated.
  package func isOperating(_ link: Link) -> Bool { isOperating(link, depth: 0) }

  private func isOperating(_ link: Link, depth: Int) -> Bool {
    if !link.isOperating || depth == Self.depthLimit { return link.isOperating }
    if link.infoKind == "bridge" {
      return ports(of: link).contains { isOperating($0, depth: depth + 1) }
    }
    if link.isStacked, let lower = link.lower.flatMap({ links[$0] }) {
      // A VLAN or macvlan on a bridge without a live port.
      return lower.infoKind != "bridge" || isOperating(lower, depth: depth + 1)
    }
    return true
  }

  /// What the link is, looked through to the active link below: of a bridge, bond or team its live ports, of a VLAN or
  /// macvlan its lower link. Where these are of several kinds, or none can be seen: other.
  package func kind(of link: Link) -> InterfaceKind { kind(of: link, depth: 0) }

  private func kind(of link: Link, depth: Int) -> InterfaceKind {
    if depth == Self.depthLimit { return .other }
    if link.isStacked { return link.lower.flatMap { links[$0] }.map { kind(of: $0, depth: depth + 1) } ?? .other }
    guard link.isMadeOfPorts else { return link.ownKind }
    if let active = link.bondActivePort.flatMap({ links[$0] }) { return kind(of: active, depth: depth + 1) }
    let ports = ports(of: link)
    let live = ports.filter { isOperating($0, depth: depth + 1) }
    let kinds = Set((live.isEmpty ? ports : live).map { kind(of: $0, depth: depth + 1) })
    return kinds.count == 1 ? kinds.first ?? .other : .other
  }

  /// Whether it carries the packets of a master: a bridge, a bond, a team or the like. A port of a VRF carries its own.
  package func isPort(_ link: Link) -> Bool {
    guard let master = link.master else { return false }
    return links[master]?.infoKind != "vrf"
  }

  /// The links that it stands on in the end; itself, where it stands on none.
  package func hardware(of link: Link) -> [Link] { hardware(of: link, depth: 0) }

  private func hardware(of link: Link, depth: Int) -> [Link] {
    if depth == Self.depthLimit { return [] }
    let below: [Link]
    if link.isStacked {
      below = link.lower.flatMap { links[$0] }.map { [$0] } ?? []
    } else if link.isMadeOfPorts {
      below = link.bondActivePort.flatMap { links[$0] }.map { [$0] } ?? ports(of: link)
    } else {
      return [link]
    }
    return below.flatMap { hardware(of: $0, depth: depth + 1) }
  }

  private func ports(of master: Link) -> [Link] { links.values.filter { $0.master == master.index } }

  /// The interface as it is reported.
  package func interface(_ link: Link) -> NetworkInterface {
    NetworkInterface(inlineName: link.name, index: link.index, kind: kind(of: link))
  }
}

extension Link {
  /// Whether it stands on one lower link, whose packets it shares.
  fileprivate var isStacked: Bool {
    switch infoKind {
    case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec": true
    default: false
    }
  }

  /// Whether it is made of ports.
  fileprivate var isMadeOfPorts: Bool {
    switch infoKind {
    case "bridge", "bond", "team": true
    default: false
    }
  }
}
