// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 16 and 17 of Scenarios.md: tun devices.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"), .timeLimit(.minutes(5)))
struct TunnelTests {
  @Test("16: a default into a tun device is reachable while a process holds it open")
  func tunHeldOpen() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try await monitors.expect(internet, lab.reachable("tun0", .tunnel, flags: .transientConnection))
  }

  @Test("16: a tun device that is held open is unreachable without an address")
  func tunWithoutAddress() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let without = try lab.unreachable(.noAddress, "tun0", .tunnel)
    try lab.addAddress("10.8.0.2/24", "tun0")
    try await monitors.expect(internet, without, lab.reachable("tun0", .tunnel, flags: .transientConnection))
  }

  @Test("16: a persistent tun device loses its carrier with its reader")
  func persistentTunWithoutReader() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0", persistent: true)
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let held = try lab.reachable("tun0", .tunnel, flags: .transientConnection)
    let lost = try lab.unreachable(.noCarrier, "tun0", .tunnel)
    tun.close()
    try await lab.waitUntilOperating("tun0", false)
    try await monitors.expect(internet, held, lost)
    let again = try lab.addTun("tun0", persistent: true)
    try await lab.waitUntilOperating("tun0", true)
    try await monitors.expect(internet, held, lost, held)
    again.close()
  }

  @Test("16: a tun device that is not persistent goes with its reader")
  func tunGoesWithItsReader() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let held = try lab.reachable("tun0", .tunnel, flags: .transientConnection)
    tun.close()
    let gone = try lab.unreachable(.noRoute)
    try await internet.wait("gone") { $0 ≈ gone }
    try await monitors.expect(internet, held, lab.unreachable(.noRoute))
  }

  @Test("17: the local address of a point-to-point link is ours, not the peer's")
  func pointToPointAddress() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.up("tun0")
    try lab.addAddress("192.0.2.1", "tun0", peer: "192.0.2.2/32")
    let monitors = try LabMonitors(lab)
    let peer = try await monitors.record(.address("192.0.2.2"))
    try await monitors.expect(peer, lab.reachable("tun0", .tunnel, flags: .transientConnection))
    #expect(peer.last?.source == IPAddress("192.0.2.1"))
    let fromOurs = try await monitors.record(.address(address("192.0.2.2"), from: address("192.0.2.1")))
    #expect(fromOurs.last?.isReachable == true)
    let fromTheirs = try await monitors.record(.address(address("192.0.2.2"), from: address("192.0.2.2")))
    #expect(fromTheirs.last ≈ (try lab.unreachable(.noAddress)))
    let listed = try lab.run { LinuxNetwork().interfaces().first { $0.interface.name == "tun0" } }
    #expect(listed?.addresses.map(\.address).filter { $0.family == .ipv4 } == [try address("192.0.2.1")])
  }

  @Test("a tap device is wired")
  func aTapDeviceIsWired() async throws {
    let lab = try NetworkLab()
    let tap = try lab.addTun("tap0", tap: true)
    defer { tap.close() }
    try lab.addAddress("10.8.0.2/24", "tap0")
    try lab.up("tap0")
    try lab.addRoute("default", via: "10.8.0.1", dev: "tap0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try await monitors.expect(internet, lab.reachable("tap0", .wired, via: "10.8.0.1"))
  }
}
#endif
