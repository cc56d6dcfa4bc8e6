// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Asks connect(2) what no IPv6 route query tells: which source it chooses without a route, and whether there is a way
/// from a source over one interface. With a source, a query takes RTA_OIF for a preference.
///
/// Nothing is sent: a TCP socket holds back its first segment (TCP Fast Open, RFC 7413). If the kernel might not do
/// that, the sockets are UDP's, whose connect(2) sends nothing either; then rules by protocol are met as UDP.
///
/// Invariant: the kept socket is used only without source, interface and mark, since a socket keeps what it was once
/// bound to, even when it is disconnected. Every other question has a socket of its own.
final class ConnectProbe {
  enum Outcome {
    /// There is a way for packets with this source.
    case connected(IPAddressBits)
    /// There is none; this is the errno of connect(2).
    case refused(CInt)
    /// No socket could be made as the destination needs it.
    case unknown
    /// The system lacks descriptors or memory for now, or the thread is in another network namespace (EXDEV); this is
    /// the errno.
    case short(CInt)

    /// What an errno says that is no route lookup's.
    fileprivate init(other errno: CInt) {
      self = [EMFILE, ENFILE, ENOMEM, ENOBUFS, EXDEV].contains(errno) ? .short(errno) : .unknown
    }
  }

  /// Where its sockets are. A thread in another one makes none.
  let namespace = NetworkNamespace()
  private var kept: ProbeSocket?
  /// Whether TCP can be trusted to send nothing.
  private var isTCPSilent = false

  /// Whether the kernel never gives up Fast Open for a while after segments were lost, which it would do for the whole
  /// network namespace: then connect(2) sends. Since Linux 5.14 that is off unless somebody switches it on
  /// (tcp_fastopen_blackhole_timeout_sec, Documentation/networking/ip-sysctl.rst).
  private static var isTCPSilent: Bool {
    let path = "/proc/sys/net/ipv4/tcp_fastopen_blackhole_timeout_sec"
    // The path becomes a C string for the call.
    let file = OwnedDescriptor(unsafe csystem_open(path, O_RDONLY | O_CLOEXEC))
    var text = (UInt8(0), UInt8(0))
    // read(2) writes at most the two bytes.
    let count = unsafe read(file.rawValue, &text, 2)
    return count == 2 && text == (UInt8(ascii: "0"), UInt8(ascii: "\n"))
  }

  /// Connects as a program would with a socket that has the destination's source, interface and mark.
  func connect(_ destination: KernelQueries.Destination) -> Outcome {
    do throws(SystemError) {
      if !(kept?.owner.isOurs ?? false) {
        isTCPSilent = Self.isTCPSilent
        kept = try makeSocket(isTCPSilent ? .tcp : .udp)
      }
      return try ask(destination)
    } catch {
      return Outcome(other: error.errno)
    }
  }

  private func ask(_ destination: KernelQueries.Destination) throws(SystemError) -> Outcome {
    // TCP refuses multicast addresses with any routes. For them the question is whether a datagram can leave.
    let isDatagram = !isTCPSilent || IPAddress(destination.address).isMulticast
    let transport = isDatagram ? .udp : destination.transport
    let isKeptOne = transport == .tcp || !isTCPSilent
    if isKeptOne, destination.source == nil, destination.output == nil, destination.mark == 0 {
      return kept?.connect(destination) ?? .unknown
    }
    return try makeSocket(transport).connect(destination)
  }

  private func makeSocket(_ transport: ReachabilityConfiguration.Transport) throws(SystemError) -> ProbeSocket {
    if !namespace.isCurrent { throw SystemError("socket", errno: EXDEV) }
    return try ProbeSocket(transport)
  }
}

/// A socket whose connect(2) makes all lookups and sends nothing.
private struct ProbeSocket: ~Copyable {
  let owner: OwnedDescriptor

  init(_ transport: ReachabilityConfiguration.Transport) throws(SystemError) {
    if transport == .tcp, let owner = Self.silentStream() {
      self.owner = owner
      return
    }
    let descriptor = csystem_datagram_socket(AF_INET6)
    if descriptor < 0 { throw SystemError("socket") }
    owner = OwnedDescriptor(descriptor)
  }

  /// Returns a TCP socket that holds back its first segment until there is data to go with it (TCP Fast Open, RFC 7413;
  /// tcp(7)). Returns `nil` if the system does not do that; then a datagram socket is used instead.
  private static func silentStream() -> OwnedDescriptor? {
    let descriptor = csystem_stream_socket(AF_INET6)
    if descriptor < 0 { return nil }
    let owner = OwnedDescriptor(descriptor)
    guard set(descriptor, CInt(IPPROTO_TCP), TCP_FASTOPEN_CONNECT, 1),
      set(descriptor, CInt(IPPROTO_TCP), CInt(CSYSTEM_TCP_FASTOPEN_NO_COOKIE), 1)
    else { return nil }
    return owner
  }

  func connect(_ destination: KernelQueries.Destination) -> ConnectProbe.Outcome {
    // SO_MARK needs CAP_NET_ADMIN or CAP_NET_RAW (socket(7)). SO_BINDTOIFINDEX needs none on a socket that is not
    // bound.
    if destination.mark != 0, !Self.set(owner.rawValue, SOL_SOCKET, SO_MARK, destination.mark) { return .unknown }
    if let output = destination.output, !Self.set(owner.rawValue, SOL_SOCKET, SO_BINDTOIFINDEX, output) {
      return .unknown
    }
    if let source = destination.source,
      unsafe call(bind, IPAddress(source), port: 0, destination.output) != 0
    {
      return .unknown
    }
    defer { disconnect() }
    let errno = unsafe call(
      CDialtoneSystem.connect, IPAddress(destination.address), port: destination.port, destination.output)
    switch errno {
    case 0, EINPROGRESS: return localAddress().map(ConnectProbe.Outcome.connected) ?? .unknown
    // The errors of route lookups; all others have another cause.
    case ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: return .refused(errno)
    default: return ConnectProbe.Outcome(other: errno)
    }
  }

  private func disconnect() {
    var nobody = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    // The pointer is to a whole sockaddr, whose size is given, and is used only during the call (connect(2)).
    _ = unsafe CDialtoneSystem.connect(owner.rawValue, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
  }

  private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: UInt32) -> Bool {
    var value = value
    // The pointer is to a whole integer, whose size is given, and is used only during the call.
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<UInt32>.size)) == 0
  }

  /// Calls bind(2) or connect(2). Returns the errno, or 0.
  private func call(
    _ function: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, _ address: IPAddress, port: UInt16,
    _ output: UInt32?
  ) -> CInt {
    guard var socketAddress = address.ipv6SocketAddress(port: port) else { return EAFNOSUPPORT }
    if address.isLinkLocal { socketAddress.sin6_scope_id = output ?? 0 }
    // The pointer is to a whole sockaddr_in6, whose size is given, and is used only during the call.
    let result = unsafe withUnsafePointer(to: &socketAddress) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe function(owner.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
    return result == 0 ? 0 : csystem_errno()
  }

  private func localAddress() -> IPAddressBits? {
    var socketAddress = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // The pointer is to a whole sockaddr_in6, whose size is given, and is used only during the call.
    let result = unsafe withUnsafeMutablePointer(to: &socketAddress) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(owner.rawValue, $0, &length)
      }
    }
    return result == 0 ? IPAddress(socketAddress).bits : nil
  }
}
#endif
