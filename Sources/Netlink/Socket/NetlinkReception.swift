// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What one attempt to receive found.
package enum NetlinkReception: Hashable, Sendable {
  /// A datagram from the kernel, of so many bytes, at the start of the buffer.
  case datagram(Int)
  /// Nothing is waiting (`EAGAIN`).
  case empty
  /// The kernel had to drop messages (`ENOBUFS`): what was known of its state may be wrong now. Reported once a burst;
  /// the messages that were kept follow.
  case overrun
  /// A datagram did not fit into the buffer (`MSG_TRUNC`): as good as dropped.
  case truncated
  /// A datagram from another process, dropped and counted: anyone may write to a netlink socket, and only the sender's
  /// address, never the header, tells the kernel from the others.
  case foreign
}
#endif
