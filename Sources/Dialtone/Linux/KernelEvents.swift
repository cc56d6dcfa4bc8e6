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
  /// So many datagrams are read at a time.
  private static let datagramLimit = 4096

  private var socket: NetlinkSocket
  private let buffer = NetlinkBuffer(byteCount: KernelEvents.bufferSize)
  private var filter: KernelFilter?
  /// The destinations to which routes are announced; `nil` for all.
  private var destinations: [IPAddressBits]?
  private var gateways: [KernelFilter.Gateway] = []
  /// Whether announcements were lost that nobody has been told of.
  private var wasIncomplete = false

  init() throws(NetlinkError) {
    socket = try NetlinkSocket(.route)
    for group in Self.groups { try socket.join(group) }
  }

  var descriptor: CInt { socket.descriptor }

  /// Datagrams that other processes sent, and that were dropped.
  var foreignCount: UInt64 { socket.foreignCount }

  /// Has the kernel announce only those routes whose prefix contains one of the destinations; all where it is `nil`.
  func announceRoutes(to destinations: [IPAddressBits]?) {
    self.destinations = destinations
    applyFilter()
  }

  /// Has the kernel announce when one of these gateways begins to count as failed, or ends to, as opposed to what is
  /// said here.
  ///
  /// - Returns: whether it does: listening may be forbidden.
  func announceNeighbours(_ gateways: [KernelFilter.Gateway]) -> Bool {
    let wasListening = !self.gateways.isEmpty
    self.gateways = gateways
    // The filter comes before what it is to hold up, and goes after it.
    if gateways.isEmpty, wasListening { socket.leave(.neighbour) }
    applyFilter()
    if gateways.isEmpty || wasListening { return true }
    do {
      try socket.join(.neighbour)
      return true
    } catch {
      self.gateways = []
      return false
    }
  }

  private func applyFilter() {
    let isUnlimited = destinations == nil && gateways.isEmpty
    let new = isUnlimited ? nil : KernelFilter(destinations: destinations, gateways: gateways)
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

  /// How reading ended.
  enum End {
    /// Everything that waited was read.
    case empty
    /// Everything was read, but some announcements had been lost.
    case incomplete
    /// So much waits that others have to have their turn; call again soon.
    case moreWaits
    /// The system does not let the socket be read, or somebody has closed it.
    case unreadable
  }

  /// Hands over the messages that wait, up to a limit.
  func read(_ body: (NetlinkMessage, RawSpan) -> Void) -> End {
    // What has the number of a socket that somebody closed is not read.
    guard socket.isOpen else { return .unreadable }
    var isIncomplete = wasIncomplete
    wasIncomplete = false
    for _ in 0..<Self.datagramLimit {
      do {
        switch try socket.receive(into: buffer) {
        case .empty: return isIncomplete ? .incomplete : .empty
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
        return .unreadable
      }
    }
    // Should some have been lost among these, the next one to read is told of it: reported here, the rest would wait.
    wasIncomplete = wasIncomplete || isIncomplete
    return .moreWaits
  }
}
#endif
