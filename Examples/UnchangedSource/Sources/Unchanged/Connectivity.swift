// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// As it was written for Apple's platforms: not a line is about Linux.

import Foundation
import Network
import SystemConfiguration

#if !canImport(Network) || !canImport(SystemConfiguration)
#error("without the aliases of Package.swift, there is neither module")
#endif

/// Whether the default path is there, and over what.
public func describeConnectivity() -> String {
  var zero = sockaddr_in()
  zero.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
  zero.sin_family = sa_family_t(AF_INET)
  let target = withUnsafePointer(to: &zero) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) }
  }
  guard let target else { return String(cString: SCErrorString(SCError())) }
  var flags = SCNetworkReachabilityFlags()
  guard SCNetworkReachabilityGetFlags(target, &flags) else { return "unknown" }
  return flags.contains(.reachable) ? "reachable" : "not reachable"
}

/// The first path.
public func firstPath() async -> String {
  let monitor = Network.NWPathMonitor()
  for await path in monitor {
    let names = path.availableInterfaces.map(\.name).joined(separator: ", ")
    return path.status == .satisfied ? "satisfied over \(names)" : "not satisfied"
  }
  return "cancelled"
}
