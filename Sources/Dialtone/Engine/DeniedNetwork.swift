// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The network of a system for which nobody has written a source yet: all that is asked about it is denied. What needs
/// no system works there: targets, flags, states, a scripted network.
package final class DeniedNetwork: NetworkSource {
  package init() {}

  package func drain(into change: inout NetworkChange) {}

  package func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    for position in queries.indices { receive(position, .denied) }
  }

  package func path(_ configuration: PathConfiguration) -> PathAnswer { PathAnswer(.denied(for: .denied)) }
}

#if !os(Linux) && !canImport(Darwin)
func systemWaiter(_ time: TimeSource) throws(SystemError) -> any EventWaiter { SemaphoreWaiter(time) }

func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource { DeniedNetwork() }

func systemNameServers() -> [IPAddress] { [] }
#endif
