// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 18 to 26 of Scenarios.md (17 is in ``TunnelTests``): what becomes of addresses.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct AddressTests {
  /// v0 with 2001:db8::1/64, v1 and an IPv6 default.
  private func makeB6(_ lab: NetworkLab, address: Bool = true) throws {
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    if address { try lab.addAddress("2001:db8::1/64", "v0") }
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0", onLink: true)
  }

  @Test("18: an IPv6 address without IFA_LOCAL is the one of IFA_ADDRESS")
  func addressWithoutLocal() async throws {
    let lab = try NetworkLab()
    try makeB6(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8::2"))
    #expect(internet.last?.source == IPAddress("2001:db8::1"))
    let pair = try await monitors.record(.address(address("2001:db8::9"), from: address("2001:db8::1")))
    try await monitors.expect(pair, lab.reachable("v0", flags: .isDirect))
  }

  @Test("19: only a lifetime is changed: no event", arguments: ["10.0.0.1/24", "2001:db8::1/64"])
  func lifetimeChanged(address: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let six = try await monitors.record { $0.family = .ipv6 }
    for lifetime in [3000, 2000, UInt32.max] {
      try lab.address(.change, address, "v0", valid: lifetime, preferred: lifetime)
    }
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"))
    try await monitors.expect(six, lab.reachable("v0", via: "2001:db8::2"))
  }

  @Test("20: preferred_lft 0, again and again: no event, for the address is still the only one")
  func deprecatedRepeatedly() async throws {
    let lab = try NetworkLab()
    try makeB6(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    for lifetime in UInt32(1000)..<1010 {
      try lab.address(.change, "2001:db8::1/64", "v0", valid: lifetime, preferred: 0)
    }
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8::2"))
    #expect(internet.last?.source == IPAddress("2001:db8::1"))
  }

  @Test("21: a temporary address rotates: another source, no event")
  func temporaryAddressRotates() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/use_tempaddr", 2)
    try lab.sysctl("ipv6/conf/default/accept_dad", 0)
    try makeB6(lab, address: false)
    let managing: LabAddressFlags = [.noDAD, .managesTemporary]
    try lab.addAddress("2001:db8::1/64", "v0", flags: managing, valid: 5000, preferred: 4000)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    // The kernel makes the temporary address after it has answered the request.
    try await eventually(within: .patience, "there is a temporary address") {
      internet.monitor.current.source.map { $0 != IPAddress("2001:db8::1") } ?? false
    }
    let first = internet.monitor.current.source
    // Without the flag the temporary address is withdrawn. With the flag again, another one is made.
    try lab.address(.change, "2001:db8::1/64", "v0", flags: .noDAD, valid: 5000, preferred: 4000)
    try await eventually(within: .patience, "the temporary address is gone") {
      internet.monitor.current.source == IPAddress("2001:db8::1")
    }
    try lab.address(.change, "2001:db8::1/64", "v0", flags: managing, valid: 5000, preferred: 4000)
    try await eventually(within: .patience, "there is a new one") {
      internet.monitor.current.source.map { $0 != IPAddress("2001:db8::1") } ?? false
    }
    #expect(internet.monitor.current.source != first)
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8::2"))
  }

  @Test("22: one of two IPv6 addresses is deleted: no event", arguments: ["2001:db8::1/64", "2001:db8::a/64"])
  func oneOfTwoDeleted(address: String) async throws {
    let lab = try NetworkLab()
    try makeB6(lab)
    try lab.addAddress("2001:db8::a/64", "v0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteAddress(address, "v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "2001:db8::2"))
    let remaining = address == "2001:db8::1/64" ? "2001:db8::a" : "2001:db8::1"
    #expect(internet.monitor.current.source == IPAddress(remaining))
  }

  @Test("23: an IPv4 address deleted and added again: unreachable until the default is added, too")
  func ipv4AddressReturns() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let without = try lab.unreachable(.noRoute)
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try await monitors.expect(internet, v0, without)
    try lab.addAddress("10.0.0.1/24", "v0")
    try await monitors.expect(internet, v0, without)
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await monitors.expect(internet, v0, without, v0)
  }

  @Test("23: an IPv6 address deleted and added again: the route stayed")
  func ipv6AddressReturns() async throws {
    let lab = try NetworkLab()
    try makeB6(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "2001:db8::2")
    let without = try lab.unreachable(.noAddress, "v0")
    try lab.deleteAddress("2001:db8::1/64", "v0")
    try await monitors.expect(internet, v0, without)
    try lab.addAddress("2001:db8::1/64", "v0")
    try await monitors.expect(internet, v0, without, v0)
  }

  @Test("24: an IPv6 address is of no use until it leaves tentative")
  func tentativeAddress() async throws {
    let lab = try NetworkLab()
    try makeB6(lab, address: false)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let without = try lab.unreachable(.noAddress, "v0")
    try await monitors.expect(internet, without)
    try lab.addAddress("2001:db8::1/64", "v0", flags: [])
    // Duplicate address detection takes a second or more.
    let known = try lab.run { LinuxNetwork().interfaces().first { $0.interface.name == "v0" }?.addresses ?? [] }
    #expect(known.contains { $0.address == IPAddress("2001:db8::1") })
    try await monitors.settle()
    let state = internet.last
    // On a slow machine it may be over by now. If it is not over yet, it was not when the state was read.
    if NetworkLab.hasIPRoute2, try lab.ip("-6 address show dev v0 tentative").output.contains("2001:db8::1/64") {
      #expect(state ≈ without)
    }
    try await internet.wait("the address is usable") { $0.isReachable }
    try await monitors.expect(internet, without, lab.reachable("v0", via: "2001:db8::2"))
  }

  @Test("25: fe80::1 on two links: deleted on one, kept on the other")
  func sameLinkLocalAddressOnTwoLinks() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)  // the kernel makes no link-local addresses
    for (name, peer) in [("v0", "v1"), ("w0", "w1")] {
      try lab.addVeth(name, peer)
      try lab.up(name, peer)
      try lab.addAddress("fe80::1/64", name)
    }
    let monitors = try LabMonitors(lab)
    let over0 = try await monitors.record(.address("fe80::2%v0"))
    let over1 = try await monitors.record(.address("fe80::2%w0"))
    let v0 = try lab.reachable("v0", flags: .isDirect)
    let w0 = try lab.reachable("w0", flags: .isDirect)
    try lab.deleteAddress("fe80::1/64", "v0")
    try await over0.wait("not over v0") { !$0.isReachable }
    try await monitors.settle()
    #expect(over0.states.count == 2)
    #expect(over0.states.first ≈ v0)
    try await monitors.expect(over1, w0)
    #expect(over1.last?.source == IPAddress("fe80::1"))
  }

  @Test("26: IPv6 switched off: IPv4 goes on, and IPv6 has no route", arguments: [false, true])
  func withoutIPv6(fromTheBeginning: Bool) async throws {
    let lab = try NetworkLab()
    if fromTheBeginning { try lab.sysctl("ipv6/conf/all/disable_ipv6", 1) }
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    if !fromTheBeginning {
      try lab.addAddress("2001:db8::1/64", "v0")
      try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    }
    let internet = try await monitors.record()
    let six = try await monitors.record { $0.family = .ipv6 }
    if !fromTheBeginning {
      try lab.sysctl("ipv6/conf/all/disable_ipv6", 1)
      try await monitors.expect(six, lab.reachable("v0", via: "2001:db8::2"), lab.unreachable(.noRoute))
    } else {
      try await monitors.expect(six, lab.unreachable(.noRoute))
    }
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"))
  }
}
#endif
