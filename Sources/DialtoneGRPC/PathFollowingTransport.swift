// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if GRPC
public import Dialtone
public import DialtoneNIO
public import GRPCCore
public import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import Synchronization

/// A client's HTTP/2 transport whose calls wait for a path, and whose connections follow theirs.
///
/// ~~~swift
/// let transport = try PathFollowingTransport(to: .host("greeter.example.com:443")) { config in
///   try .http2NIOPosix(target: .dns(host: "greeter.example.com"), transportSecurity: .tls, config: config)
/// }
/// try await withGRPCClient(transport: transport) { client in … }
/// ~~~
///
/// A call begins once there is a path, within its own timeout. So gRPC makes no attempt to connect that has to fail,
/// and its back-off, which grows to two minutes, does not build up. If an outage or another path leaves the transport
/// without any connection, a new one takes its place as soon as there is a path; calls that had not begun go there.
///
/// gRPC's `waitForReady` waits for a connection, and this for the path to it; with both, a call waits for both. Calls
/// are only repeated by gRPC itself, as the service's retry policy says.
public final class PathFollowingTransport: ClientTransport {
  /// The bytes of the wrapped transport.
  public typealias Bytes = HTTP2ClientTransport.Posix.Bytes

  /// Makes the wrapped transport with a configuration that follows paths.
  public typealias Maker =
    @Sendable (HTTP2ClientTransport.Posix.Config) throws -> HTTP2ClientTransport.Posix

  private struct State {
    var transport: HTTP2ClientTransport.Posix
    var generation = 0
    var isShutDown = false
    /// Why the transport that is to take this one's place could not be made.
    var refusal: (any Error)?
    /// What waits at the gate.
    var waits: [Int: Task<Void, any Error>] = [:]
    var nextWait = 0
  }

  /// The transport was shut down while something waited at the gate.
  private struct ShutDown: Error {}

  private let target: ReachabilityTarget
  private let gate: PathGate
  private let registry: ConnectionRegistry
  private let monitor: ReachabilityMonitor
  private let make: @Sendable () throws -> HTTP2ClientTransport.Posix
  private let state: Mutex<State>
  /// Each transport that is to be connected; it ends with the shutdown.
  private let transports = AsyncStream<HTTP2ClientTransport.Posix>.makeStream()

  /// Creates a transport.
  ///
  /// - Parameters:
  ///   - target: What calls wait for: the server, or the proxy in front of it.
  ///   - config: The configuration to follow paths with; `onCreateTCPConnection` and `onCreateHTTP2Stream` still run.
  ///   - policy: What is done about connections whose path has changed.
  ///   - gate: Where calls wait.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  ///   - make: Makes the wrapped transport with the configuration it is given.
  /// - Throws: What `make` throws now. If it throws later, the former transport stays, and it is called again. Calls
  ///   that fail for lack of a connection meanwhile have its error as their cause.
  public init(
    to target: ReachabilityTarget, config: HTTP2ClientTransport.Posix.Config = .defaults,
    policy: ConnectionPolicy = .init(), gate: PathGate = .shared, environment: ReachabilityEnvironment = .system,
    _ make: @escaping Maker
  ) throws {
    self.target = target
    self.gate = gate
    let registry = ConnectionRegistry(policy: policy, environment: environment)
    self.registry = registry
    monitor = ReachabilityMonitor(target, environment: environment)
    let calls = CallCount()
    self.calls = calls
    self.make = {
      var config = config
      config.followPath(in: registry) { calls.current.withLock { $0 } > 0 }
      return try make(config)
    }
    let first = try self.make()
    state = Mutex(State(transport: first))
    transports.continuation.yield(first)
  }

  /// How often, and after which time, a call is begun again for which gRPC has only a connection that is closed.
  private static let staleLimit = 20
  private static let stalePause = Duration.milliseconds(5)
  /// After which time another transport is made if that failed.
  private static let makingPause = Duration.seconds(1)

  /// Calls under way that gRPC does not repeat, shared with the connections.
  private final class CallCount: Sendable {
    let current = Mutex(0)
  }

  private let calls: CallCount

  /// The registry that counts the transport's connections.
  public var connections: ConnectionRegistry { registry }

  /// That of the wrapped transport.
  public var retryThrottle: RetryThrottle? { state.withLock { $0.transport }.retryThrottle }

  /// That of the wrapped transport.
  public func config(forMethod descriptor: MethodDescriptor) -> MethodConfig? {
    state.withLock { $0.transport }.config(forMethod: descriptor)
  }

  /// Connects as soon as there is a path, and keeps connected until shutdown.
  public func connect() async throws {
    do {
      try await waitAtGate(timeout: nil)
    } catch is ShutDown {
      // The transport ends as soon as it is connected.
    } catch let error as PathGate.Unavailable {
      throw RPCError(code: .unavailable, message: "\(error)", cause: error)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.follow() }
      group.addTask {
        try await withThrowingDiscardingTaskGroup { connections in
          for await transport in self.transports.stream { connections.addTask { try await transport.connect() } }
        }
      }
      // The one that follows ends only with an error, the other one with the last transport.
      try await group.next()
      group.cancelAll()
    }
  }

  /// Has another transport take this one's place each time that an outage, or another path, has left it without a
  /// connection: an attempt that cannot succeed any more may be under way, or a back-off of two minutes.
  private func follow() async throws {
    var former: Reachability?
    for await state in monitor.detailedUpdates {
      defer { former = state }
      guard state.isReachable, let former, registry.counts.isEmpty else { continue }
      let isAnother = !former.isReachable || former.interface != state.interface || former.source != state.source
      while isAnother, registry.counts.isEmpty {
        do {
          try renew()
          break
        } catch {
          // The former one goes on by itself meanwhile.
          self.state.withLock { $0.refusal = error }
          try await Task.sleep(for: Self.makingPause)
        }
      }
      self.state.withLock { $0.refusal = nil }
    }
  }

  private func renew() throws {
    let new = try make()
    let old = state.withLock { state -> HTTP2ClientTransport.Posix in
      if state.isShutDown { return new }
      defer {
        state.transport = new
        state.generation += 1
        transports.continuation.yield(new)
      }
      return state.transport
    }
    old.beginGracefulShutdown()
  }

  /// Lets calls under way end, and begins no others.
  public func beginGracefulShutdown() {
    let (transport, waits) = state.withLock { state in
      state.isShutDown = true
      return (state.transport, state.waits)
    }
    for wait in waits.values { wait.cancel() }
    transports.continuation.finish()
    transport.beginGracefulShutdown()
  }

  /// Returns once there is a path. Throws ``ShutDown`` if the transport is shut down before.
  private func waitAtGate(timeout: Duration?) async throws {
    if monitor.current.isReachable { return }
    let wait = Task { _ = try await gate.waitForPath(to: target, timeout: timeout) }
    let number = state.withLock { state -> Int? in
      if state.isShutDown { return nil }
      state.nextWait += 1
      state.waits[state.nextWait] = wait
      return state.nextWait
    }
    if number == nil { wait.cancel() }
    defer { if let number { state.withLock { $0.waits[number] = nil } } }
    do {
      try await withTaskCancellationHandler {
        try await wait.value
      } onCancel: {
        wait.cancel()
      }
    } catch is CancellationError where !Task.isCancelled {
      throw ShutDown()
    }
  }

  /// Begins a call once there is a path, within the call's timeout.
  ///
  /// - Throws: `RPCError` with the code `deadlineExceeded` if there was no path in time, `unavailable` if the transport
  ///   was shut down meanwhile; what the wrapped transport throws.
  @concurrent
  public func withStream<T: Sendable>(
    descriptor: MethodDescriptor, options: CallOptions,
    _ closure: @concurrent (_ stream: RPCStream<Inbound, Outbound>, _ context: ClientContext) async throws -> T
  ) async throws -> T {
    let start = ContinuousClock.now
    let timeout = options.timeout ?? config(forMethod: descriptor)?.timeout
    let mayRepeat = (options.executionPolicy ?? config(forMethod: descriptor)?.executionPolicy) != nil
    if !mayRepeat { calls.current.withLock { $0 += 1 } }
    defer { if !mayRepeat { calls.current.withLock { $0 -= 1 } } }
    var stale = 0
    while true {
      var options = options
      if let timeout { options.timeout = timeout - (ContinuousClock.now - start) }
      do {
        try await waitAtGate(timeout: options.timeout)
      } catch is ShutDown {
        throw RPCError(code: .unavailable, message: "the client was shut down while the call waited for a path")
      } catch let error as PathGate.Unavailable {
        let code: RPCError.Code = error.cause == .timedOut ? .deadlineExceeded : .unavailable
        throw RPCError(code: code, message: "\(error)", cause: error)
      }
      let (transport, generation) = state.withLock { ($0.transport, $0.generation) }
      var hasBegun = false
      do {
        return try await transport.withStream(descriptor: descriptor, options: options) { stream, context in
          hasBegun = true
          return try await closure(stream, context)
        }
      } catch {
        // A transport that made way for another one refuses calls that have not begun.
        let now = state.withLock { $0 }
        guard !hasBegun, !now.isShutDown, !Task.isCancelled else { throw error }
        if now.generation != generation { continue }
        let isUnavailable = (error as? RPCError)?.code == .unavailable
        if isUnavailable, let refusal = now.refusal {
          throw RPCError(code: .unavailable, message: "no transport can be made: \(refusal)", cause: refusal)
        }
        // gRPC is told a moment later that its connection was closed, and until then has nothing but that one. It says
        // to nobody when it has been told: hence the pauses.
        guard isUnavailable, !registry.closed.isEmpty, registry.counts.isEmpty, stale < Self.staleLimit
        else { throw error }
        stale += 1
        try await Task.sleep(for: Self.stalePause)
      }
    }
  }
}

extension HTTP2ClientTransport.Posix.Config {
  /// Has each connection of the transport follow its path.
  ///
  /// Callbacks that are set already run first. A connection without a stream is idle; what is under way on others must
  /// not be repeated.
  ///
  /// - Parameter registry: Where the connections are counted, and whose policy they follow.
  public mutating func followPath(in registry: ConnectionRegistry = .shared) {
    followPath(in: registry) { true }
  }

  mutating func followPath(in registry: ConnectionRegistry, isBusy: @escaping @Sendable () -> Bool) {
    let callbacks = channelDebuggingCallbacks
    channelDebuggingCallbacks.onCreateTCPConnection = initializer(after: callbacks.onCreateTCPConnection) { channel in
      try channel.pipeline.syncOperations.pathHandler(registry).count()
    }
    channelDebuggingCallbacks.onCreateHTTP2Stream = initializer(after: callbacks.onCreateHTTP2Stream) { channel in
      Self.count(channel, isBusy: isBusy())
    }
  }

  private static func count(_ channel: any Channel, isBusy: Bool) {
    // Without a handler, the connection is closing: nothing is left to follow.
    guard let handler = channel.parent?.pipeline.syncOperations.present(PathHandler.self) else { return }
    handler.count(repeatable: isBusy ? 0 : 1, others: isBusy ? 1 : 0)
    channel.closeFuture.assumeIsolated().whenComplete { _ in
      handler.count(repeatable: isBusy ? 0 : -1, others: isBusy ? -1 : 0)
    }
  }
}
#endif
