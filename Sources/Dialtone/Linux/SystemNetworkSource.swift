// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What the system's environment asks.
package func systemNetworkSource() -> any NetworkSource { LinuxNetwork() }

/// The name servers that `systemNameLookup` asks, by resolv.conf(5); read anew each time.
package func systemNameServers() -> [IPAddress] { NameServers.configured() }

/// The interfaces there are, in the order of their indices; read anew each time.
///
/// - Throws: ``ReachabilityError`` where the system refuses to say.
package func currentInterfaces() throws(ReachabilityError) -> [InterfaceStatus] {
  let network = LinuxNetwork()
  if network.isDenied {
    throw ReachabilityError(.denied, "the system denies access to the network's state: netlink is refused")
  }
  return network.interfaces()
}
#endif
