// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// Attributes that Dialtone reads but never sends, for messages that tests build.
extension NetlinkRequestBuilder {
  /// Appends an attribute without a payload: its presence means yes.
  package mutating func appendFlag(_ type: UInt16) { append(type, bytes: []) }

  /// Begins an attribute that contains attributes.
  ///
  /// - Parameters:
  ///   - type: The attribute's type.
  ///   - isMarked: Whether to set `NLA_F_NESTED`, which newer families require and older ones ignore.
  /// - Returns: The argument for ``endNested(_:)``.
  package mutating func beginNested(_ type: UInt16, isMarked: Bool = true) -> Int {
    appendFlag(isMarked ? type | NetlinkAttribute.nestedFlag : type)
    return bytes.count
  }

  package mutating func endNested(_ payload: Int) {
    let start = payload - NetlinkAttribute.headerByteCount
    store(UInt16(bytes.count - start), at: start)
  }
}
