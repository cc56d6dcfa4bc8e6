// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import Testing

@Suite(.enabled(if: LiveKernel.answers, "netlink is refused here"))
struct NetlinkSocketTests {
  private func receiveAll(
    _ socket: inout NetlinkSocket, bufferByteCount: Int = 32 * 1024
  ) throws -> [NetlinkReception] {
    let buffer = NetlinkBuffer(byteCount: bufferByteCount)
    var found: [NetlinkReception] = []
    while found.last != .empty, found.count < 10_000 { found.append(try socket.receive(into: buffer)) }
    return found
  }

  @Test func nothingIsWaitingAtFirst() throws {
    var socket = try NetlinkSocket(.route)
    #expect(try receiveAll(&socket) == [.empty])
  }

  @Test func descriptorIsClosedOnExecAndNeverBlocks() throws {
    let socket = try NetlinkSocket(.generic)
    let flags = try #require(LiveKernel.openFlags(of: socket.descriptor))
    #expect(flags & O_CLOEXEC != 0)
    #expect(flags & O_NONBLOCK != 0)
  }

  @Test func answerTooLongForTheBufferIsReported() throws {
    var socket = try NetlinkSocket(.route)
    var requests = NetlinkRequestBuilder()
    requests.appendGetLink(index: 1)
    try socket.send(requests)
    #expect(try receiveAll(&socket, bufferByteCount: 64) == [.truncated, .empty])
  }

  @Test func overrunIsReportedOnceAndWhatWasKeptFollows() throws {
    // The kernel grants at least SOCK_MIN_RCVBUF, about 2 KiB: room for one or two links.
    var socket = try NetlinkSocket(.route, receiveBuffer: 1)
    var requests = NetlinkRequestBuilder()
    for _ in 0..<64 { requests.appendGetLink(index: 1) }
    try socket.send(requests)
    let found = try receiveAll(&socket)
    #expect(found.count { $0 == .overrun } == 1)
    #expect(found.contains { if case .datagram = $0 { true } else { false } })
    #expect(found.count < 64)
    // Afterwards it still works.
    requests.removeAll()
    requests.appendLinkBarrier()
    try socket.send(requests)
    #expect(try receiveAll(&socket).count == 2)
  }

  @Test(.enabled(if: LiveKernel.mayForge, "needs CAP_NET_ADMIN"))
  func forgedDatagramIsDroppedAndCounted() throws {
    var socket = try NetlinkSocket(.route)
    let forger = try NetlinkSocket(.route)
    // The header claims to come from the kernel.
    #expect(
      LiveKernel.send(
        RecordedMessage.routeDeleted.bytes, from: forger.descriptor, toPort: LiveKernel.port(of: socket.descriptor)))
    #expect(try receiveAll(&socket) == [.foreign, .empty])
    #expect(socket.foreignCount == 1)
  }

  @Test(
    arguments: [
      .link, .neighbour, .ipv4Address, .ipv4Route, .ipv4Rule, .ipv6Address, .ipv6Route, .ipv6Rule,
      .ipv4Netconf, .ipv6Netconf, .nexthop, .ipv6Prefix, .neighbourDiscoveryOption,
    ] as [NetlinkGroup])
  func joinsEveryGroup(group: NetlinkGroup) throws {
    let socket = try NetlinkSocket(.route)
    try socket.join(group)
  }

  @Test func membershipOfAnUnknownGroupIsRefused() throws {
    let socket = try NetlinkSocket(.route)
    var error: NetlinkError?
    do throws(NetlinkError) { try socket.join(NetlinkGroup(rawValue: 0xffff)) } catch let thrown { error = thrown }
    #expect(error?.code == .membershipRefused)
    #expect(error?.description == "cannot join netlink group 65535: Invalid argument (EINVAL)")
  }

  @Test func unknownProtocolIsRefused() {
    let error = #expect(throws: NetlinkError.self) { _ = try NetlinkSocket(NetlinkProtocol(rawValue: 99)) }
    #expect(error?.code == .socketRefused)
    #expect(error?.errno == EPROTONOSUPPORT)
  }

  @Test(arguments: [0, 1, KernelFilter.exactLimit, KernelFilter.exactLimit + 1])
  func kernelAcceptsTheFilter(count: Int) throws {
    let socket = try NetlinkSocket(.route)
    let ipv4s = (0..<count).map { ipv4(198, 51, 100, UInt8($0)) }
    let ipv6s = (0..<count).map { IPAddressBits(ipv6High: 0x2001_0db8_0000_0000, low: UInt64($0)) }
    try socket.attach(KernelFilter(destinations: ipv4s + ipv6s))
    // Replaces the first filter.
    try socket.attach(KernelFilter(destinations: []))
    socket.detachFilter()
  }

  /// The answer to a route query is a route message, too, and the filter judges it. So the kernel's own run of the
  /// program can be compared without changing a route.
  @Test(
    .enabled(if: LiveKernel.routesLoopback, "the loopback link is down here"),
    arguments: [
      ([ipv4(127, 0, 0, 1)], 2), ([ipv4(198, 51, 100, 1)], 1), ([ipv4(127, 0, 0, 2)], 1), ([], 1),
      ([ipv4(198, 51, 100, 1), ipv4(127, 0, 0, 1)], 2), ([IPAddressBits(ipv6High: 0, low: 0x7f00_0001)], 1),
      ((0...UInt8(KernelFilter.exactLimit)).map { ipv4(198, 51, 100, $0) }, 2),
    ] as [([IPAddressBits], Int)])
  func kernelRunsTheFilterAsMeant(destinations: [IPAddressBits], expected: Int) throws {
    var socket = try NetlinkSocket(.route)
    try socket.attach(KernelFilter(destinations: destinations))
    var requests = NetlinkRequestBuilder()
    requests.appendRouteQuery(destination: ipv4(127, 0, 0, 1), fibMatch: false)
    requests.appendLinkBarrier()
    try socket.send(requests)
    // The filter always passes the barrier's answer.
    #expect(try receiveAll(&socket).count == expected + 1)
  }

  @Test(arguments: [(IPAddressBits(ipv6High: 0, low: 1), 2), (IPAddressBits(ipv6High: 0, low: 2), 1)])
  func kernelRunsTheIPv6FilterAsMeant(destination: IPAddressBits, expected: Int) throws {
    var socket = try NetlinkSocket(.route)
    try socket.attach(KernelFilter(destinations: [destination]))
    var requests = NetlinkRequestBuilder()
    requests.appendRouteQuery(destination: IPAddressBits(ipv6High: 0, low: 1), fibMatch: false)
    requests.appendLinkBarrier()
    try socket.send(requests)
    let found = try receiveAll(&socket).count
    // Without IPv6 the query is answered with an error, which the filter always passes.
    #expect(found == expected + 1 || found == 3)
  }

  @Test func releasingTheSocketClosesItsDescriptor() async {
    await #expect(processExitsWith: .success) {
      let first = try NetlinkSocket(.route).descriptor
      for _ in 0..<200 {
        let socket = try NetlinkSocket(.route)
        _ = try NetlinkClient()
        try socket.join(.link)
      }
      // The kernel uses the lowest free number, so 200 leaks would push it far up. (Other threads may hold a few.)
      if try NetlinkSocket(.route).descriptor > first + 100 { exit(1) }
    }
  }
}
#endif
