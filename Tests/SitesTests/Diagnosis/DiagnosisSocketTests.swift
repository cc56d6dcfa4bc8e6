// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import SiteLab
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What sockets of a diagnosis do with this machine itself, which answers without delay.
struct DiagnosisSocketTests {
  /// The loopback network has more addresses than are tried.
  static let own = (1...8).map { IPAddress(ipv4: 0x7F00_0000 + $0) }
  static let loopback = own[0]
  static let second: Int64 = 1_000_000_000

  static func patience(_ rest: Int64 = 3_600 * second) -> Patience {
    Patience(until: TimeSource.system.now() + rest)
  }

  /// A port that is taken and does not listen, as another connection goes out by it (RFC 9293, 3.10.7.1).
  struct ClosedPort {
    let deaf: DeafListener
    let socket: ProbeSocket
    let number: UInt16

    init() throws {
      deaf = try DeafListener()
      socket = ProbeSocket(own[0], port: UInt16(deaf.port), isStream: true, interface: nil)
      number = try #require(socket.flow).endpoints.sourcePort
    }
  }

  /// RFC 863; IANA (RFC 1700, the usual time to live); RFC 6298, 2: a first segment is sent again after 1, 3 and 7 s.
  @Test func numbersAreThoseOfTheStandards() {
    #expect(DatagramProbe.discardPort == 9 && HopTrace.sitePort == 443 && HopTrace.hops == [2, 3, 64])
    #expect((3_001..<7_000).contains(Connector.silence))
  }

  /// Linux, net/ipv4/route.c: a packet that a route refuses costs a second (ip_rt_error_cost), and icmp(7): so does the
  /// message about it (icmp_ratelimit). Whoever sends nothing for that long is told.
  @Test func theLastQuestionComesAfterAPause() {
    let resends = NameRound.pausing.resends
    #expect(resends[2] - resends[1] > 2_000 && NameRound.pausing.end > resends[2])
  }

  // MARK: Options

  /// ipv6(7), RFC 4007: a link-local address without its link leads nowhere. TCP takes no port for it.
  @Test(arguments: [true, false])
  func aLinkLocalAddressNeedsItsLink(isStream: Bool) throws {
    let address = try #require(IPAddress("fe80::1"))
    let socket = ProbeSocket(address, port: 9, isStream: isStream, interface: nil)
    guard socket.descriptor >= 0 else { return }
    #expect(socket.start == EINVAL && !socket.isConnected && (!isStream || socket.flow == nil))
  }

  // MARK: Times

  /// poll(2): a wait is never shorter than was said.
  @Test func aWaitIsNotCutShort() {
    let patience = Self.patience()
    for _ in 0..<3 {
      let deadline = TimeSource.system.now() + 3_000_000
      #expect(patience.wait([], until: deadline)?.isEmpty == true && TimeSource.system.now() >= deadline)
    }
  }

  /// A clock is told in whole seconds that have passed; adjtimex(2) tells anybody whether something keeps it right.
  @Test func aClockIsReadAsItIs() {
    let time = TimeSource(passes: false, realtime: { 1_700_000_000_999_999_999 }, now: { 0 })
    let clock = SiteFinding.Clock.read(time)
    #expect(clock.now == 1_700_000_000 && clock.lastChange ?? 0 > 0 && clock.isKept != nil)
  }
}
#endif
