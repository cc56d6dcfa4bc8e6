// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Why the bytes of a datagram are not a sequence of netlink messages.
package enum NetlinkFormatError: Error, Hashable, Sendable {
  /// Fewer bytes remain than a message header has.
  case truncatedHeader
  /// A header claims a message shorter than the header itself.
  case lengthBelowHeader
  /// A header claims more bytes than remain.
  case truncatedMessage
}
