// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Links found by their names, on messages made by hand, in an order that no test can force a kernel to send.
struct LinkTableTests {
  @Test func linksAreFoundByEveryNameTheyHave() throws {
    var network = BuiltNetwork()
    let long = String(repeating: "n", count: 127)
    try network.add(.init(index: 3, name: "eth0", alternativeNames: ["enp1s0", long]))
    for name in ["eth0", "enp1s0", long, "3"] { #expect(network.index(named: name) == 3, "\(name)") }
    for name in ["", "eth1", long + "n", "4"] { #expect(network.index(named: name) == nil, "\(name)") }
  }

  @Test func namesGoWithTheirLink() throws {
    var network = BuiltNetwork()
    try network.add(.init(index: 3, name: "eth0", alternativeNames: ["uplink"]))
    _ = network.links.remove(3)
    for name in ["eth0", "uplink", "3"] { #expect(network.index(named: name) == nil, "\(name)") }
  }

  @Test func aNameThatAnotherLinkHasTakenIsThatLinks() throws {
    var network = BuiltNetwork()
    try network.add(.init(index: 3, name: "eth0", alternativeNames: ["uplink"]))
    try network.add(.init(index: 4, name: "eth1", alternativeNames: ["uplink"]))
    // The message in which the first link gives the name up comes late, as after the tables were read.
    try network.add(.init(index: 3, name: "eth0"))
    #expect(network.index(named: "uplink") == 4)
    #expect(network.index(named: "eth0") == 3)
  }

  @Test func alternativeNamesAreAChangeAlsoOfALinkThatCarriesNothing() throws {
    var network = BuiltNetwork()
    #expect(try network.add(.init(flags: 0x1002, state: .down)) == .idle)
    #expect(try network.add(.init(flags: 0x1002, state: .down)) == .nothing)
    #expect(try network.add(.init(flags: 0x1002, state: .down, alternativeNames: ["uplink"])) == .everything)
    #expect(try network.add(.init(flags: 0x1002, state: .down, alternativeNames: ["uplink"])) == .nothing)
    #expect(try network.add(.init(flags: 0x1002, state: .down)) == .everything)
  }
}
