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

/// Whether the default path can be followed in the common modes, with arguments in the forms that there are.
package func followsTheDefaultPath() -> Bool {
  var zero = sockaddr(
    sa_len: UInt8(MemoryLayout<sockaddr>.size), sa_family: sa_family_t(AF_INET),
    sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  let allocators = [
    kCFAllocatorDefault, kCFAllocatorSystemDefault, kCFAllocatorMalloc, CFAllocatorGetDefault().takeUnretainedValue(),
  ]
  return allocators.allSatisfy { allocator in
    guard let target = SCNetworkReachabilityCreateWithAddress(allocator, &zero) else { return false }
    let mode = RunLoop.Mode.common as CFString
    return SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode)
      && SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), CFRunLoopMode.commonModes.rawValue)
  }
}
