// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// The flags of an address that a program may set (linux/if_addr.h).
package struct LabAddressFlags: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Usable at once, without duplicate address detection.
  package static let noDAD = LabAddressFlags(rawValue: UInt32(IFA_F_NODAD))
  /// The kernel makes temporary addresses from it if `use_tempaddr` is on.
  package static let managesTemporary = LabAddressFlags(rawValue: UInt32(IFA_F_MANAGETEMPADDR))
  /// Without the route to its prefix.
  package static let noPrefixRoute = LabAddressFlags(rawValue: UInt32(IFA_F_NOPREFIXROUTE))
}
#endif
