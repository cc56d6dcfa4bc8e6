// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import MessageBuilding
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenario 40 of Scenarios.md: messages that another process sends to the socket of announcements.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ForeignMessageTests {
  /// The port of the socket, which is its address.
  private func port(of descriptor: CInt) throws -> UInt32 {
    var address = sockaddr_nl()
    var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
    // The pointer is to a whole sockaddr_nl, whose size is given.
    let result = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    try #require(result == 0)
    return address.nl_pid
  }

  /// A message as the kernel sends it if the link has been deleted.
  private func linkDeleted(_ index: UInt32, name: String, from port: UInt32) -> [UInt8] {
    var builder = NetlinkRequestBuilder()
    builder.begin(.deleteLink, [])
    builder.appendLinkHeader(index: index)
    builder.append(LinkMessage.Attribute.name, string: name)
    builder.append(LinkMessage.Attribute.operationalState, OperationalState.down.rawValue)
    builder.end()
    var bytes = builder.bytes
    // The header's nlmsg_pid, which any sender may write: 0 is the kernel's.
    unsafe withUnsafeBytes(of: port) { unsafe bytes.replaceSubrange(12..<16, with: $0) }
    return bytes
  }

  @Test("40: forged datagrams are dropped and counted")
  func forged() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let port = try port(of: try #require(probe.counts.descriptors.first))
    #expect(port != 0)
    let index = UInt32(try lab.index(of: "v0"))
    for sender: UInt32 in [0, 0, port] { try lab.sendForged(linkDeleted(index, name: "v0", from: sender), to: port) }
    try lab.sendForged([UInt8](repeating: 0xFF, count: 40), to: port)
    try await eventually(within: .patience, "four are counted") { probe.counts.foreign == 4 }
    try await monitors.expect(internet, v0)
    // The kernel's own message is believed.
    try lab.down("v0")
    try await monitors.expect(internet, v0, lab.unreachable(.linkDown, "v0"))
    #expect(probe.counts.foreign == 4)
  }

  @Test("40: the same message would have been believed of the kernel")
  func forgedMessageIsWellFormed() throws {
    let bytes = linkDeleted(5, name: "v0", from: 0)
    // Bytes have no padding between them.
    let span = unsafe bytes.span.bytes
    var cursor = NetlinkMessageCursor(count: bytes.count)
    let next = try cursor.next(in: span)
    let message = try #require(next)
    let link = LinkMessage(message, in: span)
    #expect(link?.index == 5 && message.type == .deleteLink && link?.isSnapshot == true)
  }
}
#endif
