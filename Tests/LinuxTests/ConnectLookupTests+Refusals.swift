// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import Testing

/// Why a socket finds no way, and what does not stop it.
extension ConnectLookupTests {
  /// Without a port no rule by port is met; nor is one by the port that a question to connect(2) would have to take.
  @Test func withoutAPortNoRuleByPortIsMet() async throws {
    let lab = try makeLab()
    try ip(
      lab, "-6 route add default from 2001:db8:a::/64 via 2001:db8:a::2 dev v0",
      "-6 rule add pref 50 dport 1-100 prohibit")
    #expect(try await agree(lab, Self.six).isSent)
    #expect(try await agree(lab, Self.six, over: "v0").isSent)
    var port9 = LabConnection(to: Self.six, port: 9)
    port9.transport = .tcp
    #expect(try lab.connect(port9).error == EACCES && state(lab, port9).isUnreachable(.prohibited))
  }

  @Test(
    "what refuses packets from a source is told, also if only a local route makes the source this machine's",
    arguments: [
      ("rule add pref 10 from 192.0.2.0/24 prohibit", EACCES, .prohibited),
      ("route add unreachable \(four)", EHOSTUNREACH, .unreachableRoute),
      ("route add blackhole \(four)", EINVAL, .blackhole),
    ] as [(String, CInt, Reachability.Reason)])
  func aSourceByALocalRouteIsRefused(command: String, errno: CInt, reason: Reachability.Reason) async throws {
    let lab = try makeLab()
    try ip(lab, "route add local 192.0.2.0/24 dev lo", command)
    #expect(try await agree(lab, Self.four, from: "192.0.2.5").error == errno)
    var connection = LabConnection(to: Self.four)
    connection.source = "192.0.2.5"
    #expect(try state(lab, connection).isUnreachable(reason))
  }

  /// With an interface, IPv4 looks at whether that is up, also for this machine's own addresses.
  @Test func anOwnAddressOverALinkWithoutACarrierThatIsSwitchedOff() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0")
    try lab.addAddress("10.0.0.1/24", "v0")
    var connection = LabConnection(to: "10.0.0.1")
    connection.interface = "v0"
    let monitors = try LabMonitors(lab)
    let own = try await monitors.record(.address("10.0.0.1")) { $0.interface = "v0" }
    #expect(try lab.connect(connection).isSent && own.last?.isReachable == true)
    try ip(lab, "link set v0 down")
    #expect(try lab.connect(connection).error == ENETUNREACH)
    try await own.wait("unreachable") { !$0.isReachable }
  }
}
#endif
