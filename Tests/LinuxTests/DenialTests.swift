// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 42 and 43 of Scenarios.md: what a sandbox refuses.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct DenialTests {
  private static let denied = Reachability(status: .undetermined, reason: .denied)

  @Test(
    "42: netlink sockets are refused: undetermined, said once, asked again every 5 s",
    arguments: [EPERM, EAFNOSUPPORT])
  func socketsRefused(code: CInt) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deny(.netlinkSockets(code))
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let monitors = try clock.monitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork)
    let host = try await monitors.record(.host("192.0.2.1"))
    for recording in [internet, local, host] { try await monitors.expect(recording, Self.denied) }
    clock.advance(by: .seconds(4), monitors.environment)
    try await monitors.settle()
    #expect(probe.counts.polls == 0)
    clock.advance(by: .seconds(60), monitors.environment)
    try await eventually(within: .patience, "asked again") { probe.counts.polls > 0 }
    for recording in [internet, local, host] { try await monitors.expect(recording, Self.denied) }
  }

  @Test("46: no instance of inotify is left: the configuration of names is read every 5 s")
  func inotifyRefused() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addRoute("10.7.0.0/16", kind: .unreachable)
    try lab.deny(.inotify())
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 10.0.0.53\n")
    let clock = SteppedClock(isStill: true)
    let monitors = try clock.monitors(
      lab, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root.path) })
    let path = try await monitors.recordPath()
    #expect(path.last?.supportsDNS == true)
    for (server, isReached) in [("10.7.0.53", false), ("10.0.0.53", true)] {
      try root.write("etc/resolv.conf", "nameserver \(server)\n")
      clock.advance(by: .seconds(60), monitors.environment)
      try await path.wait(server) { $0.supportsDNS == isReached }
    }
  }

  @Test("42: no loop: nothing is done between two polls")
  func nothingIsDoneBetweenPolls() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deny(.netlinkSockets())
    let probe = NetworkProbe()
    let monitors = try SteppedClock(isStill: true).monitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let before = probe.counts
    // Changes of the network do not wake the engine.
    for _ in 0..<20 {
      try lab.down("v0")
      try lab.up("v0")
    }
    try await monitors.settle()
    // A turn for the new monitor, one for its end, and some for deliveries; a loop would make thousands.
    #expect(probe.counts.drains - before.drains < 20)
    #expect(probe.counts.polls == 0)
    try await monitors.expect(internet, Self.denied)
  }

  @Test("43: announcements may be joined but not read: in no loop, and after 5 s another socket is tried")
  func announcementsCannotBeRead() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.run {
      let network = LinuxNetwork(try EventPoll())
      let events = try #require(network.descriptors.first)
      // Replaces it by something that recvmmsg(2) refuses.
      let null = unsafe csystem_open("/dev/null", O_RDONLY | O_CLOEXEC)
      #expect(dup2(null, events) == events)
      _ = close(null)
      for _ in 0..<20 {
        var change = NetworkChange()
        network.drain(into: &change)
      }
      // Only the first failure is a change. The next poll is five seconds away or, once, a tenth of a second.
      #expect(network.schedule.rereadCount <= 1)
      // The queries are answered nevertheless.
      let query = RouteQuery(.address(try address("198.41.0.4")))
      network.answer([query]) { _, answer in #expect(answer.isVia("v0")) }
      // The new socket can be read: nothing is polled any more.
      var change = NetworkChange()
      network.poll(into: &change)
      #expect(network.descriptors.count > 1)
      #expect(network.schedule.deadline == .max)
      // The descriptor that has the first one's number is left alone.
      #expect(network.descriptors.first != events)
      #expect(close(events) == 0)
    }
  }

  @Test("42: listing the interfaces is refused with an error")
  func listingRefused() throws {
    let lab = try NetworkLab()
    try lab.deny(.netlinkSockets())
    try lab.run {
      let error = #expect(throws: ReachabilityError.self) { try currentInterfaces() }
      #expect(error?.code == .denied)
    }
  }

  @Test("43: joining groups is refused: the truth by polling, every 5 s")
  func multicastRefused() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    // No announcement will tell the monitor that the kernel has noticed the carrier.
    let query = RouteQuery(.address(try address("198.41.0.4")))
    try await eventually("the route's link has its carrier") {
      try lab.run {
        var isThere = false
        LinuxNetwork().answer([query]) { _, answer in isThere = answer ≈ v0 }
        return isThere
      }
    }
    try lab.deny(.multicast())
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let monitors = try clock.monitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let down = try lab.unreachable(.linkDown, "v0")
    try await monitors.expect(internet, v0)
    try lab.down("v0")
    clock.advance(by: .seconds(4), monitors.environment)
    try await monitors.expect(internet, v0)
    #expect(probe.counts.polls == 0)
    clock.advance(by: .seconds(60), monitors.environment)
    try await monitors.expect(internet, v0, down)
    #expect(probe.counts.polls > 0)
  }
}
#endif
