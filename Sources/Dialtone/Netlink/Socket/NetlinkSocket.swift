// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem

#if os(Linux)
internal import Synchronization

// Invariant: bytes are handed on only if the SENDER's address has port 0, the kernel's. The port in a message's header
// proves nothing, because the sender writes it. The socket is bound before it joins a group: bind(2) forgets the groups
// joined.

/// A netlink socket: non-blocking, closed on exec, and closed when its owner goes.
package struct NetlinkSocket: ~Copyable, Sendable {
  /// How often an interrupted call is made again. Calls that do not wait are hardly ever interrupted; where something
  /// interrupts every call, as a tracer can, the caller must not be held for ever.
  private static let interruptionLimit = 100
  /// How many datagrams one call can receive.
  package static let datagramLimit = 16

  private let owner: OwnedDescriptor
  /// How many datagrams of other processes were dropped. Atomic, so that receiving does not change the socket, and its
  /// owners need no check that nobody else uses it meanwhile.
  private let droppedCount = Atomic<UInt64>(0)
  /// Whether the kernel honours the filters in requests (`NETLINK_GET_STRICT_CHK`, since Linux 4.20).
  let checksStrictly: Bool

  /// How many datagrams of other processes were dropped.
  package var foreignCount: UInt64 { droppedCount.load(ordering: .relaxed) }

  /// For poll(2) and epoll(7). Valid as long as the socket.
  package var descriptor: Int32 { owner.rawValue }

  /// Whether the descriptor is still this socket. Other code may have closed it, and the number may be another file's.
  package var isOpen: Bool { owner.isOurs }

  /// The same at a lower price; see ``OwnedDescriptor/isMarkedAsOurs``.
  package var isMarkedOpen: Bool { owner.isMarkedAsOurs }

  /// Opens a socket.
  ///
  /// - Parameters:
  ///   - kind: what to talk to.
  ///   - receiveBuffer: how many bytes the kernel may keep waiting. Without a privilege it grants at most
  ///     /proc/sys/net/core/rmem_max.
  /// - Throws: ``NetlinkError/Code/socketRefused`` or ``NetlinkError/Code/bindRefused``.
  package init(_ kind: NetlinkProtocol, receiveBuffer: Int32 = 1 << 20) throws(NetlinkError) {
    owner = try Self.open(kind)
    let descriptor = owner.rawValue
    // SO_RCVBUFFORCE needs CAP_NET_ADMIN; SO_RCVBUF cuts to the limit instead of failing.
    if !Self.set(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, receiveBuffer) {
      _ = Self.set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer)
    }
    // Old kernels lack these. The answers are then less precise, and nothing else changes.
    _ = Self.set(descriptor, SOL_NETLINK, NETLINK_EXT_ACK, 1)
    _ = Self.set(descriptor, SOL_NETLINK, NETLINK_CAP_ACK, 1)
    checksStrictly = Self.set(descriptor, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1)
    // NETLINK_NO_ENOBUFS stays off: it would hide that messages were lost.
  }

  private static func open(_ kind: NetlinkProtocol) throws(NetlinkError) -> OwnedDescriptor {
    let descriptor = csystem_socket(kind.rawValue)
    guard descriptor >= 0 else {
      throw NetlinkError(.socketRefused, errno: csystem_errno(), operation: "open a netlink socket")
    }
    let owner = OwnedDescriptor(descriptor)
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    // SAFETY: the pointer is to a whole sockaddr_nl, whose size is given, and is used only during the call.
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
      }
    }
    guard bound == 0 else {
      throw NetlinkError(.bindRefused, errno: csystem_errno(), operation: "bind a netlink socket")
    }
    return owner
  }

  /// Subscribes to a group's messages.
  package func join(_ group: NetlinkGroup) throws(NetlinkError) {
    guard Self.set(descriptor, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, Int32(bitPattern: group.rawValue)) else {
      throw NetlinkError(
        .membershipRefused, errno: csystem_errno(), operation: "join netlink group \(group.rawValue)")
    }
  }

  package func leave(_ group: NetlinkGroup) {
    // Fails only if there is no subscription, which is what is wanted.
    _ = Self.set(descriptor, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, Int32(bitPattern: group.rawValue))
  }

  /// Lets in only the datagrams that a filter accepts, in place of an earlier filter's. Those already waiting stay.
  package func attach(_ filter: KernelFilter) throws(NetlinkError) {
    var program = filter.instructions.map {
      sock_filter(code: $0.code, jt: $0.ifTrue, jf: $0.ifFalse, k: $0.operand)
    }
    let result = unsafe program.withUnsafeMutableBufferPointer { buffer in
      var description = unsafe sock_fprog(len: UInt16(clamping: buffer.count), filter: buffer.baseAddress)
      // SAFETY: the kernel copies the program during the call, for which both pointers are valid.
      return unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &description, socklen_t(MemoryLayout<sock_fprog>.size))
    }
    guard result == 0 else {
      throw NetlinkError(.filterRefused, errno: csystem_errno(), operation: "attach a filter to a netlink socket")
    }
  }

  /// Lets everything in again.
  package func detachFilter() {
    // Fails only if no filter is attached, which is what is wanted.
    _ = Self.set(descriptor, SOL_SOCKET, SO_DETACH_FILTER, 0)
  }

  /// Sends requests to the kernel, which answers them before this returns.
  ///
  /// - Throws: With EBADF if the descriptor is no longer this socket. The file that now has its number is not written
  ///   to.
  package func send(_ bytes: RawSpan) throws(NetlinkError) {
    guard isMarkedOpen else { throw NetlinkError(.sendFailed, errno: EBADF, operation: "send to the kernel") }
    for _ in 0..<Self.interruptionLimit {
      // SAFETY: the pointer and its count come from one span and are used only during the call.
      let sent = unsafe bytes.withUnsafeBytes { unsafe CDialtoneSystem.send(descriptor, $0.baseAddress, $0.count, 0) }
      if sent >= 0 { return }
      let errno = csystem_errno()
      if errno != EINTR { throw NetlinkError(.sendFailed, errno: errno, operation: "send to the kernel") }
    }
    throw NetlinkError(.sendFailed, errno: EINTR, operation: "send to the kernel")
  }

  /// Receives one datagram, without waiting.
  package func receive(into buffer: borrowing NetlinkBuffer) throws(NetlinkError) -> NetlinkReception {
    var found = NetlinkReception.empty
    return try receive(into: buffer, slots: 1, of: buffer.byteCount) { _, datagram in found = datagram } == nil
      ? .overrun : found
  }

  /// Receives up to `count` datagrams with one system call, without waiting, each into a slot of its own of the buffer.
  ///
  /// - Parameters:
  ///   - buffer: has room for all slots.
  ///   - count: at most 16.
  ///   - size: that of a slot, in bytes.
  ///   - body: gets what became of each, and where its slot starts.
  /// - Throws: ``NetlinkError/Code/receiveFailed``.
  /// - Returns: how many there were; `nil` for an overrun. Fewer than `count`: nothing waited any more, and an error
  ///   after the last one is told by the next call (recvmmsg(2)).
  package func receive(
    into buffer: borrowing NetlinkBuffer, slots count: Int, of size: Int,
    _ body: (_ start: Int, _ found: NetlinkReception) -> Void
  ) throws(NetlinkError) -> Int? {
    var datagrams = [16 of csystem_datagram](repeating: csystem_datagram())
    precondition(count <= datagrams.count && size * count <= buffer.byteCount)
    for _ in 0..<Self.interruptionLimit {
      // SAFETY: the precondition keeps all slots inside the buffer, and `count` inside the array.
      let received = unsafe buffer.withUnsafeMemory { memory -> Int32 in
        guard let base = memory.baseAddress else { return 0 }
        return unsafe withUnsafeMutablePointer(to: &datagrams) {
          let first = unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: csystem_datagram.self)
          return unsafe csystem_receive(descriptor, base, size, first, UInt32(count))
        }
      }
      if received >= 0 {
        for slot in 0..<Int(received) { body(slot * size, judge(datagrams[slot])) }
        return Int(received)
      }
      switch csystem_errno() {
      case EINTR: continue
      case EAGAIN: return 0
      case ENOBUFS: return nil
      case let errno: throw NetlinkError(.receiveFailed, errno: errno, operation: "receive from the kernel")
      }
    }
    throw NetlinkError(.receiveFailed, errno: EINTR, operation: "receive from the kernel")
  }

  /// Classifies a received datagram, and counts those of other processes.
  func judge(_ datagram: csystem_datagram) -> NetlinkReception {
    if datagram.sender != 0 {
      droppedCount.wrappingAdd(1, ordering: .relaxed)
      return .foreign
    }
    if datagram.flags & Int32(MSG_TRUNC) != 0 { return .truncated }
    return .datagram(Int(datagram.length))
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
    var value = value
    // SAFETY: the pointer is to a whole Int32, whose size is given, and is used only during the call.
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }
}

/// What a netlink socket talks to (linux/netlink.h).
package struct NetlinkProtocol: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Links, addresses, routes, rules: rtnetlink(7).
  package static let route = Self(rawValue: 0)
  /// Families numbered when the kernel starts, nl80211 among them.
  package static let generic = Self(rawValue: 16)
}

/// What one attempt to receive found.
package enum NetlinkReception: Hashable, Sendable {
  /// A datagram from the kernel, of this many bytes, at the start of the buffer.
  case datagram(Int)
  /// Nothing is waiting (`EAGAIN`).
  case empty
  /// The kernel had to drop messages (`ENOBUFS`): what was known of its state may be wrong now. It is reported once a
  /// burst. The messages that were kept follow.
  case overrun
  /// A datagram did not fit into the buffer (`MSG_TRUNC`): as good as dropped.
  case truncated
  /// A datagram from another process, dropped and counted. Anyone may write to a netlink socket. Only the sender's
  /// address tells the kernel from the others, never the header.
  case foreign
}
#endif

/// A multicast group of rtnetlink (`enum rtnetlink_groups`, linux/rtnetlink.h).
package struct NetlinkGroup: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let link = Self(rawValue: 1)
  package static let neighbour = Self(rawValue: 3)
  package static let ipv4Address = Self(rawValue: 5)
  package static let ipv4Route = Self(rawValue: 7)
  package static let ipv4Rule = Self(rawValue: 8)
  package static let ipv6Address = Self(rawValue: 9)
  package static let ipv6Route = Self(rawValue: 11)
  /// The prefixes of router advertisements, and what else they have for programs (RTNLGRP_ND_USEROPT).
  package static let ipv6Prefix = Self(rawValue: 18)
  package static let ipv6Rule = Self(rawValue: 19)
  package static let neighbourDiscoveryOption = Self(rawValue: 20)
  package static let ipv4Netconf = Self(rawValue: 24)
  package static let ipv6Netconf = Self(rawValue: 25)
  package static let nexthop = Self(rawValue: 32)

}
