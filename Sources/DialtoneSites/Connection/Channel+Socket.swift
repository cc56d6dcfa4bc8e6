// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

extension Channel {
  /// Calls `body` with the channel's socket, on its event loop. Returns `nil` if it has none.
  ///
  /// Does what `withUnsafeTransportIfAvailable(of:)` does. That casts to a protocol with its associated type named,
  /// which Swift's runtime (6.3) demangles and looks up each time: more than most of what a check does itself.
  func withSocket<Value>(_ body: (NIOBSDSocket.Handle) throws -> Value) throws -> Value? {
    func open(_ core: some NIOTransportAccessibleChannelCore) throws -> Value? {
      try core.withUnsafeTransport { transport in try (transport as? NIOBSDSocket.Handle).map(body) }
    }
    guard let core = _channelCore as? any NIOTransportAccessibleChannelCore else { return nil }
    return try open(core)
  }
}
