// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The state of one connection to a server.
package struct SiteConnection: Sendable {
  package let accepted: ContinuousClock.Instant
  /// The address of the client.
  package let peer: String
  /// What the client sent, without TLS; the first 256 KiB.
  package var received: [UInt8] = []
  /// What the client sent, with TLS around it if the server speaks TLS; the first 256 KiB.
  package var receivedRaw: [UInt8] = []
  package var requests: [SiteRequest] = []
  /// How much the kernel took from the server, without TLS.
  package var sentCount = 0
  /// When the connection ended, by either side.
  package var closed: ContinuousClock.Instant?

  static let capacity = 256 << 10
}
#endif
