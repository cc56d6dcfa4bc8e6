// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension Reachability {
  /// Returns in full why packets for a target can leave, or why not: link, address, rule, route, source and neighbour,
  /// in the order in which a packet meets them.
  ///
  /// ```swift
  /// for step in try Reachability.reasons(for: .address(IPAddress("192.0.2.1")!)) { print(step) }
  /// ```
  ///
  /// The kernel is asked on the calling thread, and nothing is sent. That takes some milliseconds, and more where a
  /// refused packet's tables have many routes. So the neighbour is what the kernel knew before: it may be out of date.
  ///
  /// No name is looked up: a host has one step, `name`, which is skipped. The Internet has the steps of an address in
  /// each family. If the kernel refuses to tell something, the step that would need it is skipped, and says so.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable: an address or the Internet.
  ///   - configuration: Interface, mark, family, transport and port. Settling and NAT64 do not count.
  /// - Returns: The steps; those of IPv4 come first.
  /// - Throws: ``ReachabilityError`` with the code `denied` if netlink is refused.
  public static func reasons(
    for target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init()
  ) throws(ReachabilityError) -> [DiagnosisStep] {
    let addresses = target.explainedAddresses(configuration)
    if addresses.isEmpty {
      return [DiagnosisStep(.name, .skipped, "\(target) is no address, and no name is looked up")]
    }
    var configuration = configuration
    configuration.port = target.port ?? configuration.port
    let witness = try KernelWitness()
    return addresses.flatMap { address in
      let evidence = witness.evidence(address, configuration)
      let neighbour = NeighbourStep.step(
        evidence.neighbour, NeighbourStep.Probe(), family: address.family, link: evidence.link)
      return KernelSteps.steps(evidence) + [neighbour]
    }
  }
}
#endif

extension ReachabilityTarget {
  /// The addresses that the target is; none for a name and for the local network.
  package func explainedAddresses(_ configuration: ReachabilityConfiguration) -> [IPAddress] {
    let families = configuration.family.map { [$0] } ?? [IPAddress.Family.ipv4, .ipv6]
    switch storage {
    case .internet: return families.map(TargetRecord.rootServer)
    case .address(let address), .pair(_, let address):
      let address = address.unmapped
      return [address.isUnspecified ? TargetRecord.rootServer(address.family) : address]
    case .localNetwork, .host: return []
    }
  }
}
