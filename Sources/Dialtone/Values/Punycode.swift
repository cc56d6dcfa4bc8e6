// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Punycode (RFC 3492): writes letters outside ASCII with letters, digits and hyphens.
enum Punycode {
  // The parameters (RFC 3492, 5).
  private static let base = 36
  private static let minimumThreshold = 1
  private static let maximumThreshold = 26
  private static let skew = 38
  private static let damp = 700
  private static let initialBias = 72
  private static let firstNonBasic: UInt32 = 0x80

  /// Encodes a label, without the prefix `xn--` (RFC 3492, 6.3). A label is short: nothing here overflows.
  static func encode(_ label: String) -> String {
    let scalars = label.unicodeScalars.map(\.value)
    let basic = scalars.filter { $0 < firstNonBasic }
    var output = basic.map { UInt8(truncatingIfNeeded: $0) }
    if !output.isEmpty { output.append(UInt8(ascii: "-")) }
    var next = firstNonBasic
    var delta = 0
    var bias = initialBias
    var handled = basic.count
    while handled < scalars.count, let smallest = scalars.lazy.filter({ $0 >= next }).min() {
      delta += Int(smallest - next) * (handled + 1)
      next = smallest
      for scalar in scalars {
        if scalar < next { delta += 1 }
        if scalar == next {
          append(delta, bias: bias, to: &output)
          bias = adapt(delta, count: handled + 1, isFirst: handled == basic.count)
          delta = 0
          handled += 1
        }
      }
      delta += 1
      next += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Writes a number of variable length (RFC 3492, 3.3).
  private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
    var rest = delta
    var position = base
    while true {
      let threshold = min(max(position - bias, minimumThreshold), maximumThreshold)
      if rest < threshold { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    output.append(digit(rest))
  }

  private static func digit(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
  }

  /// Adapts the bias (RFC 3492, 6.1).
  private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var position = 0
    while delta > (base - minimumThreshold) * maximumThreshold / 2 {
      delta /= base - minimumThreshold
      position += base
    }
    return position + (base - minimumThreshold + 1) * delta / (delta + skew)
  }
}
