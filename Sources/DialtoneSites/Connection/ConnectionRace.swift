// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOCore
internal import NIOPosix

/// Connects to the first of several addresses that lets it (RFC 8305, "happy eyeballs").
///
/// Each has a quarter of a second before the next is tried beside it, or until it fails. The first connection made
/// wins, and all others are closed at once. At most four are tried at a time: a fifth takes the place of the oldest,
/// which has had a second. More addresses may come meanwhile: until `close`, the race does not fail for lack of any.
///
/// Belongs to its event loop. It ends once, by `end` or by `cancel`, and says nothing after that.
final class ConnectionRace {
  /// RFC 8305, 5: the recommended Connection Attempt Delay.
  static let attemptDelay = TimeAmount.milliseconds(250)
  private static let maximumAttempts = 4

  private final class Attempt {
    let route: Route
    var channel: (any Channel)?
    #if os(Linux)  // error queues are Linux's
    private var refusal: RefusalReader?
    #endif

    init(_ route: Route) { self.route = route }

    /// Has the system record who refuses this attempt.
    func watchRefusals() throws {
      #if os(Linux)
      try channel?.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        refusal = RefusalReader(socket, route.address.unmapped.family)
      }
      #endif
    }

    /// Ends the attempt. Returns who refused, in words; `nil` if that is not known.
    func end() -> String? {
      #if os(Linux)
      defer { refusal = nil }
      return refusal?.refusal()?.words(gateway: route.gateway)
      #else
      return nil
      #endif
    }

    /// Gives the attempt up.
    func close() {
      _ = end()
      channel?.close(promise: nil)
    }
  }

  private let loop: any EventLoop
  private let port: UInt16
  private let interface: String?
  private let maximumSegment: Int?
  private let end: (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  private var waiting: ArraySlice<Route>
  private var attempts: [Attempt] = []
  private var nextAttempt: Scheduled<Void>?
  private var lastStart: NIODeadline
  /// Whether more addresses may come.
  private var isOpen: Bool
  private var lastFailure: (error: SiteError, route: Route)?
  private var hasEnded = false

  /// Tries `routes`, of which there is at least one, in their order; over `interface` alone if it is given. With
  /// `isOpen`, more may be added until `close`. `end` gets the connection, or why none could be made, and what was
  /// tried last.
  init(
    _ routes: [Route], isOpen: Bool, port: UInt16, interface: String?, maximumSegment: Int? = nil,
    _ loop: any EventLoop,
    end: @escaping (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  ) {
    waiting = routes[...]
    self.isOpen = isOpen
    self.port = port
    self.interface = interface
    self.maximumSegment = maximumSegment
    self.loop = loop
    lastStart = loop.now
    self.end = end
  }

  /// The route that was tried last.
  var lastRoute: Route? { attempts.last?.route ?? lastFailure?.route }

  func start() { tryNext() }

  /// Tries these, too. Their families take turns with those that wait, and with what was tried last.
  func add(_ routes: [Route]) {
    if hasEnded || routes.isEmpty { return }
    let last = lastRoute?.address.unmapped.family
    waiting = AddressOrder.interleaved(waiting + routes, after: last) { $0.address.unmapped.family }[...]
    if nextAttempt != nil { return }
    tryNext(in: attempts.isEmpty ? .zero : max(.zero, lastStart + Self.attemptDelay - loop.now))
  }

  /// No more routes will be added.
  func close() {
    isOpen = false
    failIfNoneIsLeft()
  }

  func cancel() {
    hasEnded = true
    nextAttempt?.cancel()
    closeAll()
  }

  private func closeAll() {
    // Forgotten first: closing ends an attempt, and an attempt that ends after that changes nothing.
    let losers = attempts
    attempts = []
    for attempt in losers { attempt.close() }
  }

  private func tryNext() {
    nextAttempt?.cancel()
    nextAttempt = nil
    if attempts.count == Self.maximumAttempts { attempts.removeFirst().close() }
    if let route = waiting.popFirst() {
      lastStart = loop.now
      let attempt = Attempt(route)
      attempts.append(attempt)
      connect(attempt)
    }
    // An attempt that failed at once has brought the next one forward.
    if hasEnded || waiting.isEmpty || nextAttempt != nil { return }
    tryNext(in: Self.attemptDelay)
  }

  private func tryNext(in delay: TimeAmount) {
    nextAttempt?.cancel()
    nextAttempt = loop.assumeIsolated().scheduleTask(in: delay) { self.tryNext() }
  }

  private func connect(_ attempt: Attempt) {
    let bound = NIOLoopBound(attempt, eventLoop: loop)
    let device = interface.map { Self.device($0, of: attempt.route) }
    ClientBootstrap(group: loop)
      // The check's own deadline is the only one.
      .connectTimeout(.hours(24))
      .channelInitializer { [loop, maximumSegment] channel in
        bound.value.channel = channel
        do {
          try Self.closeOnExec(channel)
          try Self.limitSegments(of: channel, to: maximumSegment)
          try bound.value.watchRefusals()
        } catch {
          return loop.makeFailedFuture(error)
        }
        return Self.bind(channel, to: device, of: bound.value.route.address.unmapped.family, loop)
      }
      .connect(to: attempt.route.socketAddress(port: port))
      .assumeIsolated()
      .whenComplete { result in self.attempt(attempt, endedWith: result) }
  }

  /// Keeps a socket from programs that this process starts meanwhile: they would hold the connection open. NIO does
  /// not. This is as good as socket(2)'s SOCK_CLOEXEC, except for a program that another thread starts just between the
  /// two calls.
  private static func closeOnExec(_ channel: any Channel) throws {
    try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
      let result = csystem_close_on_exec(socket)
      if result != 0 { throw IOError(errnoCode: csystem_errno(), reason: "close-on-exec") }
    }
  }

  /// Has both sides send small segments alone (tcp(7), TCP_MAXSEG).
  private static func limitSegments(of channel: any Channel, to size: Int?) throws {
    #if os(Linux)  // diagnoses are Linux's
    guard let size else { return }
    try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
      let errno = csystem_limit_segments(socket, CInt(size))
      if errno != 0 { throw IOError(errnoCode: errno, reason: "TCP_MAXSEG") }
    }
    #endif
  }

  /// The name to bind to, of at most 15 bytes. A longer one can only be an alternative name, which the option does not
  /// take (IFNAMSIZ). The path has the interface's own name.
  private static func device(_ interface: String, of route: Route) -> InlineName {
    if InlineName(interface) == nil, let own = route.interface { return own.inlineName }
    // Binding to an empty name would lift the restriction (socket(7)). Such a name has no path, unless the system does
    // not say.
    return InlineName(ofOnlyInterface: interface)
  }

  /// Keeps a socket to one interface, which needs no privilege (socket(7), SO_BINDTODEVICE, since Linux 5.7).
  private static func bind(
    _ channel: any Channel, to device: InlineName?, of family: IPAddress.Family, _ loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    guard let device else { return loop.makeSucceededVoidFuture() }
    #if os(Linux)  // the option has another name, and takes an index, elsewhere
    guard let options = channel as? any SocketOptionProvider else {
      preconditionFailure("A channel of ClientBootstrap's is a socket")
    }
    // At most 15 bytes of name in 16, the rest zero, as IFNAMSIZ wants it. The value is read and not kept.
    return options.unsafeSetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_BINDTODEVICE), value: device)
    #else
    // The name is read and not kept.
    let index = unsafe if_nametoindex(device.text)
    return loop.makeCompletedFuture {
      // 0 would lift the restriction.
      if index == 0 { throw IOError(errnoCode: ENXIO, reason: "no interface \(device.text)") }
      try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        let result = csystem_bind_to_interface(socket, family == .ipv4 ? AF_INET : AF_INET6, index)
        if result != 0 { throw IOError(errnoCode: csystem_errno(), reason: "IP_BOUND_IF") }
      }
    }
    #endif
  }

  private func attempt(_ attempt: Attempt, endedWith result: Result<any Channel, any Error>) {
    let refusal = attempt.end()
    guard let position = attempts.firstIndex(where: { $0 === attempt }) else { return }
    attempts.remove(at: position)
    switch result {
    case .success(let channel):
      nextAttempt?.cancel()
      closeAll()
      finish(.success((channel, attempt.route)), last: attempt.route)
    case .failure(let error):
      lastFailure = (SiteError(connecting: error, words: refusal), attempt.route)
      // On the loop: attempts that fail at once would otherwise nest.
      if !waiting.isEmpty { return tryNext(in: .zero) }
      failIfNoneIsLeft()
    }
  }

  private func failIfNoneIsLeft() {
    guard !isOpen, waiting.isEmpty, attempts.isEmpty, let lastFailure else { return }
    finish(.failure(lastFailure.error), last: lastFailure.route)
  }

  private func finish(_ result: Result<(any Channel, Route), SiteError>, last: Route) {
    if hasEnded { return }
    hasEnded = true
    end(result, last)
  }
}

extension Route {
  /// The address as the system takes it.
  func socketAddress(port: UInt16) -> SocketAddress {
    let address = address.unmapped
    if let v4 = address.ipv4SocketAddress(port: port) { return SocketAddress(v4) }
    guard let v6 = address.ipv6SocketAddress(port: port) else {
      preconditionFailure("An address has one of two families")
    }
    return SocketAddress(v6)
  }
}
