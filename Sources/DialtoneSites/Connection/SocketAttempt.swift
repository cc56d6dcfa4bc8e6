// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOCore
internal import NIOPosix

/// An attempt to connect to one address. Belongs to its event loop.
protocol ConnectionAttempt: AnyObject {
  var route: Route { get }
  /// Begins. `end` gets the connection, or why there is none; after `close`, it makes no difference.
  func start(_ end: @escaping (Result<any Channel, SiteError>) -> Void)
  /// Gives it up, with its connection if there is one.
  func close()
}

final class SocketAttempt: ConnectionAttempt {
  let route: Route
  private let port: UInt16
  private let configuration: SiteCheckConfiguration
  private let loop: any EventLoop
  private var channel: (any Channel)?
  #if os(Linux)  // error queues are Linux's
  private var refusal: RefusalReader?
  #endif

  init(_ route: Route, port: UInt16, _ configuration: SiteCheckConfiguration, _ loop: any EventLoop) {
    self.route = route
    self.port = port
    self.configuration = configuration
    self.loop = loop
  }

  func start(_ end: @escaping (Result<any Channel, SiteError>) -> Void) {
    let bound = NIOLoopBound(self, eventLoop: loop)
    let device = configuration.interface.map { Self.device($0, of: route) }
    ClientBootstrap(group: loop)
      // The check's own deadline is the only one.
      .connectTimeout(.hours(24))
      .channelInitializer { [loop, maximumSegment = configuration.maximumSegment] channel in
        bound.value.channel = channel
        do {
          try channel.withSocket { socket in
            try Self.closeOnExec(socket)
            try Self.limitSegments(of: socket, to: maximumSegment)
            bound.value.watchRefusals(of: socket)
          }
        } catch {
          return loop.makeFailedFuture(error)
        }
        return Self.bind(channel, to: device, of: bound.value.route.address.unmapped.family, loop)
      }
      .connect(to: route.socketAddress(port: port))
      .assumeIsolated()
      .whenComplete { result in
        let refusal = self.takeRefusal()
        end(
          result.mapError { error in
            var error = SiteError(connecting: error, words: refusal?.words)
            error.sender = refusal?.sender
            return error
          })
      }
  }

  func close() {
    _ = takeRefusal()
    channel?.close(promise: nil)
  }

  /// Has the system record who refuses this attempt.
  private func watchRefusals(of socket: NIOBSDSocket.Handle) {
    #if os(Linux)
    refusal = RefusalReader(socket, route.address.unmapped.family)
    #endif
  }

  /// Ends the record. Returns who refused, also in words; `nil` if that is not known.
  private func takeRefusal() -> (sender: SiteError.Sender, words: String)? {
    #if os(Linux)
    defer { refusal = nil }
    return refusal?.refusal().map { ($0.sender(gateway: route.gateway), $0.words(gateway: route.gateway)) }
    #else
    return nil
    #endif
  }

  /// Keeps a socket from programs that this process starts meanwhile: they would hold the connection open. NIO does
  /// not. This is as good as socket(2)'s SOCK_CLOEXEC, except for a program that another thread starts just between the
  /// two calls.
  private static func closeOnExec(_ socket: NIOBSDSocket.Handle) throws {
    if csystem_close_on_exec(socket) != 0 { throw IOError(errnoCode: csystem_errno(), reason: "close-on-exec") }
  }

  /// Has both sides send small segments alone (tcp(7), TCP_MAXSEG).
  private static func limitSegments(of socket: NIOBSDSocket.Handle, to size: Int?) throws {
    #if os(Linux)  // diagnoses are Linux's
    guard let size else { return }
    let errno = csystem_limit_segments(socket, CInt(size))
    if errno != 0 { throw IOError(errnoCode: errno, reason: "TCP_MAXSEG") }
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
      try channel.withSocket { socket in
        let result = csystem_bind_to_interface(socket, family == .ipv4 ? AF_INET : AF_INET6, index)
        if result != 0 { throw IOError(errnoCode: csystem_errno(), reason: "IP_BOUND_IF") }
      }
    }
    #endif
  }
}

extension Route {
  func socketAddress(port: UInt16) -> SocketAddress {
    let address = address.unmapped
    if let v4 = address.ipv4SocketAddress(port: port) { return SocketAddress(v4) }
    guard let v6 = address.ipv6SocketAddress(port: port) else {
      preconditionFailure("An address has one of two families")
    }
    return SocketAddress(v6)
  }
}
