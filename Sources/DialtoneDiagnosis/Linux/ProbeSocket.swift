// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// A socket that is connected to one address, for one probe. It does not block. Belongs to one thread.
final class ProbeSocket {
  private let owner: OwnedDescriptor
  let address: IPAddress
  /// What socket(2) or connect(2) said; 0 or EINPROGRESS if it goes on.
  let start: CInt
  /// The two ends of what it sends; `nil` if it has no port of its own.
  let flow: PacketRecord.Flow?
  /// How many routers the last datagram could still have passed; 0 if that is not known.
  private(set) var hopsLeft: CInt = 0

  /// Begins to connect over TCP if it `isStream`, else UDP, by `interface` alone if it is given. Its packets pass at
  /// most `hops` routers, and what comes counts only if it could have passed `leastHops` more, if that is given.
  init(
    _ address: IPAddress, port: UInt16, isStream: Bool, interface: UInt32?, hops: CInt? = nil, leastHops: CInt? = nil
  ) {
    let address = address.unmapped
    let family = address.family == .ipv6 ? AF_INET6 : AF_INET
    let descriptor = csystem_probe_socket(family, isStream ? 1 : 0)
    let errno = csystem_errno()
    owner = OwnedDescriptor(descriptor)
    self.address = address
    if descriptor < 0 {
      start = errno
      flow = nil
      return
    }
    // if_nametoindex(3) reads the name and keeps nothing.
    let scope = address.zone.map { zone in unsafe UInt32(zone) ?? if_nametoindex(zone) }
    let limits = family == AF_INET6 ? (IPV6_UNICAST_HOPS, IPV6_MINHOPCOUNT) : (IP_TTL, IP_MINTTL)
    for (name, value) in [(limits.0, hops), (limits.1, leastHops)] {
      guard var value else { continue }
      // IPPROTO_IPV6 and IPPROTO_IP. The call reads the number.
      _ = unsafe setsockopt(descriptor, family == AF_INET6 ? 41 : 0, name, &value, socklen_t(MemoryLayout<CInt>.size))
    }
    if let interface { _ = csystem_bind_to_interface(descriptor, family, interface) }
    // The call reads as many bytes as the family has.
    start = unsafe csystem_connect(descriptor, family, address.networkBytes, port, scope ?? interface ?? 0)
    // At once: what failed gives its port back.
    flow = Self.endpoints(descriptor, address, port).map { PacketRecord.Flow(endpoints: $0, isStream: isStream) }
  }

  private static func endpoints(_ descriptor: CInt, _ peer: IPAddress, _ port: UInt16) -> ObservedPacket.Endpoints? {
    var local = [UInt8](repeating: 0, count: 16)
    var localPort: UInt16 = 0
    // The call writes at most 16 bytes and the port.
    let count = unsafe csystem_local_endpoint(descriptor, &local, &localPort)
    var reader = NetworkByteReader(local[...])
    guard count > 0, localPort != 0, let source = reader.address(isIPv6: count == 16) else { return nil }
    return ObservedPacket.Endpoints(
      source: source, sourcePort: localPort, destination: peer.bits, destinationPort: port)
  }

  /// Negative if the system gave none.
  var descriptor: CInt { owner.rawValue }

  /// Sends a datagram. Returns 0, or the errno.
  func send(_ bytes: [UInt8]) -> CInt {
    // The call reads as many bytes as it is told.
    let result = unsafe bytes.withUnsafeBytes { buffer in
      unsafe CDialtoneSystem.send(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
    }
    return result >= 0 ? 0 : csystem_errno()
  }

  /// Receives a datagram; `nil` if there is none.
  func receive() -> [UInt8]? {
    var result = -1
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      // The call writes at most as many bytes as it is told there is room for, and one number.
      result = unsafe csystem_receive_probe(descriptor, start, buffer.count, &hopsLeft)
      count = max(0, result)
    }
    return result >= 0 ? bytes : nil
  }

  /// Why it failed; 0 if it did not, or only after the connection had been made. Asking takes the error away.
  func takeError() -> CInt {
    let errno = csystem_socket_error(descriptor)
    return [ECONNRESET, EPIPE].contains(errno) ? 0 : errno
  }

  var isConnected: Bool { csystem_is_connected(descriptor) != 0 }

  func takeRefusal() -> ConnectionRefusal? { ConnectionRefusal(takenFrom: descriptor) }
}

/// How long a diagnosis may take, and whether it is still wanted. For any thread.
final class Patience: Sendable {
  private let end: Int64
  /// Readable once the diagnosis is cancelled.
  private let wake: OwnedDescriptor

  /// - Parameter end: When the time is up, in nanoseconds of the system's clock.
  init(until end: Int64) {
    self.end = end
    wake = OwnedDescriptor(eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
  }

  func cancel() { _ = eventfd_write(wake.rawValue, 1) }

  /// Nanoseconds until the time is up; never negative.
  var rest: Int64 { max(0, end - TimeSource.system.now()) }
  /// Whether the time is up, or the diagnosis cancelled.
  var isOver: Bool { rest == 0 || wait([], until: 0) == nil }

  /// A time of the system's clock that is this many milliseconds away, or the end.
  func moment(in milliseconds: Int64) -> Int64 {
    min(end, TimeSource.system.now().addingClamped(milliseconds * 1_000_000))
  }

  /// Sleeps until a descriptor is readable, writable if that is wanted, or has an error, or until a time. `nil` if the
  /// diagnosis is cancelled.
  func wait(_ descriptors: [(CInt, wantsWriting: Bool)], until deadline: Int64) -> [(position: Int, hasError: Bool)]? {
    var list = descriptors.map { descriptor, wantsWriting in
      pollfd(fd: descriptor, events: Int16(POLLIN) | (wantsWriting ? Int16(POLLOUT) : 0), revents: 0)
    }
    list.append(pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0))
    let pause = max(0, deadline - TimeSource.system.now())
    // Rounded up: it would otherwise wake a little too soon, again and again.
    let milliseconds = CInt(clamping: pause / 1_000_000 + (pause > 0 ? 1 : 0))
    // The call fills in the events of as many entries as it is told: none if the time is over, or a signal has come.
    _ = unsafe poll(&list, nfds_t(list.count), milliseconds)
    if list.removeLast().revents != 0 { return nil }
    return list.enumerated().filter { $0.element.revents != 0 }.map { position, entry in
      (position, CInt(entry.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0)
    }
  }
}
#endif
