// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Link-local targets, which need a zone.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ZoneTests {
  /// v0 and w0, each with a link-local address.
  private func makeLinks(_ lab: NetworkLab) throws {
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    for (name, peer, address) in [("v0", "v1", "fe80::1/64"), ("w0", "w1", "fe80::2/64")] {
      try lab.addVeth(name, peer)
      try lab.up(name, peer)
      try lab.addAddress(address, name)
    }
  }

  @Test("a zone is the interface that the target is asked for over")
  func aZoneIsTheInterface() async throws {
    let lab = try NetworkLab()
    try makeLinks(lab)
    let monitors = try LabMonitors(lab)
    let over0 = try await monitors.record(.address("fe80::9%v0"))
    let over1 = try await monitors.record(.address("fe80::9%w0"))
    let byIndex = try await monitors.record(.address("fe80::9%\(lab.index(of: "w0"))"))
    let v0 = try lab.reachable("v0", flags: .isDirect)
    let w0 = try lab.reachable("w0", flags: .isDirect)
    try lab.down("w0")
    try await monitors.expect(over0, v0)
    try await monitors.expect(over1, w0, lab.unreachable(.linkDown, "w0"))
    try await monitors.expect(byIndex, w0, lab.unreachable(.linkDown, "w0"))
    #expect(over0.last?.source == IPAddress("fe80::1"))
  }

  @Test("a link-local address needs a zone or an interface")
  func aLinkLocalAddressNeedsAZoneOrAnInterface() async throws {
    let lab = try NetworkLab()
    try makeLinks(lab)
    let monitors = try LabMonitors(lab)
    let plain = try await monitors.record(.address("fe80::9"))
    let bound = try await monitors.record(.address("fe80::9")) { $0.interface = "w0" }
    let multicast = try await monitors.record(.address("ff02::1"))
    try await monitors.expect(plain, lab.unreachable(.noInterface))
    try await monitors.expect(multicast, lab.unreachable(.noInterface))
    try await monitors.expect(bound, lab.reachable("w0", flags: .isDirect))
  }

  @Test("a zone that does not exist yet never reaches the kernel as index 0")
  func aMissingZoneIsNoIndexZero() async throws {
    let lab = try NetworkLab()
    try makeLinks(lab)
    let monitors = try LabMonitors(lab)
    let target = try await monitors.record(.address("fe80::9%x0"))
    let none = try lab.unreachable(.noInterface)
    try await monitors.expect(target, none)
    try lab.addVeth("x0", "x1")
    try lab.up("x0", "x1")
    try lab.addAddress("fe80::3/64", "x0")
    let x0 = try lab.reachable("x0", flags: .isDirect)
    try await target.wait("over x0") { $0 ≈ x0 }
    try lab.deleteLink("x0")
    try await target.wait("gone") { $0 ≈ none }
  }

  @Test("a zone and an interface that contradict each other are no interface")
  func aContradictionOfZoneAndInterfaceIsNoInterface() async throws {
    let lab = try NetworkLab()
    try makeLinks(lab)
    let monitors = try LabMonitors(lab)
    let same = try await monitors.record(.address("fe80::9%v0")) { $0.interface = "v0" }
    let other = try await monitors.record(.address("fe80::9%v0")) { $0.interface = "w0" }
    try await monitors.expect(same, lab.reachable("v0", flags: .isDirect))
    try await monitors.expect(other, lab.unreachable(.noInterface))
  }

  @Test("169.254 over the default's gateway is a neighbour on a wired link")
  func anIPv4LinkLocalAddressIsANeighbour() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let target = try await monitors.record(.address("169.254.7.7"))
    try await monitors.expect(target, lab.reachable("v0", flags: .isDirect))
  }

  @Test("multicast and broadcast go to the link itself, though the kernel names a gateway")
  func multicastAndBroadcastGoToTheLink() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let direct = try lab.reachable("v0", flags: .isDirect)
    for text in ["224.0.0.251", "239.1.2.3", "255.255.255.255", "10.0.0.255"] {
      let target = try await monitors.record(.address(text))
      try await monitors.expect(target, direct)
    }
    for text in ["ff02::fb%v0", "ff12::fb%v0", "ff32::8000:1%v0", "ff11::1%v0"] {
      let group = try await monitors.record(.address(text))
      // The source is the kernel's own link-local address, which is tentative for a second or two.
      try await group.wait(text) { $0 ≈ direct }
    }
  }

  /// Nothing is sent: connecting a datagram socket only sets its destination.
  @Test("a group needs a zone if connect(2) needs one")
  func aGroupNeedsAZoneIfConnectDoes() async throws {
    let lab = try NetworkLab()
    try makeLinks(lab)
    let groups = (0...0xFF).map { "ff" + ($0 < 0x10 ? "0" : "") + String($0, radix: 16) + "::1" }
    let refused = try lab.run {
      try groups.filter { text in
        var group = sockaddr_in6()
        group.sin6_family = sa_family_t(AF_INET6)
        group.sin6_port = UInt16(9).bigEndian
        guard unsafe inet_pton(AF_INET6, text, &group.sin6_addr) == 1 else { throw LabError("\(text) is no address") }
        let descriptor = socket(AF_INET6, CInt(SOCK_DGRAM.rawValue), 0)
        if descriptor < 0 { throw LabError("socket: errno \(csystem_errno())") }
        defer { close(descriptor) }
        let result = unsafe withUnsafePointer(to: group) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
          }
        }
        // There may be no route (ENETUNREACH), but that does not matter here.
        return result != 0 && csystem_errno() == EINVAL
      }
    }
    #expect(refused.count == 32)
    #expect(try refused == groups.filter { try address($0).isLinkLocal })
  }
}
#endif
