// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the kernel knows of the way to one address. Plain values, which tests make by hand: what they leave
/// out has its usual value.
package struct KernelEvidence: Hashable, Sendable {
  /// A link, as far as it matters to the way.
  package struct LinkFacts: Hashable, Sendable {
    package var name: String
    package var index: UInt32 = 2
    package var kind = InterfaceKind.wired
    /// `veth`, `wireguard` and so on; hardware has none.
    package var infoKind: String?
    package var isUp = true
    package var isOperating = true
    /// Why it carries nothing; `nil` if it carries packets.
    package var reason: Reachability.Reason?
    package var mtu: UInt32? = 1_500
    /// In megabits a second.
    package var speed: UInt32?
    package var isFullDuplex: Bool?
    package var manager: LinkManager?
    /// The bridge that it is a port of.
    package var bridge: String?
  }

  package struct AddressFacts: Hashable, Sendable {
    package var address: IPAddress
    package var prefixLength = 24
    package var link: UInt32 = 2
    package var isTentative = false
    /// Duplicate address detection found that another host has it (RFC 4862, 5.4).
    package var isDuplicate = false
    package var isDeprecated = false
    /// How many seconds it stays valid, as its lease or the router says; `nil` for ever.
    package var validFor: UInt32?

    /// Whether an address is in the network that this one is in, by its prefix.
    package func isInNetwork(of other: IPAddress) -> Bool {
      other.family == address.family && other.bits.matches(prefix: address.bits, length: prefixLength)
    }

    /// Whether packets to other networks may come from it.
    package var isUsable: Bool { !isTentative && !isDuplicate && !address.isLinkLocal && !address.isLoopback }
  }

  /// One way of a route.
  package struct HopFacts: Hashable, Sendable {
    package var gateway: IPAddress?
    package var link: String?
    /// Why nothing leaves by it; `nil` if packets do.
    package var reason: Reachability.Reason?
  }

  /// The route that the kernel uses, or the one that refuses.
  package struct RouteFacts: Hashable, Sendable {
    package var table: UInt32 = 254
    package var type = RouteType.unicast
    package var destination: IPAddress?
    package var prefixLength = 0
    package var metric: UInt32?
    package var nexthopID: UInt32?
    package var hops: [HopFacts] = []
    /// How many seconds the kernel goes on using it; `nil` for ever.
    package var expiresIn: Int?
  }

  package struct RuleFacts: Hashable, Sendable {
    package var priority: UInt32
    /// As ip-rule(8) prints it: "from all lookup main".
    package var text: String
    /// Whether it refuses packets by itself.
    package var refuses = false
  }

  package struct NeighbourFacts: Hashable, Sendable {
    package var address: IPAddress
    package var link: String
    /// `nil` if there is no entry.
    package var state: NeighbourState?
    /// Whether it is the gateway, and not the target itself.
    package var isGateway = true
    /// Whether the link has neighbours that have to be asked for.
    package var isResolved = true
  }

  package var target: IPAddress
  /// What monitors say of the address.
  package var state: Reachability
  /// The only interface that counts.
  package var askedInterface: String?
  /// All links except loopback.
  package var links: [LinkFacts] = []
  /// The link that packets leave by, or would leave by if it worked.
  package var link: LinkFacts?
  package var isLoopbackUp = true
  /// The addresses of the target's family, except loopback.
  package var addresses: [AddressFacts] = []
  /// `nil` if the rules could not be read, or none decided.
  package var rule: RuleFacts?
  /// `nil` if there is none.
  package var route: RouteFacts?
  /// If there is none: the route of the table main that no rule leads to, or that has the kernel look no further.
  package var unusedRoute: RouteFacts?
  /// Whether rules and routes were looked through to the end and lead to the kernel's answer.
  package var isTrailComplete = true
  /// `nil` if the packets go to nobody on a link.
  package var neighbour: NeighbourFacts?

  /// Whether packets leave, also by a dormant link.
  package var sendsPackets: Bool { state.isReachable || state.reason == .dormant && route != nil }
  /// Whether the default route names no router on a link whose neighbours have to be asked for.
  package var isRouterMissing: Bool {
    guard let route, let neighbour, !neighbour.isGateway, neighbour.isResolved else { return false }
    return route.prefixLength == 0 && route.type == .unicast
  }
  /// Whether the neighbour was there a moment ago: the kernel believes so for half a minute.
  package var wasNeighbourThere: Bool { neighbour?.state?.contains(.reachable) ?? false }
  /// The links that work, one of which should have an address, if nothing tells which.
  package var candidates: [LinkFacts] {
    guard askedInterface == nil, state.interface == nil, route == nil, addresses.isEmpty else { return [] }
    let open = links.filter { $0.isOperating && $0.bridge == nil }
    let managed = open.filter { $0.manager != nil }
    return managed.isEmpty ? open : managed
  }
  /// The router that they go to.
  package var gateway: IPAddress? { state.gateway ?? (sendsPackets ? route?.hops.first?.gateway : nil) }
}

/// The program that manages a link, as its own traces tell.
package enum LinkManager: String, Sendable, CaseIterable {
  case networkManager = "NetworkManager"
  case networkd = "systemd-networkd"
  case dhcpcd = "dhcpcd"
  case ifupdown = "ifupdown"
  case wpaSupplicant = "wpa_supplicant"
}
