// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// The numbers of routing tables that have names.
package enum LabTable {
  package static let `default`: UInt32 = 253
  package static let main: UInt32 = 254
  package static let local: UInt32 = 255
}
#endif
