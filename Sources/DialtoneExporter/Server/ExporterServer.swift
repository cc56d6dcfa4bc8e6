// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Dispatch
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Serves an exporter over HTTP/1.
///
/// Invariants: each connection is in `connections` from its beginning until it is closed. There are never more than the
/// limit: beyond it, that which has left an answer untaken for longest is closed, or else that which has waited longest
/// for its next request, or whose request has been coming longest. If an answer is being found for each, the new one
/// gets a polite answer.
package final class ExporterServer: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// How long a client may take.
  package struct Patience: Sendable {
    /// To send a request, from its first byte or the beginning of the connection.
    package var request = Duration.seconds(10)
    /// To take an answer.
    package var answer = Duration.seconds(30)
    /// Between an answer and the next request: longer than Prometheus waits between two scrapes.
    package var nextRequest = Duration.seconds(300)

    package init() {}
  }

  private struct State {
    var connections: [ObjectIdentifier: (channel: any Channel, waiting: RequestHandler.Waiting)] = [:]
    var listeners: [any Channel] = []
    var isStopping = false
  }

  private let exporter: Exporter
  private let patience: Patience
  private let connectionLimit: Int
  private let state = Lock(State())

  package init(
    _ exporter: Exporter, patience: Patience = Patience(),
    connectionLimit: Int = connectionLimit(of: sysconf(CInt(_SC_OPEN_MAX)))
  ) {
    self.exporter = exporter
    self.patience = patience
    self.connectionLimit = connectionLimit
  }

  /// At most half of the descriptors, since probes need the rest, and 1,024, since Prometheus keeps fewer.
  package static func connectionLimit(of descriptors: Int) -> Int { min(1_024, max(16, (descriptors - 64) / 2)) }

  /// Listens. Returns the address, for people. Blocks for a moment.
  package func listen(on address: ListenAddress) throws(Failure) -> String {
    do {
      let listener = try bindAnyFamily(address)
      state.withLock { $0.listeners.append(listener) }
      if let path = listener.localAddress?.pathname { return "unix:\(path)" }
      let port = listener.localAddress?.port ?? 0
      let host = listener.localAddress?.ipAddress ?? ""
      return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    } catch {
      switch error {
      case let error as IOError: throw Failure(description: SystemError.text(of: error.errnoCode))
      case is UnixDomainSocketPathWrongType: throw Failure(description: "there is a file that is no socket")
      default: throw Failure(description: "\(error)")
      }
    }
  }

  private func bindAnyFamily(_ address: ListenAddress) throws -> any Channel {
    do {
      return try bind(address).wait()
    } catch let error as IOError where error.errnoCode == EAFNOSUPPORT || error.errnoCode == EADDRNOTAVAIL {
      // The machine has no IPv6.
      guard case .network(nil, let port) = address, let any = IPAddress("0.0.0.0") else { throw error }
      return try bind(.network(any, port: port)).wait()
    }
  }

  private var bootstrap: ServerBootstrap {
    ServerBootstrap(group: exporter.loops)
      .serverChannelOption(.backlog, value: 1_024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // What is read beyond a request waits in memory until that is answered: as much as one mostly has.
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2_048))
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture { try initialize(channel) }
      }
  }

  private func bind(_ address: ListenAddress) throws -> EventLoopFuture<any Channel> {
    switch address {
    case .network(let address, let port):
      // Without an address it takes IPv4, too (ipv6(7), bindv6only). Nothing is looked up: that leaves out a family of
      // which only loopback has an address (getaddrinfo(3), AI_ADDRCONFIG).
      return bootstrap.bind(to: try SocketAddress(ipAddress: address?.description ?? "::", port: Int(port)))
    case .path(let path): return bind(toUnusedPath: path)
    case .inherited(let descriptor): return bootstrap.withBoundSocket(descriptor)
    }
  }

  /// A socket that is left over is taken away; not one on which somebody listens.
  private func bind(toUnusedPath path: String) -> EventLoopFuture<any Channel> {
    ClientBootstrap(group: exporter.loops).connect(unixDomainSocketPath: path).map { $0 as (any Channel)? }
      .recover { _ in nil }
      .flatMap { [self] other in
        guard let other else { return bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true) }
        return other.close().flatMapThrowing { throw IOError(errnoCode: EADDRINUSE, reason: "bind") }
      }
  }

  private func initialize(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let handler = RequestHandler(exporter, patience, channel.eventLoop)
    handler.isWelcome = admits(channel, handler.waiting)
    channel.closeFuture.whenComplete { [self] _ in
      state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
    }
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 8_192
    limits.maxHeaderListSize = 32_768
    limits.maxHeaderFieldCount = 100
    try pipeline.addHandler(FirstByteHandler(handler))
    // The handler answers errors. What is told has no fields of others: they need no look.
    try pipeline.configureHTTPServerPipeline(
      withErrorHandling: false, withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(handler)
  }

  /// Takes a connection in. If there are too many, it closes another: first one that does not take its answer, then one
  /// that was answered and waits for more. Prometheus keeps up to 1,000 for five minutes, and opens another when it
  /// needs one. Then one whose request does not come to its end: else a client that opens enough of them would keep all
  /// others out. Returns whether there was room.
  private func admits(_ channel: any Channel, _ waiting: RequestHandler.Waiting) -> Bool {
    let (isAdmitted, longest) = state.withLock { state -> (Bool, (any Channel)?) in
      if state.isStopping { return (false, nil) }
      var longest: (any Channel)?
      if state.connections.count >= connectionLimit {
        let others = state.connections.mapValues(\.waiting.now).filter { $0.value.phase != .answer }
        func order(_ other: (phase: RequestHandler.Waiting.Phase, since: NIODeadline)) -> (Int, NIODeadline) {
          (other.phase == .client ? 0 : other.phase == .nextRequest ? 1 : 2, other.since)
        }
        let first = others.min { order($0.value) < order($1.value) }
        guard let first else { return (false, nil) }
        longest = state.connections.removeValue(forKey: first.key)?.channel
      }
      state.connections[ObjectIdentifier(channel)] = (channel, waiting)
      return (true, longest)
    }
    // A request that comes to its end in this moment is answered.
    longest?.pipeline.fireUserInboundEventTriggered(RequestHandler.Stop(makesRoom: true))
    return isAdmitted
  }

  /// Takes no more requests, and waits for those under way, but not for long. Call it on a thread that may block.
  package func stop(within limit: Duration) {
    let (listeners, connections) = state.withLock { state in
      state.isStopping = true
      return (state.listeners, state.connections.values.map(\.channel))
    }
    for listener in listeners { listener.close(promise: nil) }
    for connection in connections { connection.pipeline.fireUserInboundEventTriggered(RequestHandler.Stop()) }
    let done = DispatchSemaphore(value: 0)
    EventLoopFuture.andAllComplete(connections.map(\.closeFuture), on: exporter.loops.any())
      .whenComplete { _ in done.signal() }
    if case .success = done.wait(timeout: .now() + limit.inSeconds) { return }
    for connection in connections { connection.close(promise: nil) }
  }
}
