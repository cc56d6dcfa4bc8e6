// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

/// The socket on which the kernel announces changes.
final class KernelEvents {
  /// The groups that are joined. For each of them there is a change that no other group announces.
  private static let groups: [12 of NetlinkGroup] = [
    .link, .ipv4Address, .ipv6Address, .ipv4Route, .ipv6Route, .ipv4Rule, .ipv6Rule, .ipv4Netconf, .ipv6Netconf,
    .nexthop, .ipv6Prefix, .neighbourDiscoveryOption,
  ]
  /// More than any announcement needs; a longer one is treated as lost.
  private static let slotSize = 32 * 1024
  /// At most twice this many datagrams are read at a time.
  private static let pairLimit = 2048
  /// After this many overruns in a row, with nothing between, the socket is useless: it reports nothing any more. The
  /// kernel reports one once a burst.
  private static let overrunLimit = 16

  private let socket: NetlinkSocket
  private let buffer = NetlinkBuffer(byteCount: 2 * KernelEvents.slotSize)
  private var filter: KernelFilter?
  /// The destinations to which routes are announced; `nil` for all.
  private var destinations: [IPAddressBits]?
  private var gateways: [KernelFilter.Gateway] = []
  /// Whether announcements were lost, and `read` has not reported it yet, since more wait.
  private(set) var wasIncomplete = false

  init() throws(NetlinkError) {
    socket = try NetlinkSocket(.route)
    for position in Self.groups.indices { try socket.join(Self.groups[position]) }
  }

  var descriptor: CInt { socket.descriptor }

  /// Whether nobody else has closed the descriptor.
  var isOpen: Bool { socket.isOpen }

  /// How many datagrams of other processes were dropped.
  var foreignCount: UInt64 { socket.foreignCount }

  /// Has the kernel announce only routes whose prefix contains one of the destinations, and IPv4's local ones if one of
  /// them is of IPv4; or all routes for `nil`.
  func announceRoutes(to destinations: [IPAddressBits]?) {
    self.destinations = destinations
    applyFilter()
  }

  /// Has the kernel announce each of these gateways whose state (failed or not) comes to differ from the one given
  /// here.
  ///
  /// - Returns: Whether it does, since listening may be forbidden.
  func announceNeighbours(_ gateways: [KernelFilter.Gateway]) -> Bool {
    let wasListening = !self.gateways.isEmpty
    self.gateways = gateways
    // The filter is attached before the group is joined, and changed after the group is left.
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
      // There is no memory for the filter, and the one before would let too little through.
      socket.detachFilter()
      filter = nil
    }
  }

  /// How reading ended.
  enum End {
    case empty
    /// Everything was read, but some announcements had been lost.
    case incomplete
    /// More waits than is read at a time: call again soon.
    case moreWaits
    /// The system does not let the socket be read, or somebody has closed it.
    case unreadable
  }

  /// Hands over the messages that wait, up to a limit.
  func read(_ body: (NetlinkMessage, RawSpan) -> Void) -> End {
    // If somebody closed the socket, another file may have its number: it is not read.
    guard socket.isMarkedOpen else { return .unreadable }
    var isIncomplete = wasIncomplete
    wasIncomplete = false
    var overruns = 0
    for _ in 0..<Self.pairLimit {
      do {
        let count = try socket.receive(into: buffer, slots: 2, of: Self.slotSize) { start, found in
          if !handOver(found, from: start, body) { isIncomplete = true }
        }
        guard let count else {
          isIncomplete = true
          overruns += 1
          if overruns == Self.overrunLimit { return .unreadable }
          continue
        }
        overruns = 0
        // Mostly one datagram waits, and it takes no further call to know that.
        if count < 2 { return isIncomplete ? .incomplete : .empty }
      } catch {
        return .unreadable
      }
    }
    // If some of these were lost, the next call reports it. Reported now, the rest would wait.
    wasIncomplete = isIncomplete
    return .moreWaits
  }

  /// Hands over the messages of a datagram. Returns whether none of the kernel's is lost.
  private func handOver(_ reception: NetlinkReception, from start: Int, _ body: (NetlinkMessage, RawSpan) -> Void)
    -> Bool
  {
    switch reception {
    case .empty, .foreign: return true
    case .truncated, .overrun: return false
    case .datagram(let count):
      return buffer.withBytes(start..<start + count) { bytes in
        var cursor = NetlinkMessageCursor(count: count)
        do throws(NetlinkFormatError) {
          while let message = try cursor.next(in: bytes) { body(message, bytes) }
          return true
        } catch {
          return false
        }
      }
    }
  }
}
#endif
