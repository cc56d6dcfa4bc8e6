// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Writes a file below `/proc/sys/net`, such as `ipv4/conf/all/ignore_routes_with_linkdown`.
  ///
  /// This happens on the lab's thread: the kernel looks the file up in the namespace of the thread that opens it.
  package func sysctl(_ path: String, _ value: some CustomStringConvertible) throws {
    let text = value.description
    _ = try run {
      // Both texts are only read, during the call.
      let result = unsafe lab_write_file("/proc/sys/net/\(path)", text, text.utf8.count)
      return try check(result, "sysctl net/\(path)=\(text)")
    }
  }

  /// Reads a file below `/proc/sys/net`, without the newline.
  package func sysctl(_ path: String) throws -> String {
    try run {
      var text = [CChar](repeating: 0, count: 4096)
      // The function writes at most that many bytes; the last stays 0.
      let count = unsafe text.withUnsafeMutableBufferPointer {
        unsafe lab_read_file("/proc/sys/net/\(path)", $0.baseAddress, $0.count - 1)
      }
      try check(count, "reading net/\(path)")
      return String(String(text).prefix { $0 != "\n" })
    }
  }

  /// Sends a netlink datagram from a socket of this process to the socket with that port id, which the kernel would
  /// never do. `bytes` begins with a `struct nlmsghdr` with any fields.
  package func sendForged(_ bytes: [UInt8], to portID: UInt32) throws { try writer.sendForged(bytes, to: portID) }
}
#endif
