// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// Holds a tun device open, as a VPN does. The device ends with this object, unless it is persistent.
package final class TunDevice: Sendable {
  private let descriptor: LabLock<Int32?>

  init(descriptor: Int32) { self.descriptor = LabLock(descriptor) }

  deinit { close() }

  package func close() {
    if let descriptor = descriptor.withLock({ $0.take() }) { lab_close(descriptor) }
  }
}
#endif
