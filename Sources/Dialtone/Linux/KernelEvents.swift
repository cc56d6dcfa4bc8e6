// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Netlink

/// The socket on which the kernel announces changes.
final class KernelEvents {
  /// What is listened to. Each group has a case in linux.md of the project where nothing else tells of a change.
  private static let groups: [NetlinkGroup] = [
    .link, .ipv4Address, .ipv6Address, .ipv4Route, .ipv6Route, .ipv4Rule, .ipv6Rule, .ipv4Netconf, .ipv6Netconf,
    .nexthop,
  ]
  /// Longer than any announcement; a longer one counts as lost.
  private static let bufferSize = 32 * 1024

  private var socket: NetlinkSocket
  private let buffer = NetlinkBuffer(byteCount: KernelEvents.bufferSize)
  private var filter: KernelFilter?

  init() throws(NetlinkError) {
    socket = try NetlinkSocket(.route)
    for group in Self.groups { try socket.join(group) }
  }

  var descriptor: CInt { socket.descriptor }

  /// Datagrams that other processes sent, and that were dropped.
  var foreignCount: UInt64 { socket.foreignCount }

  /// Has the kernel announce only those routes whose prefix contains one of the destinations; all where it is `nil`.
  func announceRoutes(to destinations: [IPAddressBits]?) {
    let new = destinations.map { KernelFilter(destinations: $0) }
    if new == filter { return }
    do {
      if let new { try socket.attach(new) } else { socket.detachFilter() }
      filter = new
    } catch {
      // No memory for the filter: the one before would let too little through.
      socket.detachFilter()
      filter = nil
    }
  }

  /// Hands over every message that waits. Answers whether some were lost.
  func read(_ body: (NetlinkMessage, RawSpan) -> Void) -> Bool {
    var isIncomplete = false
    while true {
      do {
        switch try socket.receive(into: buffer) {
        case .empty: return isIncomplete
        case .foreign: continue
        case .overrun, .truncated: isIncomplete = true
        case .datagram(let count):
          let isWhole = buffer.withBytes(0..<count) { bytes in
            var cursor = NetlinkMessageCursor(count: count)
            do throws(NetlinkFormatError) {
              while let message = try cursor.next(in: bytes) { body(message, bytes) }
              return true
            } catch {
              return false
            }
          }
          if !isWhole { isIncomplete = true }
        }
      } catch {
        // A socket that cannot be read any more tells nothing: what it would have said is lost.
        return true
      }
    }
  }
}
#endif
