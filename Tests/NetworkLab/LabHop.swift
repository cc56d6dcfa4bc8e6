// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// One hop of a multipath route.
package struct LabHop: Sendable {
  let gateway: String?
  let dev: String?
  let weight: UInt8
  let onLink: Bool

  /// The weight is 1 or more.
  package init(via gateway: String? = nil, dev: String? = nil, weight: UInt8 = 1, onLink: Bool = false) {
    self.gateway = gateway
    self.dev = dev
    self.weight = max(weight, 1)
    self.onLink = onLink
  }
}
#endif
