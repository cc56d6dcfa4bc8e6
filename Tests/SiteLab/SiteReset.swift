// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
import NIOCore
import NIOPosix
import NIOSSL

/// Ends a connection abruptly.
enum SiteReset {
  /// Ends it with a TCP reset, without a message of TLS.
  static func reset(_ channel: any Channel) {
    guard let socket = channel as? any SocketOptionProvider else { return channel.close(promise: nil) }
    // socket(7): with a linger time of 0, closing sends a reset.
    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
      channel.eventLoop.execute {
        // From the TLS handler towards the network, so that TLS takes no part.
        if let context = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
          context.close(mode: .all, promise: nil)
        } else {
          channel.close(promise: nil)
        }
      }
    }
  }
}
#endif
