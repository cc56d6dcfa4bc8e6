// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension Reachability {
  /// Returns what the kernel knows of the way to a target: link, address, rule, route, source and neighbour, in the
  /// order in which a packet meets them. The first fault is the last finding about its address.
  ///
  /// ```swift
  /// let findings = try Reachability.kernelFindings(for: .address(IPAddress("192.0.2.1")!))
  /// if let fault = findings.first(where: \.isFault) { print(fault.result) }
  /// ```
  ///
  /// The kernel is asked on the calling thread, and nothing is sent. That takes some milliseconds, and more where a
  /// refused packet's tables have many routes. So the neighbour is what the kernel knew before: it may be out of date.
  ///
  /// No name is looked up: a host has no findings. The Internet has those of an address in each family.
  /// `DialtoneDiagnosis` puts findings into words, and adds what is sent and answered.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable: an address or the Internet.
  ///   - configuration: Interface, mark, family, transport and port. Settling and NAT64 do not count.
  /// - Returns: The findings; those of IPv4 come first.
  /// - Throws: ``ReachabilityError`` with the code `denied` if netlink is refused.
  public static func kernelFindings(
    for target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init()
  ) throws(ReachabilityError) -> [KernelFinding] {
    let addresses = target.explainedAddresses(configuration)
    if addresses.isEmpty { return [] }
    var configuration = configuration
    configuration.port = target.port ?? configuration.port
    let witness = try KernelWitness()
    return addresses.flatMap { KernelFindings.findings(witness.evidence($0, configuration)) }
  }
}
#endif

extension ReachabilityTarget {
  /// The addresses that the target is; none for a name and for the local network.
  package func explainedAddresses(_ configuration: ReachabilityConfiguration) -> [IPAddress] {
    let families = configuration.family.map { [$0] } ?? [IPAddress.Family.ipv4, .ipv6]
    switch storage {
    case .internet: return families.map(IPAddress.rootServer)
    case .address(let address), .pair(_, let address):
      let address = address.unmapped
      return [address.isUnspecified ? IPAddress.rootServer(address.family) : address]
    case .localNetwork, .host: return []
    }
  }
}
