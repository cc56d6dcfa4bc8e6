// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import TestSupport

/// Says what a kernel would, in words, in the place of a netlink socket's file.
final class ScriptedKernel {
  private let socket: ScriptedSocket

  init(inPlaceOf descriptor: Int32, port: UInt32 = 0) throws {
    socket = try ScriptedSocket(inPlaceOf: descriptor, port: port)
  }

  /// Sends one datagram for each word. A word has the letters of its messages, divided by "+": an object (RTM_NEWLINK),
  /// a no-op, done, an error (linux/netlink.h), or X for bytes that are no message. Behind the letter: I and F for
  /// NLM_F_DUMP_INTR and NLM_F_DUMP_FILTERED, how far its number is from `first`, and behind ":" an errno, or how long
  /// an object is. D and E lack the number that they must have.
  func say(_ words: String, _ first: UInt32) {
    for word in words.split(separator: " ") {
      socket.say(word.split(separator: "+").flatMap { Self.message($0, first) })
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
    let bytes = socket.heard()
    return (bytes.isEmpty ? nil : withBytes(of: bytes) { NetlinkHeader(in: $0, at: 0) }, bytes.count)
  }
}
#endif
