// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// A tun or tap device, held open by the result. A persistent one stays afterwards, without a reader.
  package func addTun(_ name: String, tap: Bool = false, persistent: Bool = false) throws -> TunDevice {
    // The name is only read, during the call.
    let descriptor = try run { try check(unsafe lab_open_tun(name, tap, persistent), "ip tuntap add \(name)") }
    return TunDevice(descriptor: descriptor)
  }
}
#endif
