// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// An address of the site's, and the interface that leads there.
package struct Route: Equatable, Sendable {
  package let address: IPAddress
  /// `nil` if the system does not say.
  package let interface: NetworkInterface?
  /// The router that packets go to first; `nil` if they go straight to the address, or if the system does not say.
  var gateway: IPAddress?
  /// The address that they come from; `nil` if the system does not say.
  var source: IPAddress?
}

/// The addresses that a check may connect to: what the name leads to, and by which paths. Pure.
///
/// The search goes on while the first addresses are tried: a family that answers late joins in.
struct AddressSearch {
  private let configuration: SiteCheckConfiguration
  /// What the lookups have come to so far; `nil` if the host is an address.
  var resolution: NameResolution?
  /// How many sets of addresses have paths that are not known yet.
  private var unknownPaths = 0
  /// What can be tried, in this order.
  private(set) var routes: [Route] = []
  /// An address without a path, and why it has none.
  private(set) var missingPath: (address: IPAddress, state: Reachability)?
  /// An address that may not be connected to.
  private(set) var refused: IPAddress?

  init(_ configuration: SiteCheckConfiguration) { self.configuration = configuration }

  /// Whether another route may still be found.
  var isOpen: Bool { resolution?.isOpen ?? false || unknownPaths > 0 }

  /// Begins to look a name up. Returns the families. Each is asked for by itself: otherwise a network that drops one
  /// family's queries would hold up the other's answers, until the resolver gives up.
  mutating func beginName(requiresPublicAddress: Bool) -> [IPAddress.Family] {
    let families = configuration.family.map { [$0] } ?? [.ipv6, .ipv4]
    resolution = NameResolution(families, requiresPublicAddress: requiresPublicAddress)
    return families
  }

  /// Takes addresses. Returns those whose paths are needed, in the order in which to try them.
  mutating func beginPaths(_ addresses: [IPAddress]) -> [IPAddress] {
    unknownPaths += 1
    let last = routes.last?.address.unmapped.family
    return Array(AddressOrder.interleaved(addresses, after: last) { $0.unmapped.family }.prefix(Limits.addresses))
  }

  /// The paths to these addresses are known. Returns the new routes.
  mutating func pathsAreKnown(_ addresses: [IPAddress], _ states: [Reachability]) -> [Route] {
    unknownPaths -= 1
    let new = zip(addresses, states).compactMap { address, state -> Route? in
      if let route = route(to: address, state) {
        // Both: a translator's address stands for the other.
        if admits(address), admits(route.address) { return route }
        refused = route.address
        return nil
      }
      noteMissingPath(address, state)
      return nil
    }
    // Those that are given have their order, which gai.conf(5) may have decided.
    routes = routes.isEmpty && configuration.addresses.isEmpty ? AddressOrder.preferred(new) : routes + new
    return new
  }

  private func admits(_ address: IPAddress) -> Bool { configuration.inspection?.admission?.admits(address) ?? true }

  private func route(to address: IPAddress, _ state: Reachability) -> Route? {
    guard configuration.isUsable(state) else { return nil }
    switch state.status {
    case .unreachable: return nil
    // The kernel is not asked, or does not say: the attempt will tell.
    case .undetermined: return Route(address: address, interface: nil)
    case .reachable, .requiresConnection:
      // It is another address only if a translator stands between.
      let isTranslated = state.destination.map { $0.family != address.unmapped.family } ?? false
      return Route(
        address: isTranslated ? state.destination ?? address : address, interface: state.interface,
        gateway: state.gateway, source: state.source)
    }
  }

  /// Keeps why there is no path. Of several reasons, the first counts that says more than that there is no route.
  private mutating func noteMissingPath(_ address: IPAddress, _ state: Reachability) {
    if let known = missingPath?.state.reason, known != .noRoute || state.reason == .noRoute { return }
    missingPath = (address, state)
  }

  /// A second request goes where the first one went.
  mutating func prefer(_ winner: Route) { routes = [winner] + routes.filter { $0.address != winner.address } }
}
