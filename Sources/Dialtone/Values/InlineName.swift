// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A name of up to 15 bytes of UTF-8, held in place, so that a value with an interface's name stays plain bits.
///
/// IFNAMSIZ (linux/if.h, net/if.h) is 16, with a terminating zero.
package struct InlineName: Hashable, Sendable, BitwiseCopyable {
  /// The longest name in bytes: IFNAMSIZ less the terminating zero.
  package static let capacity = 15

  private var first: UInt64 = 0
  private var second: UInt64 = 0

  /// An empty name.
  package init() {}

  /// Holds `text`, or is `nil` if it has more than ``capacity`` bytes or a zero byte.
  package init?(_ text: some StringProtocol) {
    var position = 0
    for byte in text.utf8 {
      guard position < Self.capacity, byte != 0 else { return nil }
      let bits = UInt64(byte) << UInt64(position % 8 * 8)
      if position < 8 { first |= bits } else { second |= bits }
      position += 1
    }
  }

  /// The name of the only interface that counts. A text that is empty or too long becomes a name that no interface has:
  /// an empty name would mean any interface, and drop the restriction.
  package init(ofOnlyInterface text: String) {
    self.init()
    if let name = InlineName(text), !name.isEmpty {
      self = name
    } else {
      // No interface's name contains a slash (dev_valid_name, net/core/dev.c).
      first = UInt64(UInt8(ascii: "/"))
    }
  }

  /// Holds as many characters of `text` as fit.
  package init(truncating text: String) {
    var text = Substring(text)
    while true {
      if let name = InlineName(text) {
        self = name
        return
      }
      text.unicodeScalars.removeLast()
    }
  }

  package var isEmpty: Bool { first == 0 }

  package var text: String {
    let bytes = (0..<Self.capacity).map { UInt8(truncatingIfNeeded: ($0 < 8 ? first : second) >> UInt64($0 % 8 * 8)) }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension InlineName: Comparable {
  /// Some order, for tables.
  package static func < (a: InlineName, b: InlineName) -> Bool { (a.first, a.second) < (b.first, b.second) }
}

/// A name for an interface: its own, or one of its alternative names, which may be longer (`altname` of ip-link(8)).
/// Names are compared byte by byte, as the kernel does.
package struct LinkName: Hashable, Sendable {
  /// The longest name in bytes: ALTIFNAMSIZ (linux/if.h) less the terminating zero.
  package static let capacity = 127

  /// The name, if it is as short as an interface's own; otherwise empty.
  private let short: InlineName
  /// The bytes of any other text. A text longer than ``capacity``, or with a zero byte, is no interface's name.
  private let long: [UInt8]

  /// Takes any text. One that cannot be a name becomes a name that no interface has.
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

  package var text: String { long.isEmpty ? short.text : String(decoding: long, as: UTF8.self) }
}

extension LinkName: Comparable {
  /// Some order, for tables.
  package static func < (a: LinkName, b: LinkName) -> Bool {
    a.short == b.short ? a.long.lexicographicallyPrecedes(b.long) : a.short < b.short
  }
}
