// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneNIO
import NIOCore
import NIOPosix

/// A connection inside the client's namespace, over loopback or a Unix socket.
struct ConnectionLabLoopback {
  let condition: ConnectionCondition
  private let channels: [any Channel]

  init(_ lab: ConnectionLab, _ registry: ConnectionRegistry, path: String? = nil) async throws {
    let server = ServerBootstrap(group: lab.group)
    let client = ClientBootstrap(group: lab.group).channelInitializer { $0.followPath(in: registry) }
    let listener: any Channel
    let channel: any Channel
    if let path {
      listener = try await server.bind(unixDomainSocketPath: path).get()
      channel = try await client.connect(unixDomainSocketPath: path).get()
    } else {
      listener = try await server.bind(host: "127.0.0.1", port: 0).get()
      guard let address = listener.localAddress else { throw ChannelError.unknownLocalAddress }
      channel = try await client.connect(to: address).get()
    }
    condition = try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: PathHandler.self).condition
    }.get()
    channels = [channel, listener]
  }

  func close() async throws { for channel in channels { try await channel.close().get() } }
}
#endif
