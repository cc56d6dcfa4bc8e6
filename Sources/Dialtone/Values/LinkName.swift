// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A name that an interface is asked for by: its own, or one of its alternative names, which may be longer
/// (`altname` of ip-link(8)). Names are compared byte by byte, as the kernel does.
package struct LinkName: Hashable, Sendable {
  /// The longest name in bytes: ALTIFNAMSIZ (linux/if.h) less the terminating zero.
  package static let capacity = 127

  /// The name, if it is as short as an interface's own; else empty.
  private let short: InlineName
  /// The bytes of any other text. What is longer than ``capacity``, or has a zero byte, is no interface's name.
  private let long: [UInt8]

  /// Takes any text: one that can be no name is a name that no interface has.
  package init(_ text: some StringProtocol) {
    let short = InlineName(text)
    self.short = short ?? InlineName()
    long = short == nil ? Array(text.utf8) : []
  }

  package init(_ name: InlineName) {
    short = name
    long = []
  }

  package var isEmpty: Bool { short.isEmpty && long.isEmpty }

  /// The name as text.
  package var text: String { long.isEmpty ? short.text : String(decoding: long, as: UTF8.self) }
}
