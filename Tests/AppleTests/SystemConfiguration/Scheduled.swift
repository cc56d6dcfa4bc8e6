// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSystemConfiguration
import NetworkLab
import TestSupport
import Testing

/// A target with a callback that keeps a log, scheduled on a queue.
final class Scheduled {
  let target: SCNetworkReachability
  let log: Log<SCNetworkReachabilityFlags>

  init(_ target: SCNetworkReachability?, on queue: DispatchQueue? = nil) throws {
    let target = try #require(target)
    let log = Log<SCNetworkReachabilityFlags>()
    self.target = target
    self.log = log
    #expect(SCNetworkReachabilitySetCallback(target, { _, flags, _ in log.append(flags) }, nil))
    if let queue { #expect(SCNetworkReachabilitySetDispatchQueue(target, queue)) }
  }

  deinit { SCNetworkReachabilitySetDispatchQueue(target, nil) }

  var flags: SCNetworkReachabilityFlags? {
    var flags = SCNetworkReachabilityFlags(rawValue: .max)
    return SCNetworkReachabilityGetFlags(target, &flags) ? flags : nil
  }
}

/// A target for an address, as C code makes it.
func addressTarget(_ text: String) throws -> SCNetworkReachability? {
  if text.contains(":") {
    var address = sockaddr_in6()
    address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
    address.sin6_family = sa_family_t(AF_INET6)
    try #require(inet_pton(AF_INET6, text, &address.sin6_addr) == 1)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, $0)
      }
    }
  }
  var address = try socketAddress(text)
  return SCNetworkReachabilityCreateWithAddress(nil, &address)
}

extension AppleLab {
  /// A target in this network: for an address if the text is one, otherwise for a name.
  func makeTarget(_ text: String) throws -> SCNetworkReachability {
    let made = try within {
      Dialtone.IPAddress(text) == nil ? SCNetworkReachabilityCreateWithName(nil, text) : try addressTarget(text)
    }
    return try #require(made)
  }
}

/// An IPv4 address, as C code makes it.
func socketAddress(_ text: String) throws -> sockaddr {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  try #require(inet_pton(AF_INET, text, &address.sin_addr) == 1)
  // Both structures have 16 bytes.
  return unsafeBitCast(address, to: sockaddr.self)
}
#endif
