// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import Testing

/// Stands where the kernel does: a netlink socket of Dialtone receives what a test says.
///
/// One end of a pair of local sockets takes the place of the netlink socket's file, and has its mark. The other end's
/// name has 0, the kernel's port, where a netlink address has the port (unix(7), abstract; netlink(7), sockaddr_nl).
package final class ScriptedSocket {
  private let own: CInt
  private let place: CInt

  package init(inPlaceOf descriptor: CInt, port: UInt32 = 0) throws {
    var pair: [CInt] = [-1, -1]
    let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    // The call writes both numbers.
    try #require(unsafe socketpair(AF_UNIX, type, 0, &pair) == 0)
    (own, place) = (pair[1], descriptor)
    let name =
      Self.bytes(sa_family_t(AF_UNIX)) + [0, 0x44] + Self.bytes(port) + Self.bytes(UInt64.random(in: 0 ... .max))
    // The pointer and its count come from one array, and are used only during the call.
    let bound = unsafe name.withUnsafeBytes {
      unsafe bind(pair[1], $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    // A test may have it say much before it is read.
    var room: CInt = 1 << 20
    // The pointer is to one CInt, and is used only during the call.
    _ = unsafe setsockopt(own, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<CInt>.size))
    FileIdentity(descriptor)?.mark(pair[0])
    try #require(bound == 0 && dup2(pair[0], descriptor) == descriptor)
    _ = close(pair[0])
  }

  deinit { _ = (close(own), close(place)) }

  private static func bytes(_ number: some FixedWidthInteger & BitwiseCopyable) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> (8 * $0)) }
  }

  /// Sends one datagram.
  package func say(_ bytes: [UInt8]) {
    // The array is only read, during the call.
    let sent = unsafe send(own, bytes, bytes.count, 0)
    #expect(sent == bytes.count)
  }

  /// The next datagram that was sent to it; empty if there is none.
  package func heard() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // The call writes at most as many bytes as there are.
    let count = unsafe recv(own, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(count, 0)))
  }
}
#endif
