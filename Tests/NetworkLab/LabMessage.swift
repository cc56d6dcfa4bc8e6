// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A netlink message under construction: header, body, attributes.
struct LabMessage {
  private(set) var bytes: [UInt8] = []

  private let flags: UInt16

  /// `flags` are added to NLM_F_REQUEST and NLM_F_ACK.
  init(_ type: Int, flags: Int32 = 0) {
    self.flags = UInt16(NLM_F_REQUEST | flags)
    append(UInt32(0), UInt16(type), UInt16(0), UInt32(0), UInt32(0))
  }

  /// The finished message, with its length and sequence number.
  func finished(sequence: UInt32, acknowledged: Bool = true) -> [UInt8] {
    var result = bytes
    Self.put(UInt32(bytes.count), in: &result, at: 0)
    Self.put(flags | UInt16(acknowledged ? NLM_F_ACK : 0), in: &result, at: 6)
    Self.put(sequence, in: &result, at: 8)
    return result
  }

  /// Integers one after another, in the byte order of the machine.
  static func integers<each Number: FixedWidthInteger>(_ numbers: repeat each Number) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in repeat each numbers {
      unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }  // The bytes of a plain integer.
    }
    return bytes
  }

  mutating func append<each Number: FixedWidthInteger>(_ numbers: repeat each Number) {
    bytes += Self.integers(repeat each numbers)
  }

  mutating func attribute(_ type: Int, _ value: some Collection<UInt8>) {
    append(UInt16(4 + value.count), UInt16(type))
    bytes += value
    pad()
  }

  mutating func attribute(_ type: Int, _ value: some FixedWidthInteger) {
    attribute(type, Self.integers(value))
  }

  mutating func attribute(_ type: Int, _ text: String) { attribute(type, Array(text.utf8) + [0]) }

  /// Appends an attribute that contains what `body` appends.
  mutating func nested(_ type: Int, _ body: (inout LabMessage) throws -> Void) rethrows {
    let start = bytes.count
    append(UInt16(0), UInt16(type))
    try body(&self)
    Self.put(UInt16(bytes.count - start), in: &bytes, at: start)
    pad()
  }

  /// Appends a `struct rtnexthop` and its attributes: like an attribute, except for its header.
  mutating func hop(index: Int32, weight: UInt8, flags: UInt8, _ body: (inout LabMessage) throws -> Void) rethrows {
    let start = bytes.count
    append(UInt16(0), flags, weight - 1, index)
    try body(&self)
    Self.put(UInt16(bytes.count - start), in: &bytes, at: start)
  }

  private mutating func pad() {
    while bytes.count % 4 != 0 { bytes.append(0) }
  }

  private static func put(_ number: some FixedWidthInteger, in bytes: inout [UInt8], at offset: Int) {
    for (index, byte) in integers(number).enumerated() { bytes[offset + index] = byte }
  }
}
#endif
