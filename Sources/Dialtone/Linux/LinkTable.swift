// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The links there are, by index.
///
/// Invariants: `all` is in the order of the indices, each once. `names` has every name of every link, in order of the
/// names. If the kernel's messages give one name to two links for a moment, it leads to the link announced last.
struct LinkTable: Sendable {
  /// How many links below one another are looked through. Nobody stacks them deeper, and the kernel's messages may make
  /// a circle for a moment.
  private static let depthLimit = 8

  /// What a change of a link can touch.
  enum Effect {
    case nothing
    /// Only targets that are not reachable.
    case idle
    case everything
  }

  private struct Name {
    let name: LinkName
    var index: UInt32
  }

  /// The links in the order of their indices. An array, since nearly every event looks up one or two of a few links: a
  /// search halves it less often than a hash takes to be computed.
  private(set) var all: [Link] = []
  private var names: [Name] = []

  subscript(index: UInt32) -> Link? {
    let (position, isTaken) = all.place(of: index) { $0.index }
    return isTaken ? all[position] : nil
  }

  /// Returns the link of this name, its own or an alternative one. If none has it, the text may be the index of a link.
  func link(named name: LinkName) -> Link? {
    let (position, isTaken) = names.place(of: name) { $0.name }
    return isTaken ? self[names[position].index] : UInt32(name.text).flatMap { self[$0] }
  }

  var loopback: Link? {
    // The first link of every namespace: LOOPBACK_IFINDEX (include/net/flow.h).
    if let first = self[1], first.flags.contains(.loopback) { return first }
    return all.first { $0.flags.contains(.loopback) }
  }

  mutating func update(_ link: Link) -> Effect {
    let (position, isTaken) = all.place(of: link.index) { $0.index }
    let old = isTaken ? all[position] : nil
    if old == link { return .nothing }
    if isTaken {
      all[position] = link
    } else if position == all.count {
      // The usual place. `insert` would have the runtime make a type, which a program's first state would wait for.
      all.append(link)
    } else {
      all.insert(link, at: position)
    }
    let namesDiffer = old.map { $0.name != link.name || $0.alternativeNames != link.alternativeNames } ?? true
    if namesDiffer {
      if let old { forgetNames(of: old) }
      note(LinkName(link.name), link.index)
      for name in link.alternativeNames { note(name, link.index) }
    }
    // A link that carried packets, or does now, can be on the way to any target, and so can its parts. A target that
    // names the link as its interface can be reachable although the link carries nothing: another name touches it, too.
    // So does another group: a rule may have passed over the link's route, and the next table's was used. Over a link
    // that is only up, this machine's own addresses are reachable.
    let matters = old.map { namesDiffer || $0.group != link.group || $0.isOperating || $0.isUp && !link.isUp } ?? false
    return matters || link.isOperating ? .everything : .idle
  }

  mutating func remove(_ index: UInt32) -> Effect {
    let (position, isTaken) = all.place(of: index) { $0.index }
    if !isTaken { return .nothing }
    let old = all.remove(at: position)
    forgetNames(of: old)
    return old.isOperating || old.isUp ? .everything : .idle
  }

  private mutating func note(_ name: LinkName, _ index: UInt32) {
    let (position, isTaken) = names.place(of: name) { $0.name }
    if isTaken { names[position].index = index } else { names.insert(Name(name: name, index: index), at: position) }
  }

  private mutating func forgetNames(of link: Link) {
    // Another link may have taken a name meanwhile, and keeps it.
    for name in link.names {
      let (position, isTaken) = names.place(of: name) { $0.name }
      if isTaken, names[position].index == link.index { names.remove(at: position) }
    }
  }

  // MARK: Looking through links: `depth` is how many lie above

  /// Returns whether packets pass: the link operates, and, if it is made of others, so does one of them. A bridge that
  /// never had a port looks as if it operated.
  func isOperating(_ link: Link, depth: Int = 0) -> Bool {
    if !link.isOperating || depth == Self.depthLimit { return link.isOperating }
    if link.structure == .bridge {
      return ports(of: link).contains { isOperating($0, depth: depth + 1) }
    }
    if link.structure == .stacked, let lower = link.lower.flatMap({ self[$0] }) {
      // A VLAN on a bridge without a live port.
      return lower.structure != .bridge || isOperating(lower, depth: depth + 1)
    }
    return true
  }

  /// Returns the kind of the link, or of the active links below: the live ports of a bridge, bond or team, the lower
  /// link of a VLAN or macvlan. If they are of several kinds, or there is none to be seen, the kind is `other`.
  func kind(of link: Link, depth: Int = 0) -> InterfaceKind {
    if depth == Self.depthLimit { return .other }
    if link.isStacked { return link.lower.flatMap { self[$0] }.map { kind(of: $0, depth: depth + 1) } ?? .other }
    guard link.isMadeOfPorts else { return link.ownKind }
    if let active = link.bondActivePort.flatMap({ self[$0] }) { return kind(of: active, depth: depth + 1) }
    let ports = ports(of: link)
    let live = ports.filter { isOperating($0, depth: depth + 1) }
    let kinds = Set((live.isEmpty ? ports : live).map { kind(of: $0, depth: depth + 1) })
    return kinds.count == 1 ? kinds.first ?? .other : .other
  }

  /// Returns whether it carries the packets of a master, such as a bridge, bond or team. A port of a VRF carries its
  /// own.
  func isPort(_ link: Link) -> Bool {
    guard let master = link.master else { return false }
    return self[master]?.infoKind != "vrf"
  }

  /// Returns the lowest links below it, or the link itself if there is none below.
  func hardware(of link: Link, depth: Int = 0) -> [Link] {
    if depth == Self.depthLimit { return [] }
    let below: [Link]
    if link.isStacked {
      below = link.lower.flatMap { self[$0] }.map { [$0] } ?? []
    } else if link.isMadeOfPorts {
      below = link.bondActivePort.flatMap { self[$0] }.map { [$0] } ?? ports(of: link)
    } else {
      return [link]
    }
    return below.flatMap { hardware(of: $0, depth: depth + 1) }
  }

  private func ports(of master: Link) -> [Link] { all.filter { $0.master == master.index } }

  func interface(_ link: Link) -> NetworkInterface {
    NetworkInterface(inlineName: link.name, index: link.index, kind: kind(of: link))
  }
}
