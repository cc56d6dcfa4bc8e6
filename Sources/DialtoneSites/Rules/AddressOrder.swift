// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// In which order a site's addresses are tried.
enum AddressOrder {
  /// The addresses with their families taking turns (RFC 8305, 4). Within a family the order stays. The first one's
  /// family begins. With `last`, the other family begins, if it has any.
  static func interleaved<Element>(
    _ elements: some Collection<Element>, after last: IPAddress.Family? = nil,
    family: (Element) -> IPAddress.Family
  ) -> [Element] {
    guard let first = elements.first(where: { family($0) != last }) ?? elements.first else { return [] }
    let own = elements.filter { family($0) == family(first) }
    let other = elements.filter { family($0) != family(first) }
    var order: [Element] = []
    order.reserveCapacity(elements.count)
    for position in 0..<max(own.count, other.count) {
      if position < own.count { order.append(own[position]) }
      if position < other.count { order.append(other[position]) }
    }
    return order
  }

  /// The routes with their families taking turns. RFC 6724, 6, decides by the first routes which family begins. Within
  /// a family the resolver's order stays, which is that RFC's, too (gai.conf(5)).
  static func preferred(_ routes: [Route]) -> [Route] {
    func isIPv6(_ route: Route) -> Bool { route.address.unmapped.family == .ipv6 }
    guard let six = routes.first(where: isIPv6), let four = routes.first(where: { !isIPv6($0) }) else { return routes }
    return interleaved(routes, after: comesFirst(six, before: four) ? .ipv4 : .ipv6) { $0.address.unmapped.family }
  }

  /// Whether an IPv6 route comes before an IPv4 one, by the rules of RFC 6724, 6, that tell two families apart: 2, 5
  /// and 6. Rule 1 has been applied, since there is a path to both.
  private static func comesFirst(_ six: Route, before four: Route) -> Bool {
    let scopes = (matches(six, scope), matches(four, scope))
    if scopes.0 != scopes.1 { return scopes.0 }
    let labels = (matches(six) { policy($0).label }, matches(four) { policy($0).label })
    if labels.0 != labels.1 { return labels.0 }
    return policy(six.address).precedence > policy(four.address).precedence
  }

  /// Whether source and destination are alike in this. Also true if the source is not known.
  private static func matches(_ route: Route, _ property: (IPAddress) -> Int) -> Bool {
    guard let source = route.source else { return true }
    return property(source) == property(route.address)
  }

  /// RFC 6724, 3.1 and 3.2: the values of RFC 4291, 2.7.
  private static func scope(_ address: IPAddress) -> Int {
    let address = address.unmapped
    if address.isLoopback || address.isLinkLocal || address.isIPv4LinkLocal { return 0x2 }
    return siteLocal.contains(address) ? 0x5 : 0xE
  }

  // MARK: The policy table of RFC 6724, 2.1

  private static let siteLocal = AddressAdmission.Network.known("fec0::", 10)

  /// The longest prefixes first.
  private static let policies: [(network: AddressAdmission.Network, precedence: Int, label: Int)] = [
    (.known("::1", 128), 50, 0), (.known("::", 96), 1, 3),
    (.known("2001::", 32), 5, 5), (.known("2002::", 16), 30, 2),
    (.known("3ffe::", 16), 1, 12), (siteLocal, 1, 11), (.known("fc00::", 7), 3, 13),
  ]

  private static func policy(_ address: IPAddress) -> (precedence: Int, label: Int) {
    let address = address.unmapped
    // ::ffff:0:0/96, which is how the table has IPv4.
    if address.family == .ipv4 { return (35, 4) }
    return policies.first { $0.network.contains(address) }.map { ($0.precedence, $0.label) } ?? (40, 1)
  }
}
