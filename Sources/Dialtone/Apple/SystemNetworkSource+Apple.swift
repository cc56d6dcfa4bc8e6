// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CDialtoneSystem

// What the rest of the library asks of its platform. It cannot be compiled elsewhere: CONTRIBUTING.md lists what it
// relies on.

func systemWaiter(_ time: TimeSource) throws(SystemError) -> any EventWaiter { SemaphoreWaiter(time) }

func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
  AppleNetwork(waiter, time: time)
}

func systemNameServers() -> [IPAddress] { [] }
#endif
