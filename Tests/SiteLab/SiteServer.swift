// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
package import NetworkLab
import TestSupport

/// A server for one trial. It treats each client as its behaviour says, and records what the client did.
///
/// It listens from `init` on. When it is released, it is gone with all its connections.
package final class SiteServer: Sendable {
  /// The port that it listens on.
  package let port: Int
  private let listener: any Channel
  private let record: SiteServerRecord

  /// The threads of all servers, of any lab. Listening sockets belong to the namespace in which they were made, and so
  /// do the connections accepted from them.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

  /// Listens on that address, in the lab or else in the test's own network.
  ///
  /// With an identity it speaks TLS in these versions. With an authority of clients it only admits clients with a
  /// certificate of that authority. With protocols it chooses one by ALPN (RFC 7301). If `recording` is false it only
  /// counts, for thousands of connections.
  package init(
    _ behaviour: SiteBehaviour, as identity: SiteIdentity? = nil, tls versions: ClosedRange<SiteTLSVersion> = .modern,
    keyExchange: SiteKeyExchange = .any, clientAuthority: String? = nil, protocols: [String] = [],
    at address: String = "127.0.0.1", port: Int = 0, in lab: NetworkLab? = nil, recording: Bool = true
  ) async throws {
    let record = SiteServerRecord(isRecording: recording)
    let context = try identity?.context(
      minimum: versions.lowerBound.value, maximum: versions.upperBound.value, keyExchange: keyExchange,
      clientAuthority: clientAuthority, protocols: protocols)
    let listen: @Sendable () -> EventLoopFuture<any Channel> = {
      Self.bootstrap(behaviour, context, record).bind(host: address, port: port)
    }
    // A socket belongs to the namespace of the thread that makes it, which is the one that calls bind. A former server
    // is gone, but a process that another test forks holds its socket until exec.
    var listener: (any Channel)?
    try await eventually("\(address) is free at port \(port)") {
      let listening = try lab?.run(listen) ?? listen()
      do {
        listener = try await listening.get()
      } catch let error as IOError where error.errnoCode == EADDRINUSE {
        return false
      }
      return true
    }
    guard let listener else { throw DidNotHappen("there is no listener") }
    self.listener = listener
    self.record = record
    self.port = listener.localAddress?.port ?? 0
  }

  private static func bootstrap(
    _ behaviour: SiteBehaviour, _ context: NIOSSLContext?, _ record: SiteServerRecord
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // The buffer is small, so that the bytes that the kernel took are about those that the client read.
      .childChannelOption(.socketOption(.so_sndbuf), value: 16 << 10)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try closeOnExec(channel) }
      }
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try closeOnExec(channel)
          let number = record.accept(channel)
          let pipeline = channel.pipeline.syncOperations
          if let context {
            try pipeline.addHandler(SiteTap(record: record, number: number))
            try pipeline.addHandler(NIOSSLServerHandler(context: context))
          }
          try pipeline.addHandler(SiteHandler(behaviour, record: record, number: number))
        }
      }
  }

  /// Otherwise a port would stay open as long as a process that another test starts holds it.
  private static func closeOnExec(_ channel: any Channel) throws {
    try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
      guard fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 else { throw LabError("setting close-on-exec", code: errno) }
    }
  }

  deinit {
    listener.close(promise: nil)
    record.closeAll()
  }

  /// The connections so far, in the order in which they came.
  package var connections: [SiteConnection] { record.connections }

  /// How many connections there were.
  package var connectionCount: Int { record.count }

  /// The number that are open now.
  package var openCount: Int { record.openCount }

  /// The requests of all connections.
  package var requests: [SiteRequest] { connections.flatMap(\.requests) }

  /// Stops listening. Open connections stay.
  package func stopListening() async throws {
    // A process that another test starts holds the socket until its exec(2), so closing it is not enough.
    try await listener.eventLoop.submit { [listener] in
      try listener.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        guard shutdown(socket, CInt(SHUT_RDWR)) == 0 else { throw LabError("shutting the listener down", code: errno) }
      }
    }.get()
    // The event loop may have seen the end already, and closed it.
    listener.close(promise: nil)
    try await listener.closeFuture.get()
  }

  /// Ends all connections with a reset.
  package func resetAll() { record.closeAll() }
}

/// The curve with which a server exchanges keys.
package enum SiteKeyExchange: Sendable {
  case any, p521
}

/// A version of TLS.
package enum SiteTLSVersion: Sendable, Comparable {
  case tls10, tls11, tls12, tls13

  var value: TLSVersion {
    switch self {
    case .tls10: .tlsv1
    case .tls11: .tlsv11
    case .tls12: .tlsv12
    case .tls13: .tlsv13
    }
  }
}

extension ClosedRange<SiteTLSVersion> {
  /// The versions that a present server offers.
  package static var modern: Self { .tls12 ... .tls13 }
}
#endif
