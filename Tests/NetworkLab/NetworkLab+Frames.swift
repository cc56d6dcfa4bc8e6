// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Sends a frame with an EtherType and what it carries by a link, as it is: any bytes, as any neighbour can. Without
  /// a
  /// destination it goes to all.
  package func sendFrame(
    etherType: UInt16, _ payload: [UInt8], by name: String, to destination: [UInt8] = [UInt8](repeating: 255, count: 6)
  ) throws {
    let source: [UInt8] = [2, 0, 0, 0, 0, 0x77]
    let frame = destination + source + [UInt8(etherType >> 8), UInt8(etherType & 0xFF)] + payload
    let index = try index(of: name)
    _ = try run {
      // The function reads as many bytes as it is told.
      try check(unsafe lab_send_frame(index, frame, frame.count), "sending a frame by \(name)")
    }
  }

  /// The link-layer address of a link.
  package func hardwareAddress(of name: String) throws -> [UInt8] {
    let found = try ip("-o link show dev \(name)").output
    let words = found.split(separator: " ")
    guard let position = words.firstIndex(where: { $0.hasPrefix("link/") }), position + 1 < words.endIndex else {
      throw LabError("\(name) has no link-layer address: \(found)")
    }
    return words[position + 1].split(separator: ":").compactMap { UInt8($0, radix: 16) }
  }
}
#endif
