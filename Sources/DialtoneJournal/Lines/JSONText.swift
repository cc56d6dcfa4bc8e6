// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Writes one JSON value (RFC 8259) as bytes on one line, its keys in the order in which they are given.
package struct JSONText {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package static func object(_ body: (inout JSONText) -> Void) -> [UInt8] {
    var text = JSONText()
    text.object(body)
    return text.bytes
  }

  package mutating func object(_ body: (inout JSONText) -> Void) { enclosed(0x7B, body, 0x7D) }

  package mutating func array(_ body: (inout JSONText) -> Void) { enclosed(0x5B, body, 0x5D) }

  package mutating func key(_ name: String) {
    string(name)
    bytes.append(0x3A)
    needsComma = false
  }

  package mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  package mutating func field(_ name: String, _ value: (some FixedWidthInteger)?) {
    key(name)
    if let value { number(String(value)) } else { null() }
  }

  package mutating func field(_ name: String, _ value: Bool) {
    key(name)
    element((value ? "true" : "false").utf8)
  }

  /// Microseconds as seconds, all six digits.
  package mutating func field(_ name: String, seconds microseconds: Int64?) {
    key(name)
    if let microseconds { number(Self.seconds(microseconds)) } else { null() }
  }

  /// What is not there takes no bytes.
  package mutating func fieldIfAny(_ name: String, _ value: String?) { if value != nil { field(name, value) } }

  package mutating func field(_ name: String, _ values: [String]) {
    key(name)
    array { text in for value in values { text.string(value) } }
  }

  package mutating func number(_ value: String) { element(value.utf8) }

  package mutating func null() { element("null".utf8) }

  package static func seconds(_ microseconds: Int64) -> String {
    let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    return "\(microseconds < 0 ? "-" : "")\(whole).\(UTCTimestamp.padded(part, 6))"
  }

  package mutating func string(_ value: String) {
    if needsComma { bytes.append(0x2C) }
    bytes.append(0x22)
    for scalar in value.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: bytes += [0x5C, UInt8(scalar.value)]
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      // C0 must be escaped; DEL and C1 are, because a line may end up on a terminal.
      case ..<0x20, 0x7F...0x9F:
        bytes += "\\u00\(scalar.value < 0x10 ? "0" : "")\(String(scalar.value, radix: 16))".utf8
      default: bytes += String(scalar).utf8
      }
    }
    bytes.append(0x22)
    needsComma = true
  }

  private mutating func enclosed(_ open: UInt8, _ body: (inout JSONText) -> Void, _ close: UInt8) {
    if needsComma { bytes.append(0x2C) }
    bytes.append(open)
    needsComma = false
    body(&self)
    bytes.append(close)
    needsComma = true
  }

  private mutating func element(_ value: some Collection<UInt8>) {
    if needsComma { bytes.append(0x2C) }
    bytes += value
    needsComma = true
  }
}
