// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What became of one request.
package enum NetlinkAnswer: Hashable, Sendable {
  /// What was asked for.
  case message(NetlinkMessage)
  /// An error, or, where it was asked for, an acknowledgement.
  case acknowledgement(NetlinkAcknowledgement)
  /// The answer did not arrive: nothing is known.
  case lost(Loss)

  package enum Loss: Hashable, Sendable {
    /// The kernel sent none.
    case missing
    /// The kernel had to drop messages of this socket.
    case overrun
    /// It was longer than a slot of the buffer.
    case truncated
    /// It was no netlink message.
    case malformed
  }
}
#endif
