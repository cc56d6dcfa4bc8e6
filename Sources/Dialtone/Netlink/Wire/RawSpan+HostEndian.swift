// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: no other file of the parser reads memory without the standard library's own check. Each such read follows
// a comparison with `byteCount` in the same function. The code above it works with integer offsets that came out of the
// kernel's bytes and are not trusted.

extension RawSpan {
  /// Reads an integer in host byte order, as netlink headers and attributes are written (netlink(7)).
  ///
  /// - Returns: `nil` if the integer would not lie wholly inside the span.
  package func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type = T.self) -> T? {
    guard offset >= 0, byteCount >= MemoryLayout<T>.size, offset <= byteCount - MemoryLayout<T>.size else {
      return nil
    }
    // SAFETY: the guard above keeps offset + size within byteCount; integers have no invalid bit pattern.
    return unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type)
  }

  /// Reads an attribute whose payload must be exactly one integer in host byte order.
  ///
  /// - Returns: `nil` if the payload has another size or leaves the span.
  package func integer<T: FixedWidthInteger & BitwiseCopyable>(in range: Range<Int>, as type: T.Type = T.self) -> T? {
    guard range.count == MemoryLayout<T>.size else { return nil }
    return integer(at: range.lowerBound, as: type)
  }

  /// Reads a string that ends at the first NUL byte, or with the payload; bytes that are not UTF-8 are repaired.
  ///
  /// - Returns: `nil` if the payload leaves the span or has more than `limit` bytes, the NUL included.
  package func string(in range: Range<Int>, limit: Int = .max) -> String? {
    guard contains(range), range.count <= limit else { return nil }
    // SAFETY: `contains` proved that the range lies inside the buffer; the pointer does not leave the closure.
    return unsafe withUnsafeBytes { buffer in
      let payload = unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
      let text = unsafe payload.prefix { $0 != 0 }
      return unsafe String(decoding: text, as: UTF8.self)
    }
  }

  /// Copies bytes out.
  ///
  /// - Returns: `nil` if the range leaves the span.
  package func array(in range: Range<Int>) -> [UInt8]? {
    guard contains(range) else { return nil }
    // SAFETY: `contains` proved that the range lies inside the buffer; the bytes are copied before it ends.
    return unsafe withUnsafeBytes { unsafe [UInt8]($0[range]) }
  }

  /// Whether a range of offsets lies inside the span.
  package func contains(_ range: Range<Int>) -> Bool {
    range.lowerBound >= 0 && range.upperBound <= byteCount
  }
}

extension Optional where Wrapped: Sendable {
  /// Takes the value of an attribute in. Returns whether there is one: whether the attribute has the size it must have.
  mutating func takeIn(_ value: Wrapped?) -> Bool {
    self = value
    return value != nil
  }
}
