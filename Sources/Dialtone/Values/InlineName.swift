// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Up to sixteen bytes of UTF-8 held in place, so that a value with an interface's name stays plain bits.
///
/// Sixteen is IFNAMSIZ (linux/if.h, net/if.h), which counts a terminating zero: a name has 15 bytes at most.
package struct InlineName: Hashable, Sendable, BitwiseCopyable {
  /// The longest name in bytes: IFNAMSIZ less the terminating zero.
  package static let capacity = 15

  private var first: UInt64 = 0
  private var second: UInt64 = 0

  /// A name without a byte.
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

  /// The name of the only interface that counts. Text that can be no interface's name, because it is empty or too long,
  /// becomes one that is none's either: to have no name would mean any interface, and drop the restriction.
  package init(ofOnlyInterface text: String) {
    self.init()
    if let name = InlineName(text), !name.isEmpty {
      self = name
    } else {
      // A slash stands in no interface's name (dev_valid_name, net/core/dev.c).
      first = UInt64(UInt8(ascii: "/"))
    }
  }

  /// Holds as many characters of `text` as there is room for.
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

  /// The name as text.
  package var text: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.capacity)
    for word in [first, second] {
      for shift in 0..<8 {
        let byte = UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))
        if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

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
