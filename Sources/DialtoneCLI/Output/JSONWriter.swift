// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Writes one JSON value (RFC 8259) on one line, its keys in the order they are given.
struct JSONWriter {
  private(set) var text = ""
  private var needsComma = false

  /// The text of one object.
  static func object(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.object(body)
    return writer.text
  }

  mutating func object(_ body: (inout JSONWriter) -> Void) { enclosed("{", body, "}") }

  mutating func array(_ body: (inout JSONWriter) -> Void) { enclosed("[", body, "]") }

  /// A key; its value follows.
  mutating func key(_ name: String) {
    string(name)
    text += ":"
    needsComma = false
  }

  mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  mutating func field(_ name: String, _ value: Bool) {
    key(name)
    element(value ? "true" : "false")
  }

  mutating func field(_ name: String, _ value: UInt32?) {
    key(name)
    if let value { number(String(value)) } else { null() }
  }

  mutating func field(_ name: String, _ values: [String]) {
    key(name)
    array { writer in for value in values { writer.string(value) } }
  }

  /// A number, as RFC 8259 writes it.
  mutating func number(_ text: String) { element(text) }

  mutating func null() { element("null") }

  mutating func string(_ value: String) {
    var quoted = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      // C0 must be escaped; DEL and C1 are, because a line may end up on a terminal.
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    element(quoted + "\"")
  }

  private mutating func enclosed(_ open: String, _ body: (inout JSONWriter) -> Void, _ close: String) {
    if needsComma { text += "," }
    text += open
    needsComma = false
    body(&self)
    text += close
    needsComma = true
  }

  private mutating func element(_ value: String) {
    if needsComma { text += "," }
    text += value
    needsComma = true
  }
}

/// The values that several kinds of lines have.
extension JSONWriter {
  mutating func field(_ name: String, _ interface: NetworkInterface?) {
    key(name)
    guard let interface else { return null() }
    object { writer in
      writer.field("name", interface.name)
      writer.field("index", interface.index)
      writer.field("kind", interface.kind.identifier)
    }
  }

  /// A span in milliseconds, to the microsecond: `1.25`.
  mutating func field(_ name: String, milliseconds duration: Duration?) {
    key(name)
    guard let duration else { return null() }
    let microseconds = duration.nanosecondsClamped / 1_000
    var fraction = String(microseconds % 1_000)
    fraction = String(repeating: "0", count: 3 - fraction.count) + fraction
    while fraction.last == "0" { fraction.removeLast() }
    number("\(microseconds / 1_000)\(fraction.isEmpty ? "" : ".\(fraction)")")
  }
}
