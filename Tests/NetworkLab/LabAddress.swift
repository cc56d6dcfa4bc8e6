// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// An address, with a prefix length: what `ip` accepts as `10.0.0.1/24`, `2001:db8::1` or `default`.
struct LabAddress {
  /// 4 or 16.
  let bytes: [UInt8]
  let prefix: UInt8

  var family: LabFamily { bytes.count == 4 ? .v4 : .v6 }

  init(_ text: String) throws(LabError) {
    let parts = text.split(separator: "/", maxSplits: 1)
    let address = String(parts.first ?? "")
    var storage = [UInt8](repeating: 0, count: 16)
    // inet_pton writes 4 or 16 bytes, by family.
    if unsafe inet_pton(AF_INET, address, &storage) == 1 {
      bytes = Array(storage.prefix(4))
    } else if unsafe inet_pton(AF_INET6, address, &storage) == 1 {
      bytes = storage
    } else {
      throw LabError("not an address: \(text)")
    }
    guard parts.count == 2 else {
      prefix = UInt8(bytes.count * 8)
      return
    }
    guard let length = UInt8(parts[1]), Int(length) <= bytes.count * 8 else { throw LabError("not a prefix: \(text)") }
    prefix = length
  }
}
#endif
