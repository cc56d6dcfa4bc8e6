// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// IPv4 or IPv6.
package enum LabFamily: UInt8, Sendable, CaseIterable {
  case v4 = 2
  case v6 = 10
}
#endif
