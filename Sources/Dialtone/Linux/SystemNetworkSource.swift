// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// Makes the waiter of the system's environment.
package func systemWaiter(_ time: TimeSource) throws(SystemError) -> any EventWaiter { try EventPoll() }

/// Makes the source of the system's environment. Without an ``EventPoll`` it is polled.
func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
  LinuxNetwork(waiter, time: time)
}

/// Returns the name servers that `systemNameLookup` asks, by resolv.conf(5). Reads the file anew each time.
func systemNameServers() -> [IPAddress] { NameServers.configured() }
#endif
