// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// How a request ended: an error, an acknowledgement (`NLMSG_ERROR`), or the end of a dump (`NLMSG_DONE`). Includes the
/// extended acknowledgement if there is one (netlink(7), `NETLINK_EXT_ACK`).
///
/// Decoding makes no string, because a route query that fails is ordinary, and its text is rarely wanted. ``text(in:)``
/// makes it.
package struct NetlinkAcknowledgement: Hashable, Sendable {
  /// The kernel's explanation in an extended acknowledgement, `NLMSGERR_ATTR_MSG` (linux/netlink.h).
  package static let messageAttribute: UInt16 = 1

  /// 0 for success, else a positive errno.
  package let errno: Int32
  /// Where in the datagram the kernel's explanation is.
  let textRange: Range<Int>?

  package var isSuccess: Bool { errno == 0 }

  /// - Returns: `nil` if the message is of another type or too short. An extended acknowledgement that cannot be read
  ///   is left out; the error number before it still counts.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let isError = message.type == .error
    guard isError || message.type == .done else { return nil }
    guard message.body.count >= 4, bytes.contains(message.body),
      let code: Int32 = bytes.integer(at: message.body.lowerBound)
    else { return nil }
    // The kernel writes -errno; a positive value (a dump's byte count in old kernels) is no error.
    errno = code == .min ? .max : max(0, -code)

    var text: Range<Int>?
    if message.flags.contains(.acknowledgementTLVs) {
      var start = message.body.lowerBound + 4
      if isError {
        // struct nlmsgerr: the error number, then the request. After an error the request is whole, unless
        // NETLINK_CAP_ACK cut it to its header. After success it is only its header.
        var requestLength = NetlinkHeader.byteCount
        if code != 0, !message.flags.contains(.capped), let length: UInt32 = bytes.integer(at: start) {
          requestLength = max(requestLength, Int(clamping: length))
        }
        start = requestLength > message.body.upperBound - start ? message.body.upperBound : start + requestLength
        start = min(message.body.lowerBound + (start - message.body.lowerBound + 3) & ~3, message.body.upperBound)
      }
      var attributes = NetlinkAttributeCursor(start..<message.body.upperBound)
      while let attribute = attributes.next(in: bytes) {
        if attribute.type == Self.messageAttribute { text = attribute.payload }
      }
    }
    textRange = text
  }

  /// The kernel's explanation, as text for a person.
  package func text(in bytes: RawSpan) -> String? {
    guard let textRange else { return nil }
    return bytes.string(in: textRange)
  }
}
