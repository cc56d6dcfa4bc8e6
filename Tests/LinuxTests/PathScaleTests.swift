// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Paths with hundreds of interfaces, as on a host of containers or a router. The tests run one after another, because
/// they keep the kernel's lock.
@Suite(
  .serialized, .enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PathScaleTests {
  /// Adds `count` veth pairs, switches them on, and gives each near end an address.
  private func addLinks(_ count: Int, to lab: NetworkLab, address: (Int) -> String) throws {
    try lab.addVeths("n", count: count)
    for number in 0..<count {
      try lab.addAddress(address(number), "n\(number)")
      try lab.up("n\(number)", "n\(number)p")
    }
  }

  @Test(
    "500 links with only link-local addresses are neither listed nor asked about, and their changes deliver nothing")
  func linksWithOnlyLinkLocalAddressesAreNotAsked() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try addLinks(500, to: lab) { _ in "fe80::1/64" }
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let path = try await monitors.recordPath()
    let before = probe.counts
    for number in 0..<500 { try lab.setHardwareAddress("n\(number)", "02:00:00:00:01:00") }
    for number in 0..<500 { try lab.down("n\(number)") }
    try await monitors.settle()
    let after = probe.counts
    try await monitors.expect(path, "satisfied 4: v0 4")
    // For each path, two addresses over any link and over v0, and some name servers; and the queries of the targets.
    #expect(after.paths > before.paths)
    #expect((after.answers - before.answers) / max(1, after.paths - before.paths) < 16)
  }

  @Test(
    "500 links that might lead on, 1,000 changes: targets are told at once, paths are asked seldom, and end up right")
  func fiveHundredUplinksDoNotDelayTargets() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try addLinks(500, to: lab) { "100.64.\($0 / 4).\(($0 % 4) * 64 + 1)/26" }
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let path = try await monitors.recordPath()
    #expect(path.last?.interfaces.count == 501)
    #expect(path.last?.interfaces.first?.name == "v0")
    let before = probe.counts
    let start = TimeSource.system.now()
    for round in 1...2 {
      for number in 0..<500 {
        try lab.setHardwareAddress("n\(number)", "02:00:00:00:0\(round):00")
      }
    }
    let seconds = Double(TimeSource.system.now() - start) / 1e9
    let after = probe.counts
    // A path takes 2 × 501 queries of 0.1 ms. It is asked at most twice each time, and twice at the beginning.
    #expect(
      Double(after.paths - before.paths) < 2 * (seconds / 0.1 + 2), "\(after.paths - before.paths) in \(seconds) s")
    try lab.deleteRoute("default")
    try await internet.wait("the target") { $0.isUnreachable(.noRoute) }
    try await path.wait("the path") { $0.status == .unsatisfied }
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try lab.addRoute("default", via: "100.64.1.2", dev: "n4", metric: 5)
    try await path.wait("the path") { $0.interfaces.prefix(2).map(\.name) == ["v0", "n4"] }
    #expect(path.last?.interfaces.map(\.leadsToInternet).filter { $0 }.count == 2)
    try lab.deleteVeths()
    try await path.wait("few again") { $0.outline == "satisfied 4: v0 4" }
    // From then on, changes are seen at once again.
    try lab.deleteRoute("default")
    try await path.wait("unsatisfied") { $0.outline == "no-route: v0" }
  }
}
#endif
