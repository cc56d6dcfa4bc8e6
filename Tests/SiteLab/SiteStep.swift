// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// One thing that a server does with a connection.
package enum SiteStep: Sendable {
  /// Sends the bytes, as fast as the client takes them.
  case send([UInt8])
  /// Sends the bytes again and again, as fast as the client takes them, until the client closes.
  case sendForEver([UInt8])
  /// Sends the bytes again and again with that pause between, until the client closes.
  case drip([UInt8], every: Duration)
  /// Does nothing for that long.
  case pause(Duration)
  /// Does nothing until the test says that it may go on.
  case hold(until: @Sendable () -> Bool)
  /// Does something of the test's own, which must not wait.
  case perform(@Sendable () -> Void)
  /// Waits for the end of a request's head, and goes on.
  case awaitRequest
  /// Waits for the first bytes of the client, whatever they are, and goes on.
  case awaitBytes
  /// Does nothing more; the client must close.
  case stall
  /// Closes the connection in order.
  case close
  /// Ends the connection with a TCP reset, even over TLS.
  case reset

  /// Sends text.
  package static func send(_ text: String) -> SiteStep { .send(Array(text.utf8)) }
}
#endif
