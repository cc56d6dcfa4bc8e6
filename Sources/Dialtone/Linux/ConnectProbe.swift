// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink
internal import Netlink

// Invariant: between two calls the socket is not connected, and so holds no route, no port and no interface: an AF_UNSPEC connect
// takes them all away (connect(2); __udp_disconnect, net/ipv4/datagram.c).

/// What connect(2) finds in IPv6 that no route query tells: which source it chooses without a route, and whether there is a way
/// from a source over one interface (with a source the query takes RTA_OIF for a preference).
///
/// Asked of a UDP socket, on which connect(2) sends nothing. It stays open, in the network namespace in which it was made.
final class ConnectProbe {
  enum Outcome {
    /// There is a way, for packets with this source.
    case connected(IPAddressBits)
    /// There is none, as connect(2) says.
    case refused(CInt)
    /// The socket could not be made such as the destination wants it.
    case unknown
  }

  private let descriptor: CInt
  /// Whether it was bound to an address, which stays until it is bound to another.
  private var isBound = false
  private var mark: UInt32 = 0

  /// - Returns: `nil` where there is no IPv6, or no descriptor left.
  init?() {
    descriptor = cnetlink_datagram_socket(AF_INET6)
    if descriptor < 0 { return nil }
  }

  deinit { _ = close(descriptor) }

  /// Connects as a program would whose socket has the destination's source, interface and mark.
  func connect(_ destination: KernelQueries.Destination) -> Outcome {
    defer { disconnect() }
    // SO_MARK needs CAP_NET_ADMIN or CAP_NET_RAW (socket(7)); SO_BINDTOIFINDEX none on a socket that is bound to nothing.
    if destination.mark != mark {
      guard set(SO_MARK, destination.mark) else { return .unknown }
      mark = destination.mark
    }
    if let output = destination.output, !set(SO_BINDTOIFINDEX, output) { return .unknown }
    if destination.source != nil || isBound {
      let source = IPAddress(destination.source ?? IPAddressBits(ipv6High: 0, low: 0))
      guard unsafe call(bind, source, port: 0, destination.output) == 0 else { return .unknown }
      isBound = destination.source != nil
    }
    let errno = unsafe call(CNetlink.connect, IPAddress(destination.address), port: destination.port, destination.output)
    switch errno {
    case 0: return localAddress().map(Outcome.connected) ?? .unknown
    // What route look-ups answer; anything else is for want of something else.
    case ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: return .refused(errno)
    default: return .unknown
    }
  }

  private func disconnect() {
    var nobody = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    // The pointer is to a whole sockaddr, whose size is given, and is used only during the call.
    _ = unsafe CNetlink.connect(descriptor, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
  }

  private func set(_ option: CInt, _ value: UInt32) -> Bool {
    var value = value
    // The pointer is to a whole integer, whose size is given, and is used only during the call.
    return unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<UInt32>.size)) == 0
  }

  /// Calls bind(2) or connect(2); the errno, or 0.
  private func call(
    _ function: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, _ address: IPAddress, port: UInt16,
    _ output: UInt32?
  ) -> CInt {
    guard var socketAddress = address.ipv6SocketAddress(port: port) else { return EAFNOSUPPORT }
    if address.isLinkLocal { socketAddress.sin6_scope_id = output ?? 0 }
    // The pointer is to a whole sockaddr_in6, whose size is given, and is used only during the call.
    let result = unsafe withUnsafePointer(to: &socketAddress) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
    return result == 0 ? 0 : cnetlink_errno()
  }

  private func localAddress() -> IPAddressBits? {
    var socketAddress = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // The pointer is to a whole sockaddr_in6, whose size is given, and is used only during the call.
    let result = unsafe withUnsafeMutablePointer(to: &socketAddress) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    return result == 0 ? IPAddress(socketAddress).bits : nil
  }
}
#endif
