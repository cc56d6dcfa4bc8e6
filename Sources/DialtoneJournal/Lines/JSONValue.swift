// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A JSON value (RFC 8259) of a line. The journal's own numbers are whole; another one, which a later version may have,
/// is read as `null`.
enum JSONValue: Equatable {
  case text(String)
  case number(Int64)
  case flag(Bool)
  case null
  case list([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// Reads a whole line; `nil` if it is anything else, such as one that was torn.
  init?(line: ArraySlice<UInt8>) {
    var reader = JSONReader(bytes: line, position: line.startIndex)
    guard let value = reader.value(depth: 0) else { return nil }
    reader.skipSpace()
    guard reader.isAtEnd else { return nil }
    self = value
  }

  subscript(_ key: String) -> JSONValue? {
    guard case .object(let fields) = self else { return nil }
    return fields.first { $0.key == key }?.value
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
  /// Microseconds of a clock that counts nanoseconds in 64 bits: no sum of some overflows.
  var span: Int64? { number.flatMap { $0.magnitude <= Int64.max / 1_000 ? $0 : nil } }
  var list: [JSONValue]? { if case .list(let values) = self { values } else { nil } }

  static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.text(let a), .text(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.flag(let a), .flag(let b)): a == b
    case (.null, .null): true
    case (.list(let a), .list(let b)): a == b
    case (.object(let a), .object(let b)): a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    default: false
    }
  }
}

/// Reads JSON byte by byte. What it cannot read ends it.
private struct JSONReader {
  /// Deeper than any line of ours.
  private static let depthLimit = 8

  let bytes: ArraySlice<UInt8>
  var position: Int

  var isAtEnd: Bool { position == bytes.endIndex }

  private var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  mutating func skipSpace() { while let byte = next, [0x20, 0x09, 0x0D].contains(byte) { position += 1 } }

  /// Takes a byte of the structure, and the space before it.
  private mutating func takeNext(_ byte: UInt8) -> Bool {
    skipSpace()
    return take(byte)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func take(_ word: StaticString) -> Bool {
    for character in word.description.utf8 where !take(character) { return false }
    return true
  }

  mutating func value(depth: Int) -> JSONValue? {
    skipSpace()
    guard depth < Self.depthLimit, let byte = next else { return nil }
    switch byte {
    case 0x22: return string().map(JSONValue.text)
    case 0x7B: return object(depth)
    case 0x5B: return list(depth)
    case 0x74: return take("true") ? .flag(true) : nil
    case 0x66: return take("false") ? .flag(false) : nil
    case 0x6E: return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object(_ depth: Int) -> JSONValue? {
    position += 1
    var fields: [(key: String, value: JSONValue)] = []
    if takeNext(0x7D) { return .object(fields) }
    repeat {
      skipSpace()
      guard let key = string(), takeNext(0x3A), let value = value(depth: depth + 1) else { return nil }
      fields.append((key, value))
    } while takeNext(0x2C)
    return takeNext(0x7D) ? .object(fields) : nil
  }

  private mutating func list(_ depth: Int) -> JSONValue? {
    position += 1
    var values: [JSONValue] = []
    if takeNext(0x5D) { return .list(values) }
    repeat {
      guard let value = value(depth: depth + 1) else { return nil }
      values.append(value)
    } while takeNext(0x2C)
    return takeNext(0x5D) ? .list(values) : nil
  }

  private mutating func number() -> JSONValue? {
    let start = position
    while let byte = next, ASCII.isDigit(byte) || "+-.Ee".utf8.contains(byte) { position += 1 }
    let text = bytes[start..<position]
    let whole = text.prefix { $0 != 0x2E && $0 | 0x20 != 0x65 }
    guard whole.first != 0x2B, let number = Int64(String(decoding: whole, as: UTF8.self)) else { return nil }
    return whole.count == text.count ? .number(number) : .null
  }

  private mutating func string() -> String? {
    guard take(0x22) else { return nil }
    let start = position
    while let byte = next, byte != 0x22, byte != 0x5C, byte >= 0x20 { position += 1 }
    if take(0x22) { return String(validating: bytes[start..<position - 1], as: UTF8.self) }
    var text = Array(bytes[start..<position])
    while let byte = next, byte >= 0x20 {
      position += 1
      switch byte {
      case 0x22: return String(validating: text, as: UTF8.self)
      case 0x5C:
        guard let escaped = escape() else { return nil }
        text += escaped
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> [UInt8]? {
    guard let byte = next else { return nil }
    position += 1
    if let plain = Self.escapes[byte] { return [plain] }
    let digits = bytes[position...].prefix(4)
    guard byte == 0x75, digits.count == 4, digits.allSatisfy(ASCII.isHexDigit),
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
      // Surrogates stand for what we write as it is.
      let scalar = Unicode.Scalar(code)
    else { return nil }
    position += 4
    return Array(String(scalar).utf8)
  }

  /// What stands behind a backslash, and what it stands for (RFC 8259, 7).
  private static let escapes: [UInt8: UInt8] = [
    0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9,
  ]
}
