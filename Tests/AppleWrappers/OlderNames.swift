// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// As older programs for Apple's platforms do it.

#if canImport(SystemConfiguration)
import SystemConfiguration
#elseif canImport(DialtoneSystemConfiguration)
import DialtoneSystemConfiguration
#endif

/// Whether there is a local network: the address that stands for it is made as in C.
package func localNetworkFlags() throws -> SCNetworkConnectionFlags {
  var address = sockaddr_in()
  address.sin_len = UInt8(MemoryLayout.size(ofValue: address))
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = IN_LINKLOCALNETNUM.bigEndian
  let target = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) }
  }
  var flags = SCNetworkConnectionFlags()
  guard let target = target, SCNetworkReachabilityGetFlags(target, &flags) else { throw SCCopyLastError() }
  return flags
}

/// What is thrown for a name that cannot be.
package func emptyNameError() -> Error? {
  SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "") == nil ? SCCopyLastError() : nil
}

package var typeID: CFTypeID { SCNetworkReachabilityGetTypeID() }
