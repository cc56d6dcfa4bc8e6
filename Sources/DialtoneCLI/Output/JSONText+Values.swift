// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneJournal

/// The values that several kinds of lines have.
extension JSONText {
  static func line(_ body: (inout JSONText) -> Void) -> String { String(decoding: object(body), as: UTF8.self) }

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
