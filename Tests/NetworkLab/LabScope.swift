// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// The scope of a route: RT_SCOPE_… of linux/rtnetlink.h.
package enum LabScope: UInt8, Sendable {
  case universe = 0
  case site = 200
  case link = 253
  case host = 254
  case nowhere = 255
}
#endif
