// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Reads elements of DER (ITU-T X.690), one after another. What is malformed ends it: nothing after that is read.
struct DERReader {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let objectIdentifier: UInt8 = 0x06
  static let sequence: UInt8 = 0x30

  /// The tag of a constructed element whose meaning its place decides.
  static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The contents of the next element, if it has this tag. Another one stays.
  mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? { rest.first == tag ? next()?.contents : nil }

  /// The next element; `nil` at the end.
  mutating func next() -> (tag: UInt8, contents: ArraySlice<UInt8>)? {
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let length = length(), length <= rest.count else {
      rest = []
      return nil
    }
    defer { rest = rest.dropFirst(length) }
    return (tag, rest.prefix(length))
  }

  private mutating func length() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    // Four bytes count more than any certificate has.
    let count = Int(first & 0x7F)
    guard (1...4).contains(count), count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
  }
}
