// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// The type of a route: RTN_… of linux/rtnetlink.h.
package enum LabRouteKind: UInt8, Sendable, CaseIterable {
  case unicast = 1
  case local = 2
  case broadcast = 3
  case blackhole = 6
  case unreachable = 7
  case prohibit = 8
  case `throw` = 9
}
#endif
