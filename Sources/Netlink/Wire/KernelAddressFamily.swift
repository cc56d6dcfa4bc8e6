// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An address family as the Linux kernel numbers it (`AF_…`, bits/socket.h). Other systems number IPv6 differently, so
/// the parser, which every platform builds, has its own.
package struct KernelAddressFamily: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  @inline(__always)
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let unspecified = Self(rawValue: 0)
  package static let ipv4 = Self(rawValue: 2)
  package static let bridge = Self(rawValue: 7)
  package static let ipv6 = Self(rawValue: 10)
}
