// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The socket whose connect(2) makes IPv6's second lookup sends nothing, whatever state TCP is in.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)))
struct ConnectProbeTests {
  private static let six = "2001:db8:ffff::1"

  /// v0 with both families, and an IPv6 default that only the second lookup finds.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try #require(lab.ip("-6 route add default from 2001:db8:a::/64 via 2001:db8:a::2 dev v0").status == 0)
    try await lab.waitForCarriers()
    return lab
  }

  /// A number of the lab's TCP, by its name in /proc/net.
  private func counter(_ name: String, of file: String, _ lab: NetworkLab) throws -> Int {
    let text = try lab.run { SystemFile.text(at: "/proc/thread-self/net/\(file)") }
    let lines = try #require(text).split(separator: "\n").map { $0.split(separator: " ") }
    // A line of names, then one of values.
    for (names, values) in zip(lines, lines.dropFirst()) where names.first == values.first {
      if let position = names.firstIndex(of: Substring(name)) { return try #require(Int(values[position])) }
    }
    throw LabError("no counter \(name) in \(file)")
  }

  private func lookUp(_ lab: NetworkLab) throws -> Reachability {
    let target = ReachabilityTarget.address(try address(Self.six))
    return try lab.run { Reachability.now(target, environment: .ofItsOwn()) }
  }

  @Test func aLookupSendsNoSegment() async throws {
    let lab = try await makeLab()
    let before = try counter("OutSegs", of: "snmp", lab)
    #expect(try lookUp(lab).isVia("v0"))
    #expect(try counter("OutSegs", of: "snmp", lab) == before)
  }

  @Test("a rule for a port is one for that port alone")
  func aLookupHasThePort() async throws {
    let lab = try await makeLab()
    try #require(lab.ip("-6 rule add pref 50 ipproto tcp dport 443 prohibit").status == 0)
    for (port, error) in [(443, EACCES), (80, 0)] as [(UInt16, CInt)] {
      var connection = LabConnection(to: Self.six, port: port)
      connection.isSilent = true
      #expect(try lab.socket(connection).error == error)
      let target = ReachabilityTarget.address(try address(Self.six), port: port)
      let state = try lab.run { Reachability.now(target, environment: .ofItsOwn()) }
      #expect(state.isReachable == (error == 0), "port \(port): \(state)")
    }
    #expect(try lookUp(lab).isVia("v0"))
  }

  @Test("TCP has given up Fast Open for an hour, since segments were lost")
  func aLookupSendsNoSegmentWithoutFastOpen() async throws {
    let lab = try await makeLab()
    try lab.sysctl("ipv4/tcp_fastopen_blackhole_timeout_sec", 3_600)
    try await loseSegments(lab)
    let before = try counter("OutSegs", of: "snmp", lab)
    #expect(try lookUp(lab).isVia("v0"))
    #expect(try counter("OutSegs", of: "snmp", lab) == before)
    // So it is: the same connect(2) by a program sends.
    var connection = LabConnection(to: Self.six)
    connection.isSilent = true
    #expect(try lab.socket(connection).error == 0)
    #expect(try counter("OutSegs", of: "snmp", lab) > before)
  }

  /// Sends data with Fast Open to somebody who is not there, until TCP concludes that the network loses such segments.
  private func loseSegments(_ lab: NetworkLab) async throws {
    let socket = try lab.run {
      let socket = csystem_stream_socket(AF_INET)
      // After this many milliseconds without an answer, the first timeout is the last (tcp(7), TCP_USER_TIMEOUT).
      let options: [(CInt, CInt)] = [
        (TCP_FASTOPEN_CONNECT, 1), (CInt(CSYSTEM_TCP_FASTOPEN_NO_COOKIE), 1), (TCP_USER_TIMEOUT, 1),
      ]
      // The calls keep no pointer.
      for (option, value) in options {
        var value = value
        let size = socklen_t(MemoryLayout<CInt>.size)
        try #require(unsafe setsockopt(socket, CInt(IPPROTO_TCP), option, &value, size) == 0)
      }
      var server = try #require(address("10.0.0.2").ipv4SocketAddress(port: 80))
      let result = unsafe withUnsafePointer(to: &server) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(result == 0)
      var byte: UInt8 = 0
      _ = unsafe send(socket, &byte, 1, CInt(MSG_DONTWAIT))
      return socket
    }
    try await eventually("TCP has given up Fast Open") { try counter("TCPFastOpenBlackhole", of: "netstat", lab) > 0 }
    close(socket)
  }
}
#endif
