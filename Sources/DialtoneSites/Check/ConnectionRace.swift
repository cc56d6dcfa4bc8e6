// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone
internal import NIOCore
internal import NIOPosix

/// Connects to the first of several addresses that lets it (RFC 8305, "happy eyeballs"): each has a quarter of a second before
/// the next is tried beside it, or until it fails; the first connection made wins, and all others are closed at once.
///
/// Belongs to its event loop. Ends once, by `end`, or by `cancel`, after which it says nothing more.
final class ConnectionRace {
  /// RFC 8305, 5: the Connection Attempt Delay that is recommended.
  static let attemptDelay = TimeAmount.milliseconds(250)

  private final class Attempt {
    let route: Route
    /// Whether it holds a permit of its own, beside the check's.
    let hasOwnPermit: Bool
    var channel: (any Channel)?

    init(_ route: Route, hasOwnPermit: Bool) {
      self.route = route
      self.hasOwnPermit = hasOwnPermit
    }
  }

  private let loop: any EventLoop
  private let port: UInt16
  private let interface: InlineName?
  private let permits: ConnectionPermits
  private let end: (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  private var waiting: ArraySlice<Route>
  private var attempts: [Attempt] = []
  private var nextAttempt: Scheduled<Void>?
  private var lastFailure: (error: SiteError, route: Route)?
  private var hasEnded = false

  /// - Parameters:
  ///   - routes: In the order in which to try them; at least one.
  ///   - interface: The only one that may be used.
  ///   - end: Called with the connection, or with why none could be made and what was tried last.
  init(
    _ routes: [Route], port: UInt16, interface: String?, permits: ConnectionPermits, _ loop: any EventLoop,
    end: @escaping (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  ) {
    waiting = routes[...]
    self.port = port
    // One that is no interface's name has had no path.
    self.interface = interface.flatMap { InlineName($0) }
    self.permits = permits
    self.loop = loop
    self.end = end
  }

  /// What is being tried, the latest last.
  var lastRoute: Route? { attempts.last?.route ?? lastFailure?.route }

  func start() { tryNext() }

  func cancel() {
    hasEnded = true
    nextAttempt?.cancel()
    for attempt in attempts { close(attempt) }
    attempts = []
  }

  private func close(_ attempt: Attempt) {
    attempt.channel?.close(promise: nil)
    if attempt.hasOwnPermit { permits.release() }
  }

  private func tryNext() {
    nextAttempt?.cancel()
    nextAttempt = nil
    // The first goes by the check's own permit; one beside it only where one is free.
    let needsPermit = attempts.contains { !$0.hasOwnPermit }
    if let route = waiting.first, !needsPermit || permits.acquireIfFree() {
      waiting.removeFirst()
      let attempt = Attempt(route, hasOwnPermit: needsPermit)
      attempts.append(attempt)
      connect(attempt)
    }
    // An attempt that failed at once has gone on by itself.
    if hasEnded || waiting.isEmpty || nextAttempt != nil { return }
    nextAttempt = loop.assumeIsolated().scheduleTask(in: Self.attemptDelay) { self.tryNext() }
  }

  private func connect(_ attempt: Attempt) {
    let bound = NIOLoopBound(attempt, eventLoop: loop)
    ClientBootstrap(group: loop)
      // The check's own deadline is the only one.
      .connectTimeout(.hours(24))
      .channelInitializer { [loop, interface] channel in
        bound.value.channel = channel
        return Self.bind(channel, to: interface, loop)
      }
      .connect(to: attempt.route.socketAddress(port: port))
      .assumeIsolated()
      .whenComplete { result in self.attempt(attempt, endedWith: result) }
  }

  /// Keeps a socket to one interface, which takes no privilege (socket(7), SO_BINDTODEVICE, since Linux 5.7).
  private static func bind(
    _ channel: any Channel, to interface: InlineName?, _ loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    guard let interface else { return loop.makeSucceededVoidFuture() }
    guard let options = channel as? any SocketOptionProvider else {
      preconditionFailure("A channel of ClientBootstrap's is a socket")
    }
    #if os(Linux)  // the option has another name, and takes an index, elsewhere
    // A name of at most 15 bytes in 16, the rest zero, as IFNAMSIZ wants it: the value is read and not kept.
    return options.unsafeSetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_BINDTODEVICE), value: interface)
    #else
    let index = unsafe if_nametoindex(interface.text)
    return options.setInterface(index)
    #endif
  }

  private func attempt(_ attempt: Attempt, endedWith result: Result<any Channel, any Error>) {
    guard let position = attempts.firstIndex(where: { $0 === attempt }) else { return }
    attempts.remove(at: position)
    switch result {
    case .success(let channel):
      nextAttempt?.cancel()
      if attempt.hasOwnPermit { permits.release() }
      for other in attempts { close(other) }
      attempts = []
      finish(.success((channel, attempt.route)), last: attempt.route)
    case .failure(let error):
      if attempt.hasOwnPermit { permits.release() }
      lastFailure = (SiteError(connecting: error), attempt.route)
      if !waiting.isEmpty { return tryNext() }
      if attempts.isEmpty, let lastFailure { finish(.failure(lastFailure.error), last: lastFailure.route) }
    }
  }

  private func finish(_ result: Result<(any Channel, Route), SiteError>, last: Route) {
    if hasEnded { return }
    hasEnded = true
    end(result, last)
  }
}
