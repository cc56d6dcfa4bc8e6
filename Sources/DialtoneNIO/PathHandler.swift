// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
internal import Dialtone
public import NIOCore

/// Follows the path of its channel's connection, tells the other handlers of changes, and closes the connection if it
/// cannot work any more.
///
/// Add it in front of all others, before connecting or later. ``NIOCore/Channel/followPath(in:)`` does that:
///
/// ~~~swift
/// let bootstrap = ClientBootstrap(group: group)
///   .channelInitializer { channel in channel.followPath() }
/// ~~~
///
/// It fires ``NetworkEvents`` as user events, and a ``ConnectionLostError`` before it closes the channel. It closes
/// from its own place in the pipeline, so that TLS does not wait for the other side.
///
/// *A registered handler has a watch; it is removed from it when the channel becomes inactive or the handler is
/// removed, whichever comes first.*
public final class PathHandler: ChannelDuplexHandler, RemovableChannelHandler {
  /// The handler passes everything on.
  public typealias InboundIn = Any
  /// The handler passes everything on.
  public typealias OutboundIn = Any

  private let registry: ConnectionRegistry
  private var machine: ConnectionStateMachine
  private var context: ChannelHandlerContext?
  private var watch: PathWatch?
  private var routes = ConnectionRoutes(pair: .unknown, remote: .unknown)
  private var timer: Scheduled<Void>?
  /// What the registry and the other handlers were told last.
  private var told: ConnectionCondition?
  private var began: NIODeadline = .distantPast
  private var isViable: Bool?
  private var isBetterPathKnown = false
  private var explicitActivity: ConnectionActivity?
  /// The requests under way, for adapters that count them.
  private var requests: (repeatable: Int, others: Int)?
  #if os(Linux)
  private var keepalive: KeepaliveSettings?
  #endif

  /// Creates a handler for one channel.
  ///
  /// - Parameter registry: Where the connection is counted, and whose policy it follows.
  public init(_ registry: ConnectionRegistry = .shared) {
    self.registry = registry
    machine = ConnectionStateMachine(registry.policy)
  }

  /// What is under way on the connection: what you set or triggered last, otherwise the policy's assumption. Use it on
  /// the channel's event loop.
  public var activity: ConnectionActivity {
    get {
      if let explicitActivity { return explicitActivity }
      guard let requests else { return machine.policy.activity }
      return requests.others > 0 ? .busy : requests.repeatable > 0 ? .repeatable : .idle
    }
    set {
      explicitActivity = newValue
      activityChanged()
    }
  }

  /// What is known of the connection. Use it on the channel's event loop.
  public var condition: ConnectionCondition { told ?? .unknown }

  // MARK: The channel's life

  /// Begins to follow, if the channel is active.
  public func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin(context) }
  }

  /// Ends following.
  public func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  /// Begins to follow, once the other handlers know of the connection.
  public func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    // A handler may have closed the channel, or removed this one.
    if self.context != nil, context.channel.isActive { begin(context) }
  }

  /// Ends following.
  public func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  /// Looks at a dead connection again: it is closed once what has come is read.
  public func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    if told == .dead { routesChanged() }
  }

  /// Tells the other handlers if the address cannot be reached now; the attempt goes on.
  public func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    if let remote = IPAddress(address), let routing = routing() {
      let target = ReachabilityTarget.address(remote, port: address.port.map(UInt16.init(truncatingIfNeeded:)))
      let state = Reachability.now(target, configuration: routing.configuration, environment: registry.environment)
      if let reason = ConnectionRoutes.Answer(state).reason {
        context.fireUserInboundEventTriggered(NetworkEvents.WaitingForConnectivity(transientError: reason))
      }
    }
    context.connect(to: address, promise: promise)
  }

  /// Takes a ``NetworkEvents/ActivityUpdate``, and passes on everything else.
  public func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard let update = event as? NetworkEvents.ActivityUpdate else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    activity = update.activity
    promise?.succeed()
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard told == nil else { return }
    machine = ConnectionStateMachine(registry.policy)
    set(.unknown)
    guard let key = key(context) else { return set(.unjudged) }
    watch = registry.watch(key, for: NIOLoopBound(self, eventLoop: context.eventLoop))
    routesChanged()
  }

  private func end() {
    timer.take()?.cancel()
    setProbing(false)
    if let watch = watch.take() { registry.end(watch, for: self) }
    if let told = told.take() { registry.changed(from: told, to: nil) }
  }

  /// What routes are asked about; `nil` for connections about which they do not tell.
  private func key(_ context: ChannelHandlerContext) -> PathWatch.Key? {
    guard let localAddress = context.localAddress, let remoteAddress = context.remoteAddress,
      let local = IPAddress(localAddress), let remote = IPAddress(remoteAddress), !remote.isLoopback, !local.isLoopback,
      let routing = routing()
    else { return nil }
    let port = remoteAddress.port.map(UInt16.init(truncatingIfNeeded:))
    return PathWatch.Key(local: local, remote: remote, port: port, socket: routing)
  }

  // MARK: Judging

  /// The watch says that its answers may have changed, or the time has come to look again.
  func routesChanged() {
    guard let watch, let context else { return }
    routes = watch.routes
    // What closes a connection for its routes has to be certain. So has the first answer: it may have it never judged.
    let isCut = routes.pair.reason != nil && routes.remote.isReachable
    if isCut || told == .unknown && !routes.pair.isReachable { routes = watch.confirmedRoutes() }
    tellOfRoutes(context)
    // A handler that was told may have closed the channel.
    guard self.watch != nil else { return }
    perform(machine.take(routes, activity: activity, at: now(context)))
  }

  /// Counts requests as they begin and end; without any, the connection is idle.
  package func count(repeatable: Int = 0, others: Int = 0) {
    let before = requests ?? (0, 0)
    requests = (before.repeatable + repeatable, before.others + others)
    activityChanged()
  }

  /// What is under way has changed.
  private func activityChanged() {
    if watch != nil, told != .fine, told != .unjudged { routesChanged() }
  }

  private func perform(_ action: ConnectionStateMachine.Action) {
    var action = action
    timer.take()?.cancel()
    if case .measure = action, let context {
      action = machine.measured(progress(), activity: activity, at: now(context))
    }
    if case .close(let condition) = action { return close(for: condition) }
    set(machine.condition)
    guard watch != nil else { return }
    setProbing(machine.wantsProbes)
    if case .lookAgain(let time) = action, let context {
      let delay = TimeAmount.nanoseconds(max(time - now(context), 0))
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
        self?.timer = nil
        self?.routesChanged()
      }
    }
  }

  private func close(for condition: ConnectionCondition) {
    guard let context, let watch else { return }
    // Counted first: who gets the error looks at it. A request that begins now may still be given this connection.
    registry.noteLoss()
    context.channel.closeFuture.whenComplete { [registry] _ in registry.noteLoss() }
    set(condition, isClosed: true)
    let error = ConnectionLostError(
      condition, local: watch.key.local, remote: watch.key.remote, reason: routes.pair.reason,
      after: .nanoseconds((context.eventLoop.now - began).nanoseconds))
    // Before the channel closes, so that a request fails with this error.
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }

  /// Tells the registry and the other handlers, once for each change.
  private func set(_ condition: ConnectionCondition, isClosed: Bool = false) {
    let isNew = condition != told
    guard isNew || isClosed else { return }
    let isFirst = told == nil
    registry.changed(from: told, to: condition)
    if isNew { began = context?.eventLoop.now ?? .now() }
    told = condition
    if isFirst { return }
    if let watch {
      registry.tell(
        ConnectionChange(
          local: watch.key.local, remote: watch.key.remote, port: watch.key.port.map(Int.init), condition: condition,
          reason: routes.pair.reason, isClosed: isClosed))
    }
    if isNew { context?.fireUserInboundEventTriggered(NetworkEvents.ConditionUpdate(condition: condition)) }
  }

  private func tellOfRoutes(_ context: ChannelHandlerContext) {
    guard routes.pair != .unknown else { return }
    let isViable = routes.pair.isReachable
    if isViable != self.isViable, self.isViable != nil || isViable {
      context.fireUserInboundEventTriggered(NetworkEvents.ViabilityUpdate(isViable: isViable))
    }
    self.isViable = isViable
    let isBetter = routes.remote.isReachable && routes.remote != routes.pair
    guard isBetter != isBetterPathKnown else { return }
    isBetterPathKnown = isBetter
    let event: any Sendable = isBetter ? NetworkEvents.BetterPathAvailable() : NetworkEvents.BetterPathUnavailable()
    context.fireUserInboundEventTriggered(event)
  }

  private func now(_ context: ChannelHandlerContext) -> Int64 {
    Int64(truncatingIfNeeded: context.eventLoop.now.uptimeNanoseconds)
  }

  // MARK: The socket

  /// What the socket asks of routing: nothing if it cannot be asked; `nil` if routes do not tell about it.
  private func routing() -> SocketRouting? {
    var routing: SocketRouting? = SocketRouting()
    #if os(Linux)
    withDescriptor { routing = SocketRouting(descriptor: $0) }
    #endif
    return routing
  }

  private func progress() -> SocketProgress? {
    var progress: SocketProgress?
    #if os(Linux)
    withDescriptor { progress = SocketProgress(descriptor: $0) }
    #endif
    return progress
  }

  /// Has the kernel probe the connection, or gives the socket its own settings back.
  private func setProbing(_ isOn: Bool) {
    #if os(Linux)
    if isOn == (keepalive != nil) { return }
    let settings = keepalive.take()
    withDescriptor { if let settings { settings.restore($0) } else { keepalive = KeepaliveSettings(probing: $0) } }
    #endif
  }

  #if os(Linux)
  /// Calls `body` with the connection's socket, if it has one: its own, or that of the connection it is a stream of.
  private func withDescriptor(_ body: (CInt) -> Void) {
    guard let channel = context?.channel else { return }
    let parent = channel.parent.flatMap { $0.eventLoop.inEventLoop ? $0 : nil }
    for channel in [channel, parent].compactMap({ $0 }) {
      do {
        let found: Void? = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
          of: NIOBSDSocket.Handle.self
        ) { body($0) }
        if found != nil { return }
      } catch {
        // The socket is closed: it says nothing any more.
        return
      }
    }
  }
  #endif
}

extension IPAddress {
  /// The address of a socket; `nil` for a Unix socket.
  package init?(_ address: SocketAddress) {
    // `size` bytes are there, as swift-nio promises.
    let found = unsafe address.withSockAddr { pointer, size in
      do throws(ReachabilityError) {
        return Optional(unsafe try IPAddress(socketAddress: UnsafeRawPointer(pointer), length: size))
      } catch {
        return nil
      }
    }
    guard let found else { return nil }
    self = found.unmapped
  }
}

extension Channel {
  /// Adds a ``PathHandler`` in front of all other handlers.
  ///
  /// Call it in a bootstrap's `channelInitializer`, or on a channel that is connected already. On the channel's event
  /// loop it adds the handler at once.
  ///
  /// A channel that has one already keeps it, and the registry it is counted in.
  ///
  /// - Parameter registry: Where the connection is counted, and whose policy it follows.
  /// - Returns: A future that succeeds once the handler is there.
  public func followPath(in registry: ConnectionRegistry = .shared) -> EventLoopFuture<Void> {
    let add = { @Sendable [self] in _ = try pipeline.syncOperations.pathHandler(registry) }
    return eventLoop.inEventLoop ? eventLoop.makeCompletedFuture(withResultOf: add) : eventLoop.submit(add)
  }
}

extension ChannelPipeline.SynchronousOperations {
  /// The handler that follows the channel's path, added if there is none: two of them would both set the socket.
  package func pathHandler(_ registry: ConnectionRegistry) throws -> PathHandler {
    if let present = present(PathHandler.self) { return present }
    let handler = PathHandler(registry)
    try addHandler(handler, position: .first)
    return handler
  }

  /// The handler of this type, if the channel has one.
  package func present<Handler: ChannelHandler>(_ type: Handler.Type) -> Handler? {
    do {
      return try handler(type: type)
    } catch {
      // It has none, or it is closing.
      return nil
    }
  }
}

/// What a client runs on each of its new channels.
package typealias ChannelInitializer = @Sendable (any Channel) -> EventLoopFuture<Void>

/// Runs `body` after what the client has already, on the channel's event loop.
package func initializer(
  after first: ChannelInitializer?, _ body: @escaping @Sendable (any Channel) throws -> Void
) -> ChannelInitializer {
  { channel in
    (first?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()).hop(to: channel.eventLoop)
      .flatMapThrowing { try body(channel) }
  }
}

@available(*, unavailable)
extension PathHandler: Sendable {}
#endif
