// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

/// The reference itself: what a socket finds in a lab.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)))
struct ConnectTests {
  @Test func aConnectionSaysWhereItsPacketsGo() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    let plain = try lab.connect(LabConnection(to: "198.51.100.7"))
    #expect(plain.isSent)
    #expect((plain.source, plain.link, plain.gateway) == ("10.0.0.1", "v0", "10.0.0.2"))
    var bound = LabConnection(to: "198.51.100.7")
    bound.interface = "w0"
    let over = try lab.connect(bound)
    #expect((over.source, over.link, over.gateway) == ("10.1.0.1", "w0", "10.1.0.2"))
    var foreign = LabConnection(to: "198.51.100.7")
    foreign.source = "10.7.7.7"
    #expect(try lab.connect(foreign).error == EADDRNOTAVAIL)
    #expect(try lab.connect(LabConnection(to: "2001:db8::1")).error == ENETUNREACH)
    #expect(try lab.connect(LabConnection(to: "127.0.0.1")).isSent)
  }

  @Test func aConnectionHasItsProtocolAndMark() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addRule(priority: 100, .prohibit, mark: 7)
    #expect(try lab.ip("rule add pref 90 ipproto udp dport 53 prohibit").status == 0)
    var marked = LabConnection(to: "198.51.100.7")
    marked.mark = 7
    #expect(try lab.connect(marked).error == EACCES)
    var query = LabConnection(to: "198.51.100.7", port: 53)
    #expect(try lab.connect(query).isSent)
    query.transport = .udp
    #expect(try lab.connect(query).error == EACCES)
  }
}
#endif
