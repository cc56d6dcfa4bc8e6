// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// An address of this machine as it is typed.
enum SourceAddress {
  static func parse(_ text: String) throws -> IPAddress {
    guard let address = IPAddress(text) else {
      throw ValidationError("that is not an IP address; give one of this machine's own, see dialtone interfaces")
    }
    if address.isUnspecified || address.isMulticast {
      throw ValidationError("nothing can be sent from that address; give one of this machine's own")
    }
    if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
      throw ValidationError("that is link-local and needs its interface as a zone; write \(address)%eth0")
    }
    return address
  }
}
