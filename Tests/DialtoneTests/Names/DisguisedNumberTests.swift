// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import TestSupport
import Testing

@testable import Dialtone

/// Names that getaddrinfo(3) would take for an address: `10.1` for 10.0.0.1.
@Suite(.timeLimit(.minutes(5)))
struct DisguisedNumberTests {
  /// Puts each character in each place in which it could be part of a number.
  @Test func aDisguisedNumberIsNoHost() {
    for scalar in characters {
      for text in ["1\(scalar)", "\(scalar)1", "10\(scalar)1", "0\(scalar)1", "0x\(scalar)", "\(scalar)\(scalar)1"] {
        guard let name = asLookedUp(text) else { continue }
        #expect(!isTakenForAnAddress(name), "\(text), \(scalar.codePoint)")
      }
    }
  }

  /// The resolver gets letters, digits, hyphens, underscores and dots only, whatever a host is called.
  @Test func onlyASCIIIsLookedUp() {
    for scalar in characters {
      guard let name = asLookedUp("a\(scalar)b.example") else { continue }
      let isPlain = name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
      }
      #expect(isPlain, "\(scalar.codePoint): \(name)")
    }
  }
}

/// Every character beyond ASCII that has a meaning. Ideographs and syllables of Hangul are alike in their ten
/// thousands: one of a hundred is among them. So are letters without case and pictures, of which one of seven is.
private let characters: [Unicode.Scalar] = (UInt32(0x80)...0xE01EF).compactMap { value in
  guard let scalar = Unicode.Scalar(value) else { return nil }
  switch scalar.properties.generalCategory {
  case .unassigned, .privateUse: return nil
  case .otherLetter where scalar.properties.isIdeographic || (0xAC00...0xD7A3).contains(value):
    return value % 101 == 0 ? scalar : nil
  case .otherLetter, .otherSymbol: return value % 7 == 0 ? scalar : nil
  default: return scalar
  }
}

/// Returns the name that a target looks up; `nil` if the text is refused. Without the rest of a target, since its
/// errors would take most of the time.
private func asLookedUp(_ text: String) -> String? { (try? HostName(text))?.ascii }

/// Returns whether the system's resolver takes the text for an address. No server is asked.
private func isTakenForAnAddress(_ text: String) -> Bool {
  var hints = unsafe addrinfo()
  unsafe hints.ai_flags = AI_NUMERICHOST
  unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  guard unsafe getaddrinfo(text, nil, &hints, &list) == 0 else { return false }
  unsafe freeaddrinfo(list)
  return true
}
