// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Netlink
import Testing

/// Stands where the kernel does: a socket of Dialtone receives what a test says.
///
/// One end of a pair of local sockets takes the place of the netlink socket's file, and has its mark. The other end's
/// name has 0, the kernel's port, where a netlink address has the port (unix(7), abstract; netlink(7), sockaddr_nl).
final class ScriptedKernel {
  private let own: Int32
  private let place: Int32

  init(inPlaceOf descriptor: Int32, port: UInt32 = 0) throws {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    // SAFETY: the call writes both numbers.
    try #require(unsafe socketpair(AF_UNIX, type, 0, &pair) == 0)
    (own, place) = (pair[1], descriptor)
    let name =
      RawMessage.host(UInt16(AF_UNIX)) + [0, 0x44] + RawMessage.host(port)
      + RawMessage.host(UInt64.random(in: 0 ... .max))
    // SAFETY: the pointer and its count come from one array, and are used only during the call.
    let bound = unsafe name.withUnsafeBytes {
      unsafe bind(pair[1], $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    var room: Int32 = 1 << 20
    // SAFETY: the pointer is to a whole Int32, used only during the call.
    _ = unsafe setsockopt(own, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    FileIdentity(descriptor)?.mark(pair[0])
    try #require(bound == 0 && dup2(pair[0], descriptor) == descriptor)
    close(pair[0])
  }

  deinit {
    close(own)
    close(place)
  }

  /// Sends one datagram for each word. A word has the letters of its messages, divided by "+": an object (RTM_NEWLINK),
  /// a no-op, done, an error (linux/netlink.h), or X for bytes that are no message. Behind the letter: I and F for
  /// NLM_F_DUMP_INTR and NLM_F_DUMP_FILTERED, how far its number is from `first`, and behind ":" an errno, or how long
  /// an object is. D and E lack the number that they must have.
  func say(_ words: String, _ first: UInt32) {
    for word in words.split(separator: " ") {
      let bytes = word.split(separator: "+").flatMap { Self.message($0, first) }
      // SAFETY: the pointer and its count come from one array, and are used only during the call.
      let sent = unsafe bytes.withUnsafeBytes { unsafe CDialtoneSystem.send(own, $0.baseAddress, $0.count, 0) }
      #expect(sent == bytes.count)
    }
  }

  private static func message(_ word: Substring, _ first: UInt32) -> [UInt8] {
    let types: [Character: UInt16] = ["o": 16, "n": 1, "d": 3, "D": 3, "e": 2, "E": 2]
    guard let letter = word.first, let type = types[letter] else { return [1, 2, 3] }
    let flags: UInt16 = (word.contains("I") ? 0x10 : 0) | (word.contains("F") ? 0x20 : 0)
    let parts = word.drop { $0.isLetter }.split(separator: ":", omittingEmptySubsequences: false).map { Int32($0) ?? 0 }
    let (distance, number) = (parts.first ?? 0, parts.count > 1 ? parts[1] : 0)
    let bodies = ["o": RawMessage.zeros(max(16, Int(number) - 16)), "d": RawMessage.host(-number)]
    let body = letter == "e" ? RawMessage.host(-number) + RawMessage.zeros(16) : bodies["\(letter)"] ?? []
    return RawMessage.bytes(type, flags: flags, sequence: first &+ UInt32(bitPattern: distance), body)
  }

  /// The next datagram that was sent to it: its header, and how long it is.
  func heard() -> (header: NetlinkHeader?, count: Int) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // SAFETY: the call writes at most as many bytes as there are.
    let count = unsafe recv(own, &bytes, bytes.count, 0)
    return (count > 0 ? withBytes(of: bytes) { NetlinkHeader(in: $0, at: 0) } : nil, max(count, 0))
  }
}
#endif
