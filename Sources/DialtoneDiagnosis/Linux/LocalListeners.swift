// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone

/// At which addresses of this machine something listens on a TCP port (proc_net_tcp.rst). Reads two files.
enum LocalListeners {
  /// TCP_LISTEN (net/tcp_states.h).
  private static let listening = "0A"

  struct Listener: Equatable {
    /// Unspecified where it listens at all of a family.
    let address: IPAddress
    /// Whether connections wait until it takes them.
    let isBehind: Bool
  }

  /// Returns `nil` if the kernel does not tell.
  static func listeners(port: UInt16) -> [Listener]? {
    guard let ofIPv4 = table("tcp") else { return nil }
    // A kernel without IPv6 has no table of it.
    return listeners(in: ofIPv4, port: port) + listeners(in: table("tcp6") ?? "", port: port)
  }

  private static func table(_ name: String) -> String? {
    SystemFile.text(at: "/proc/thread-self/net/\(name)", limit: 1 << 24)
  }

  /// A line has the number of the entry, the own address and port, the peer's, the state, and two queues: the second is
  /// of connections that wait to be taken. Addresses are words of 32 bits in network order, printed as this machine's
  /// numbers.
  static func listeners(in table: String, port: UInt16) -> [Listener] {
    table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ").prefix(5)
      guard fields.count == 5, fields[3] == listening else { return nil }
      let own = fields[1].split(separator: ":")
      guard own.count == 2, UInt16(own[1], radix: 16) == port else { return nil }
      var bytes: [UInt8] = []
      var digits = own[0]
      while let word = UInt32(digits.prefix(8), radix: 16), digits.count >= 8 {
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: word.bigEndian >> (24 - 8 * $0)) }
        digits = digits.dropFirst(8)
      }
      var reader = NetworkByteReader(bytes[...])
      return reader.address(isIPv6: bytes.count == 16).map {
        Listener(address: IPAddress($0), isBehind: !fields[4].hasSuffix(":00000000"))
      }
    }
  }
}
#endif
