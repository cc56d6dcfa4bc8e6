// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
@testable import DialtoneNIO
import NIOCore
import NIOPosix
import NetworkLab
import Synchronization
import TestSupport

/// A client with two uplinks to a server, which echoes what it gets, and goes on talking if it is asked to. A thread
/// belongs to the namespace of the one that starts it, and so do its sockets.
final class ConnectionLab: Sendable {
  let client: NetworkLab
  let server: NetworkLab
  let environment: ReachabilityEnvironment
  let group: MultiThreadedEventLoopGroup
  private let serverGroup: MultiThreadedEventLoopGroup
  private let listener: any Channel
  /// Keeps the engine, whose threads belong to the lab.
  let anchor: ReachabilityMonitor

  /// The server's address behind both uplinks.
  static let address = "192.0.2.80"

  /// The uplinks are `u0` (10.0.0.1, preferred) and `u1` (10.0.1.1, unless `second` is `false`).
  init(second: Bool = true, threads: Int = 1) async throws {
    client = try NetworkLab()
    server = try NetworkLab()
    let environment = ReachabilityEnvironment(EngineProvider())
    self.environment = environment
    (group, anchor) = try client.run {
      (
        MultiThreadedEventLoopGroup(numberOfThreads: threads),
        ReachabilityMonitor(.localNetwork, environment: environment)
      )
    }
    serverGroup = try server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    try server.addAddress("\(Self.address)/32", "lo")
    // The answer may leave by another link than the request came by.
    try server.sysctl("ipv4/conf/all/rp_filter", 0)
    try server.sysctl("ipv4/conf/default/rp_filter", 0)
    try client.sysctl("ipv4/conf/all/rp_filter", 0)
    try client.sysctl("ipv4/conf/default/rp_filter", 0)
    let serverGroup = serverGroup
    // The socket belongs to the network of the thread that makes it.
    listener = try await serverGroup.next().flatSubmit {
      ServerBootstrap(group: serverGroup)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
        }
        .bind(host: "0.0.0.0", port: 7000)
    }.get()
    try addUplink(0)
    if second { try addUplink(1) }
  }

  func addUplink(_ number: Int) throws {
    try client.addVeth("u\(number)", "s\(number)", peerIn: server)
    try client.up("u\(number)")
    try server.up("s\(number)")
    try client.waitUntilRunning("u\(number)")
    try server.waitUntilRunning("s\(number)")
    try client.addAddress("10.0.\(number).1/24", "u\(number)")
    try server.addAddress("10.0.\(number).2/24", "s\(number)")
    try client.addRoute("default", via: "10.0.\(number).2", dev: "u\(number)", metric: UInt32(100 + number))
  }

  /// Has the server take as many connections as `backlog` says, to the addresses of a network, at a port of its own
  /// choice. It says nothing on them: nobody accepts them, so that they take no descriptor. Returns the port.
  func takeConnections(to network: String, backlog: Int) async throws -> Int {
    let route = try server.ip("route add local \(network) dev lo")
    if route.status != 0 { throw DidNotHappen("\(route)") }
    try server.sysctl("core/somaxconn", backlog)
    let serverGroup = serverGroup
    let silent = try await serverGroup.next().flatSubmit {
      ServerBootstrap(group: serverGroup)
        .serverChannelOption(.backlog, value: CInt(backlog))
        .serverChannelOption(.autoRead, value: false)
        .bind(host: "0.0.0.0", port: 0)
    }.get()
    guard let port = silent.localAddress?.port else { throw ChannelError.unknownLocalAddress }
    return port
  }

  func registry(
    _ policy: ConnectionPolicy = .init(), onChange: (@Sendable (ConnectionChange) -> Void)? = nil
  ) -> ConnectionRegistry {
    ConnectionRegistry(policy: policy, environment: environment, onChange: onChange)
  }

  /// Opens a connection to the server. Without a registry it is an untouched twin.
  func connect(
    _ registry: ConnectionRegistry? = nil, to host: String = address, port: Int = 7000,
    _ configure: (ClientBootstrap) -> ClientBootstrap = { $0 }
  ) async throws -> LabConnectionEnd {
    let end = LabConnectionEnd()
    let channel = try await configure(ClientBootstrap(group: group))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collector(end))
          if let registry {
            try channel.pipeline.syncOperations.addHandler(PathHandler(registry), position: .first)
          }
        }
      }
      // By its name: then the event loop makes the socket, on its own thread.
      .connect(host: host, port: port).get()
    end.channel.withLock { $0 = channel }
    return end
  }

  func stop() async throws {
    try await group.shutdownGracefully()
    try await serverGroup.shutdownGracefully()
  }

  private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = context.channel
      if unwrapInboundIn(data).readableBytesView.contains(LabConnectionEnd.talk) {
        channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { task in
          if !channel.isActive { return task.cancel() }
          channel.writeAndFlush(ByteBuffer(repeating: 1, count: 1_000), promise: nil)
        }
      }
      context.writeAndFlush(data, promise: nil)
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let end: LabConnectionEnd
    init(_ end: LabConnectionEnd) { self.end = end }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data).readableBytes
      end.received.withLock { $0 += bytes }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { end.errors.withLock { $0.append(error) } }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      end.events.withLock { $0.append("\(event)") }
    }
  }
}

/// The client's end of a connection, and what its handlers were told.
final class LabConnectionEnd: Sendable {
  let channel = Mutex<(any Channel)?>(nil)
  let received = Mutex(0)
  let errors = Mutex<[any Error]>([])
  let events = Mutex<[String]>([])

  var isOpen: Bool { channel.withLock { $0?.isActive ?? false } }
  var lost: ConnectionLostError? { errors.withLock { $0.lazy.compactMap { $0 as? ConnectionLostError }.first } }

  /// The byte that has the server send a thousand bytes each ten milliseconds from then on.
  static let talk: UInt8 = 2

  /// Sends one byte, or as many as are asked for, which the server sends back.
  func send(_ byte: UInt8 = 1, count: Int = 1) {
    guard let channel = channel.withLock({ $0 }) else { return }
    channel.writeAndFlush(ByteBuffer(repeating: byte, count: count), promise: nil)
  }

  /// Returns once a byte that is sent now has come back.
  func echo(_ what: String) async throws {
    let before = received.withLock { $0 }
    send()
    try await eventually(what) { received.withLock { $0 } > before }
  }

  func close() async throws {
    let channel = channel.withLock { $0 }
    if let channel, channel.isActive { try await channel.close().get() }
  }

  func set(_ activity: ConnectionActivity) {
    let channel = channel.withLock { $0 }
    channel?.triggerUserOutboundEvent(NetworkEvents.ActivityUpdate(activity: activity), promise: nil)
  }

  func condition() async throws -> ConnectionCondition {
    guard let channel = channel.withLock({ $0 }) else { return .unknown }
    return try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: PathHandler.self).condition
    }.get()
  }
}
#endif
